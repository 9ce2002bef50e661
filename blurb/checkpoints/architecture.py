"""The size of an encoder, and checks of its configuration and architecture: some load and cannot be fine-tuned."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from blurb.checkpoints.reading import errors_alone, read_json, shorten_value
from blurb.fields import Field
from blurb.inputs.features import Features
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import BlurbError, ErrorCollector, ModelError, SettingsError, opt


@dataclass(frozen=True)
class EncoderSize:
    """Sizes of an encoder of any architecture.

    :param layers: number of layers, 0 if the configuration does not say
    :param hidden: size of a hidden vector, 0 if the configuration does not say
    :param most: maximum sub-tokens of an input, None if unlimited
    """

    layers: int
    hidden: int
    most: int | None


def size_of(model: Any) -> EncoderSize:
    """The size of an encoder; its weights need not be loaded."""
    layers, hidden = (
        getattr(_text_part(model), name, None) for name in ("num_hidden_layers", "hidden_size")
    )
    return EncoderSize(
        layers=layers if isinstance(layers, int) else 0,
        hidden=hidden if isinstance(hidden, int) else 0,
        most=longest_input(model),
    )


def _text_part(model: Any) -> Any:
    """The configuration of an encoder; only its text part if the encoder also reads pictures."""
    return getattr(model.config, "text_config", None) or model.config


def longest_input(encoder: Any) -> int | None:
    """The maximum number of sub-tokens of an encoder; None if relative positions set no limit."""
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if table is not None and hasattr(table, "num_embeddings"):
        padding = table.padding_idx  # RoBERTa counts positions from padding_idx + 1
        return int(table.num_embeddings) - (0 if padding is None else padding + 1)
    limit = getattr(_text_part(encoder), "max_position_embeddings", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


def enlarge_embeddings(encoder: Any, size: int) -> None:
    """Makes room in the embedding table for the tokens that a formulation adds."""
    if size > encoder.get_input_embeddings().num_embeddings:
        with errors_alone():
            encoder.resize_token_embeddings(size)


COMMON = ("the", "of", "and", "in", "with")
"""Words that every English text has."""
SENTENCES = "sentence_bert_config.json"
"""What sentence-transformers does with a text before the tokenizer, which transformers does not read."""
TEXT_TASKS = (
    "MASKED_LM",
    "CAUSAL_LM",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "TOKEN_CLASSIFICATION",
    "SEQUENCE_CLASSIFICATION",
    "QUESTION_ANSWERING",
    "TEXT_ENCODING",
)
"""Tasks of transformers that read text and nothing else."""
WITHOUT = {"embedding_gemma2": ("vision_config", "audio_config")}
"""Types that read not only text -> parts of the configuration to remove, so that they do."""
PLACES = 9
"""Sub-tokens of the input that shows whether an encoder keeps the length."""


def check_type(folder: Path, config: Mapping[str, Any]) -> None:
    """Raises a ModelError if transformers has no text model of the type in config.json.

    Models of pictures and sound build other models in ways not needed here, and some have loaded code that way. Types
    unknown to transformers are left to it.
    """
    kind = config.get("model_type")
    if kind is None and "auto_map" not in config:
        raise ModelError(
            "config.json has no model_type, so nothing says what the weights are of",
            where=folder,
            fix=f'add "model_type": "{_type_of(config.get("architectures")) or FREQUENT}" to it.',
        )
    if isinstance(kind, str) and kind in _other_types():
        raise ModelError(
            f"config.json: '{kind}' is not a text-only model: it reads pictures or sound instead of sub-tokens",
            where=folder,
            fix="choose an encoder of text with a vocabulary, such as BERT, RoBERTa or DeBERTa.",
        )


FREQUENT = "bert (or roberta, electra, deberta-v2, ...)"


def _type_of(architectures: Any) -> str:
    """The type of the class that config.json names (`BertForMaskedLM` is of bert); "" if its name tells none."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    given = architectures[0] if isinstance(architectures, list) and architectures else ""
    fitting = [
        (len(name), kind)
        for kind, cls in CONFIG_MAPPING_NAMES.items()
        if isinstance(given, str) and given.startswith(name := cls.removesuffix("Config"))
    ]
    return max(fitting, default=(0, ""))[1]


@cache
def _other_types() -> frozenset[str]:
    """Types for which transformers has no class for a text task, except the text parts of other types."""
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    of_tasks = {
        kind
        for task in TEXT_TASKS
        for kind in getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES", {})
    }
    parts = {kind for kind in CONFIG_MAPPING_NAMES if kind.endswith(("_text", "_text_model"))}
    return (
        frozenset(CONFIG_MAPPING_NAMES) - of_tasks - parts - {"dpr", "t5gemma2_encoder", *WITHOUT}
    )


def check_embeddings(folder: Path, model: Any) -> None:
    """Raises a ModelError if a model has no table with a vector for each entry of a vocabulary."""
    try:
        suits = hasattr(model.get_input_embeddings(), "num_embeddings")
    except (NotImplementedError, AttributeError):
        suits = False
    if not suits:
        raise ModelError(
            f"{type(model).__name__} has no table of token embeddings, so it does not read sub-tokens but "
            "pictures, sound, or characters (CANINE)",
            where=folder,
            fix="choose an encoder of text with a vocabulary, such as BERT, RoBERTa or DeBERTa.",
        )


def check_rows(folder: Path, tokenizer: Tokenizer, model: Any) -> None:
    """Raises a ModelError if a tokenizer has ids for which the embedding table of an encoder has no row."""
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        entries = len(tokenizer.inner)
        has = f"{entries} entries" if entries > rows else f"an entry with id {tokenizer.size - 1}"
        raise ModelError(
            f"the tokenizer has {has}, but the encoder has only {rows} embeddings; they do not match.",
            where=folder,
            fix=f"Save the tokenizer of these weights with save_pretrained, or name it with {opt('tokenizer')}.",
        )


def check_segments(model: Any, features: Features) -> None:
    """Raises a ModelError if inputs have segment ids that an encoder has no vector for."""
    if features.token_type_ids is None or not features.token_type_ids.values.size:
        return
    most = int(features.token_type_ids.values.max())
    for name, module in model.named_modules():
        entries = getattr(module, "num_embeddings", None)
        if name.endswith("token_type_embeddings") and isinstance(entries, int) and most >= entries:
            raise ModelError(
                f"The tokenizer gives the texts of a pair the segment ids 0 to {most}, but the encoder's table of "
                f"segments (type_vocab_size) has {entries}.",
                fix="Remove token_type_ids from model_input_names in "
                "tokenizer_config.json, or take the tokenizer that belongs to the encoder.",
            )


def check_vector_count(folder: Path, model: Any) -> None:
    """Raises a ModelError if an encoder gives fewer or more vectors than it gets sub-tokens.

    :param model: on torch's `meta` device
    """
    shape = vectors_of(model)
    if shape is not None and shape[0] != PLACES:
        raise ModelError(
            f"{type(model).__name__} gives {shape[0]} vectors for {PLACES} sub-tokens, but blurb needs one for each",
            where=folder,
            fix="choose a checkpoint that restores the length (of Funnel one whose name does not end in -base).",
        )


def vectors_of(model: Any) -> tuple[int, int] | None:
    """The number of vectors for `PLACES` sub-tokens, and their width; None if weights are needed to tell.

    Without weights there are no values, so a model that inspects its mask fails; some make a mask if they get none.
    """
    import torch

    ids = torch.ones(1, PLACES, dtype=torch.long, device="meta")
    for mask in (None, torch.ones_like(ids)):
        with suppress(Exception):  # a library or code of the checkpoint may raise anything
            _, places, width = model(input_ids=ids, attention_mask=mask).last_hidden_state.shape
            return int(places), int(width)
    return None


def check_text(folder: Path, tokenizer: Tokenizer) -> None:
    """Raises a ModelError if the vocabulary has neither common words nor most letters, so that all is unknown."""
    index = tokenizer.inner.unk_token_id
    unknown = [index in one.ids for one in tokenizer.subtokens([*COMMON, *ascii_lowercase])]
    letters = len(ascii_lowercase) - sum(unknown[len(COMMON) :])
    if all(unknown[: len(COMMON)]) and letters < len(ascii_lowercase) / 2:
        raise ModelError(
            f"the tokenizer knows none of the words {', '.join(COMMON)}, and {letters} of the letters a to "
            "z: its vocabulary is not one of English text (but of proteins, DNA, another script)",
            where=folder,
            fix="choose an encoder of English text.",
        )


def find_silent_faults(folder: Path, tokenizer: Tokenizer, encoder: Any) -> Iterator[ModelError]:
    """The faults that load without an error and then cost scores, or fail on some of the tasks only."""
    where = folder / "tokenizer_config.json"
    # The usual cause is an uncased checkpoint that lost its `do_lower_case`.
    if not tokenizer.lower_cases and tokenizer.capitals[0] == 0:
        yield ModelError(
            "The tokenizer keeps upper case, but no entry of its vocabulary has any: words with capitals are unknown.",
            where=where,
            fix='Set "do_lower_case": true, or take the tokenizer of the original checkpoint with '
            f"{opt('tokenizer')}.",
        )
    beside = folder / SENTENCES
    lowered = beside.is_file() and read_json(folder, SENTENCES).get("do_lower_case")
    if lowered and not tokenizer.lower_cases:
        yield ModelError(
            "sentence-transformers lower-cases each text of this encoder; its tokenizer by itself does not.",
            where=beside,
            fix='Set "do_lower_case": true in tokenizer_config.json, too.',
        )
    table = getattr(getattr(encoder, "embeddings", None), "token_type_embeddings", None)
    segments = 1 + tokenizer.special_tokens.highest_type
    if table is not None and segments > table.num_embeddings:
        yield ModelError(
            f"The tokenizer numbers {segments} segments of a pair of texts, but the encoder has embeddings for "
            f"{table.num_embeddings} only: trials on pairs (similarity, QA) will fail.",
            where=where,
            fix='Set "model_input_names": ["input_ids", "attention_mask"], which leaves the segments out.',
        )
    saved, loaded = map(_type_of, (encoder.config.architectures, [type(encoder).__name__]))
    if saved and loaded and saved != loaded:
        yield ModelError(
            f"The weights were loaded as {loaded}, the type in config.json, but its architectures are of type {saved}: "
            "positions or attention may differ.",
            where=folder / "config.json",
            fix=f'Set "model_type": "{saved}", or correct "architectures".',
        )


def is_causal(encoder: Any) -> bool:
    """Whether the first vector stays the same when all other tokens change.

    Modules and configuration are not asked: `is_causal` in config.json makes a decoder bidirectional whatever its
    modules say. Tokens are changed, not only reordered: an encoder that attends to all alike and has no positions gives
    the same vector for any order.

    :param encoder: with its weights
    """
    import torch

    ids = (
        torch.tensor([range(1, 9), [1, *range(9, 16)]])
        % encoder.get_input_embeddings().num_embeddings
    )
    with torch.no_grad():
        one, other = encoder.eval()(
            input_ids=ids, attention_mask=torch.ones_like(ids)
        ).last_hidden_state[:, 0]
    return bool((one - other).abs().max() <= 1e-5 * one.abs().max())


def make_bidirectional(encoder: Any) -> None:
    """Lets every position of a decoder attend to all; an encoder that builds its own masks stays as it is."""
    encoder.config.is_causal = False  # asked by the functions that make masks
    for module in encoder.modules():
        if hasattr(module, "is_causal"):
            module.is_causal = False  # asked where there is no mask, as nothing is padded


_BOUNDS = tomllib.loads(Path(__file__).with_name("config_bounds.toml").read_text(encoding="utf-8"))
BOUNDED = {
    name: Field(int if "most" in group["bounds"] else float, **group["bounds"])
    for group in _BOUNDS["group"]
    for name in group["fields"]
}
"""Fields of a configuration that are counts, sizes, probabilities or small numbers."""
TYPES = ("float32", "float16", "bfloat16", "float64", "float", "half", "double", "auto")
ATTENTION = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
IMPLEMENTATION = ("_implementation", "_implementation_internal")
"""Endings of fields by which transformers chooses code, possibly from a repository on the Hub."""
IMPLEMENTATIONS = (*ATTENTION, "batched_mm", "grouped_mm")
"""Implementations in transformers itself, for attention and for experts."""


def check_config(
    folder: Path, config: Mapping[str, Any], remote_code: bool, errors: ErrorCollector
) -> None:
    """Adds a ModelError for each field of config.json that makes the encoder impossible or unsupported.

    :param remote_code: whether a person allowed the code of the checkpoint
    """
    wrong = (config_fault(*field) for field in config_fields(config))
    for fault in (*code_faults(config, remote_code), *filter(None, wrong)):
        errors.add(
            ModelError(
                fault.what,
                where=folder / "config.json",
                fix=fault.fix or "Correct it, or save the model again.",
            )
        )


def check_code(folder: Path, contents: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises a ModelError if the configuration of model or tokenizer names code that no hash of the checkpoint has.

    :param contents: of the JSON files by name
    """
    for name, content in contents.items():
        for reference in _texts_within(content.get("auto_map")):
            place, _, module = reference.rpartition("--")
            if "/" in module or os.sep in module or (place and Path(place).expanduser().exists()):
                raise ModelError(
                    f"{name}: auto_map names {shorten_value(reference)}, but code must lie in the folder of the "
                    "checkpoint itself, as only that is part of its hash",
                    where=folder,
                    fix="move it there.",
                )


def _texts_within(value: Any) -> Iterator[str]:
    """The texts in a value of any shape."""
    if isinstance(value, str):
        yield value
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _texts_within(each)


def code_faults(config: Mapping[str, Any], remote_code: bool = False) -> Iterator[ModelError]:
    """The faults of fields that ask for code, at any depth, as transformers has followed nested ones."""
    waiting: list[Any] = [config]
    while waiting:
        value = waiting.pop()
        waiting += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        )
        for name, content in value.items() if isinstance(value, dict) else ():
            if name == "trust_remote_code" and content and not remote_code:
                yield ModelError(
                    f"it asks for trust_remote_code itself; that is for you to say: {opt('trust-remote-code')}."
                )
            if (
                name.endswith(IMPLEMENTATION)
                and content is not None
                and content not in IMPLEMENTATIONS
            ):
                yield ModelError(
                    f"{name} must be one of {', '.join(ATTENTION)} (got {shorten_value(content)}); others are not "
                    "supported."
                )


def config_fields(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All fields of a configuration, including nested ones (the encoder's in an encoder-decoder's)."""
    for name, value in config.items():
        yield name, value
        if isinstance(value, dict) and "model_type" in value:
            yield from config_fields(value)


def config_fault(name: str, value: Any) -> BlurbError | None:
    """The fault of a field, if any. Missing fields (null) get their default, or transformers rejects them."""
    if value is None:
        return None
    if name in BOUNDED:
        try:
            BOUNDED[name].checked(name, value)
        except SettingsError as error:
            return error
    if name in ("dtype", "torch_dtype") and (
        not isinstance(value, str) or value.removeprefix("torch.") not in TYPES
    ):
        return ModelError(
            f"{name} must be one of {', '.join(TYPES[:4])} (got {shorten_value(value)})."
        )
    if name == "quantization_config":
        return ModelError(
            "the weights are quantised (quantization_config), but blurb trains float32",
            fix="dequantise them.",
        )
    return None

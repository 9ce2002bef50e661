"""Loading encoders and tokenizers with transformers, judging by behaviour and not by model type."""

from __future__ import annotations

import copy
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer
from blurb.models.casing import settle
from blurb.models.checkpoint import blamed
from blurb.models.weights import weight_files

if TYPE_CHECKING:
    from blurb.models.source import Source

NO_ENCODER = "its config.json describes no encoder of texts"
STRANGE = "ꙮ"
"""A letter that hardly any vocabulary has."""


@lru_cache(maxsize=4)
def load_tokenizer(folder: str, remote_code: bool = False, casing: str = "") -> Tokenizer:
    """The tokenizer of a checkpoint.

    :param casing: "cased" or "uncased" where its files are wrong about it, see `blurb.models.casing`
    """
    from transformers import AutoTokenizer

    load = partial(AutoTokenizer.from_pretrained, folder, trust_remote_code=remote_code)
    with blamed(folder, "the tokenizer cannot be loaded"):
        inner = load()
        if len(inner) <= len(set(inner.all_special_ids)):
            raise ModelError(f"{folder}: the tokenizer has an empty vocabulary; its vocabulary file is missing.")
        tokenizer = settle(Tokenizer(inner), casing, folder, load)
        tokenizer.pieces([STRANGE])  # fails now, and not in a trial, where nothing stands for what is unknown
        tokenizer.hash  # noqa: B018 - and so does all that it is asked later
    return tokenizer


def tokenizer_of(source: Source) -> Tokenizer:
    """The tokenizer of a model that was resolved."""
    return load_tokenizer(source.location, source.remote_code, source.casing)


def encoder_of(source: Source) -> tuple[Any, bool]:
    """`load_encoder` of a model that was resolved, as a copy that is the caller's own.

    The trials of a process follow one another, and a copy takes a third of the time. What draws weights while it is
    loaded is loaded every time: the draws are the trial's.
    """
    if source.weights in _kept:
        encoder, trained_pooler = _kept[source.weights]
        return copy.deepcopy(encoder), trained_pooler
    import torch

    before = torch.get_rng_state()
    encoder, trained_pooler = load_encoder(source.location, source.remote_code)
    _kept.clear()
    if torch.equal(before, torch.get_rng_state()) and not source.remote_code:
        _kept[source.weights] = encoder, trained_pooler
        encoder = copy.deepcopy(encoder)
    return encoder, trained_pooler


_kept: dict[str, tuple[Any, bool]] = {}
"""The encoder that was loaded last, by the hash of its weights."""


def load_encoder(folder: str, remote_code: bool = False) -> tuple[Any, bool]:
    """The encoder in float32, and whether it has a pooler with trained weights.

    Of encoder-decoders only the encoder is loaded. Weights of heads in the checkpoint are left out.
    """
    from transformers import AutoModel, AutoModelForTextEncoding
    from transformers.utils import logging as transformers_logging

    quiet()
    config = _config(folder, remote_code)
    loader = AutoModel
    if config.is_encoder_decoder and type(config) in AutoModelForTextEncoding._model_mapping:
        loader = AutoModelForTextEncoding
    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()  # the checkpoint's other heads are rightly unused
    try:
        with blamed(folder, "the weights cannot be loaded"):
            model, info = loader.from_pretrained(
                folder,
                config=config,
                dtype="float32",
                trust_remote_code=remote_code,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # named below; transformers' own error does not
            )
    finally:
        transformers_logging.set_verbosity(before)
    missing = set(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}
    pooler = getattr(model, "pooler", None)
    trained_pooler = pooler is not None and not any(key.startswith("pooler.") for key in missing)
    lost = sorted(key for key in missing if not key.startswith("pooler."))
    if lost:
        raise ModelError(
            f"{folder}: {len(lost)} weights of the encoder are not in the checkpoint or have another size "
            f"({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}); "
            "the configuration and the weights do not belong together."
        )
    if config.is_encoder_decoder and loader is AutoModel:
        model = model.get_encoder()
    _check_finite(folder, model)
    return model, trained_pooler


def _check_finite(folder: str, model: Any) -> None:
    """ModelError if a weight is no number: training would fail, and blame the learning rate."""
    import torch

    for name, parameter in model.named_parameters():
        bad = int((~torch.isfinite(parameter)).sum())
        if bad:
            raise ModelError(
                f"{folder}: {bad:,} of the {parameter.numel():,} values of {name} are NaN or infinite; the checkpoint "
                "is damaged, or its pretraining diverged: take an earlier one."
            )


def capacity(encoder: Any) -> int | None:
    """The most sub-tokens that fit an encoder, None if positions are relative and nothing limits them."""
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if table is not None and hasattr(table, "num_embeddings"):
        padding = table.padding_idx  # RoBERTa counts positions from padding_idx + 1
        return int(table.num_embeddings) - (0 if padding is None else padding + 1)
    limit = getattr(encoder.config, "max_position_embeddings", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


@lru_cache(maxsize=16)
def is_causal(folder: str, remote_code: bool = False) -> bool:
    """Whether the first place of an encoder sees nothing but itself, as in a decoder.

    Told by the attention where it says so, else by trying: whether the first vector stays when all else changes.
    """
    import torch

    model = _skeleton(folder, _config(folder, remote_code), remote_code)
    said = {module.is_causal for module in model.modules() if isinstance(getattr(module, "is_causal", None), bool)}
    if len(said) == 1:
        return bool(said.pop())
    encoder = load_encoder(folder, remote_code)[0].eval()
    ids = torch.arange(1, 9).repeat(2, 1) % encoder.get_input_embeddings().num_embeddings
    ids[1, 1:] = ids[1, 1:].flip(0)
    with torch.no_grad():
        one, other = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[:, 0]
    return bool((one - other).abs().max() <= 1e-5 * one.abs().max())


def describe(folder: Path, remote_code: bool, casing: str = "") -> tuple[str, int]:
    """Hash of the tokenizer and number of parameters of the encoder, without loading weights."""
    quiet()
    config = _config(folder, remote_code)
    tokenizer = load_tokenizer(str(folder), remote_code, casing)
    model = _skeleton(folder, config, remote_code)
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        entries = len(tokenizer.inner)
        has = f"{entries} entries" if entries > rows else f"an entry with the id {tokenizer.size - 1}"
        raise ModelError(
            f"{folder}: the tokenizer has {has} but the encoder embeds {rows}; they do not belong together."
        )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    size = sum(path.stat().st_size for path in weight_files(folder))
    if parameters > size:  # a parameter takes a byte at least
        raise ModelError(
            f"{folder}: config.json describes an encoder of {parameters:,} parameters, but the weights are {size:,} "
            "bytes; the configuration and the weights do not belong together."
        )
    return tokenizer.hash, parameters


def outline(folder: str, remote_code: bool = False) -> Any:
    """The encoder of a checkpoint without its weights, as a module on torch's `meta` device: sizes, and no memory."""
    quiet()
    return _skeleton(folder, _config(folder, remote_code), remote_code)


def _skeleton(folder: Path | str, config: Any, remote_code: bool) -> Any:
    """The encoder without weights; it takes no memory."""
    import torch
    from transformers import AutoModel

    with blamed(folder, NO_ENCODER):
        with torch.device("meta"):
            model = AutoModel.from_config(config, trust_remote_code=remote_code)
        if config.is_encoder_decoder:
            model = model.get_encoder()
        model.get_input_embeddings().num_embeddings  # noqa: B018 - an encoder of pictures or sound has none
    return model


def _config(folder: Path | str, remote_code: bool) -> Any:
    from transformers import AutoConfig

    with blamed(folder, NO_ENCODER):
        return AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)


def quiet() -> None:
    """No progress bars of transformers: blurb shows its own."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()

"""A tokenizer as its own file defines it, whatever class is named beside the file.

Since version 5 of transformers a named class builds normaliser and pre-tokenizer by itself and takes only vocabulary
and merges from the file (huggingface/transformers#45701, #44255). So its sub-tokens of probe texts and its steps are
compared with those of the file itself; if they differ, the file is loaded.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_letters, digits, punctuation
from typing import Any

from blurb.checkpoints.reading import errors_alone
from blurb.checkpoints.tokenizer_files import SENTENCEPIECE, SWITCHES, iterate_steps
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import ModelError

JSON = "tokenizer.json"
LETTERS = f"{ascii_letters}{digits}{punctuation}µμ²³₂½™ﬁﬂ°±×→≥–—‘’“”…éüßñÅçαβγΔκ中の한й\u00a0\u2009\u3000ＤＮ１"
"""Letters whose treatment differs between tokenizers."""
PROBES = (
    *(f"ka{letter}lo" for letter in LETTERS),
    *(f"the {letter} of" for letter in LETTERS),
    "Tumor necrosis factor-alpha (TNF-α) in 12,345 of 67 patients; p < 0.05, don't re-use.",
    "DNA kalo Café cafe\u0301 e\u0301",
    "5 µg/ml H₂O m² 10⁻³",
)
SAMPLING = ("dropout", "alpha", "nbest_size")
"""Fields of tokenizer.json's model (BPE, Unigram) that split words at random, for pretraining."""
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def as_filed(inner: Any, folder: Path, config: Mapping[str, Any]) -> Any:
    """The loaded tokenizer if it follows its file, otherwise one that does.

    A tokenizer whose class is code of the checkpoint is kept: the model was pretrained with that code.

    :param inner: of `AutoTokenizer.from_pretrained`
    :param config: content of tokenizer_config.json, with its overrides
    :raises ModelError: if a SentencePiece model and the tokenizer made of it differ; shows where
    """
    if not type(inner).__module__.startswith("transformers."):
        return inner
    if (folder / JSON).is_file():
        if hasattr(inner, "backend_tokenizer"):
            _stop_sampling(inner.backend_tokenizer)
        return _as_in_json(inner, folder, config)
    model = _sentencepiece_file(folder)
    return inner if model is None else _as_in_model(inner, model)


def check_sentencepiece(folder: Path) -> None:
    """Raises a ModelError if the file to make a tokenizer of is no SentencePiece model."""
    if (path := _sentencepiece_file(folder)) is not None and not (folder / JSON).is_file():
        _load_processor(path)


def _sentencepiece_file(folder: Path) -> Path | None:
    return next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)


def _load_processor(path: Path) -> Any:
    from sentencepiece import SentencePieceProcessor

    try:
        return SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError):
        raise ModelError(
            f"{path.name} is no model of SentencePiece",
            where=path.parent,
            fix="download the checkpoint again.",
        ) from None


def _as_in_json(inner: Any, folder: Path, config: Mapping[str, Any]) -> Any:
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    file = tokenizers.Tokenizer.from_file(str(folder / JSON))
    file.no_truncation()
    file.no_padding()
    _stop_sampling(file)
    _apply_switches(file, config)
    filed = [encoding.ids for encoding in file.encode_batch(list(PROBES), add_special_tokens=False)]
    alike = filed == [one.ids for one in Tokenizer(inner).subtokens(PROBES)]
    if alike and _stepped_alike(inner, file) and _framed_alike(inner, file, config):
        return inner
    with errors_alone():  # the other class is intended
        whole = PreTrainedTokenizerFast.from_pretrained(
            str(folder), model_input_names=inner.model_input_names
        )
    _stop_sampling(whole.backend_tokenizer)
    _apply_switches(whole.backend_tokenizer, config)
    known = whole.get_vocab()
    for name in NAMED:  # defaults of the class that the vocabulary has, such as [CLS]
        token = getattr(inner, name)
        if getattr(whole, name) is None and token in known:
            setattr(whole, name, token)
    return whole


def _stop_sampling(tokenizer: Any) -> None:
    """Turns off what splits words at random; the same text must get the same tokens each time."""
    for name in SAMPLING:
        if getattr(tokenizer.model, name, None):
            setattr(tokenizer.model, name, None)


def _apply_switches(tokenizer: Any, config: Mapping[str, Any]) -> None:
    """Applies the switches of tokenizer_config.json, as all versions of transformers do."""
    for part in ("normalizer", "pre_tokenizer"):
        step = getattr(tokenizer, part)
        state = _state_of_step(step)
        before = json.dumps(state)
        for one in iterate_steps(state):
            for field, switch in SWITCHES.get(str(one.get("type")), {}).items():
                if config.get(switch) is not None:
                    one[field] = config[switch]
        if json.dumps(state) != before:
            step.__setstate__(json.dumps(state).encode())
            setattr(tokenizer, part, step)


def _stepped_alike(inner: Any, file: Any) -> bool:
    """Whether both have the same normaliser and pre-tokenizer: a rule may be for a letter that no probe has."""
    backend = getattr(inner, "backend_tokenizer", None)
    return backend is None or all(
        _state_of_step(getattr(backend, part)) == _state_of_step(getattr(file, part))
        for part in ("normalizer", "pre_tokenizer")
    )


def _state_of_step(step: Any) -> Any:
    return None if step is None else json.loads(step.__getstate__())


def _framed_alike(inner: Any, file: Any, config: Mapping[str, Any]) -> bool:
    """Whether both put the same special tokens around a text and a pair, unless a switch adds some."""
    if file.post_processor is None or any(
        config.get(name) is not None for name in ("add_bos_token", "add_eos_token")
    ):
        return True
    return all(
        file.encode(*each).ids == inner(*each, truncation=False, padding=False)["input_ids"]
        for each in (("the",), ("the", "of"))
    )


def _as_in_model(inner: Any, path: Path) -> Any:
    """Compares with SentencePiece itself, as transformers builds its own tokenizer from the model."""
    processor, prepare = _load_processor(path), _preparation_of(inner)
    if _first_difference(inner, processor, prepare) and getattr(inner, "is_fast", False):
        _take_steps(inner.backend_tokenizer, processor, prepare)
    if difference := _first_difference(inner, processor, prepare):
        text, pieces, filed = difference
        raise ModelError(
            f"the tokenizer that transformers makes of {path.name} is another one: of {text!r} it makes "
            f"{' '.join(pieces)}, and the file {' '.join(filed)}",
            where=path.parent,
            fix="save a tokenizer.json that does what the model does beside it.",
        )
    return inner


def _preparation_of(inner: Any) -> Callable[[str], str]:
    """The tokenizer's own preparation of a text for SentencePiece: lower case, no accents (ALBERT, XLNet)."""
    lowers = Tokenizer(inner).lower_cases
    strips = inner.tokenize("é") == inner.tokenize("e")

    def prepare(text: str) -> str:
        if strips:
            text = "".join(
                one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)
            )
        return text.lower() if lowers else text

    return prepare


def _first_difference(
    inner: Any, processor: Any, prepare: Callable[[str], str]
) -> tuple[str, Sequence[str], Sequence[str]] | None:
    """The first probe whose pieces differ, with both; unknown pieces are alike however they are written."""
    own = [
        processor.id_to_piece(index) for index in range(len(processor)) if _is_own(processor, index)
    ]
    probes = (*PROBES, " kalo ", *own, *(f"the {piece} of" for piece in own))
    for text, subtokens in zip(probes, Tokenizer(inner).subtokens(probes), strict=True):
        unknown = inner.unk_token
        pieces = inner.convert_ids_to_tokens(subtokens.ids)
        ids = processor.encode(prepare(text))
        filed = [
            unknown if one == processor.unk_id() else processor.id_to_piece(one) for one in ids
        ]
        if pieces != filed:
            return text, pieces, filed
    return None


def _is_own(processor: Any, index: int) -> bool:
    """Whether a piece is user-defined: it has score 0, and is not unknown, control, unused or a byte."""
    special = (processor.is_unknown, processor.is_control, processor.is_unused, processor.is_byte)
    return processor.get_score(index) == 0.0 and not any(each(index) for each in special)


def _take_steps(tokenizer: Any, processor: Any, prepare: Callable[[str], str]) -> None:
    """Gives a tokenizer the steps of the SentencePiece model, after the casing of its class."""
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import Regex, normalizers, pre_tokenizers

    model: Any = sentencepiece_model_pb2  # its classes are made when it is imported
    spec = model.ModelProto.FromString(processor.serialized_model_proto()).normalizer_spec
    parts = [normalizers.NFKD(), normalizers.StripAccents()] if prepare("é") == "e" else []
    parts += [normalizers.Lowercase()] if prepare("A") == "a" else []
    parts += (
        [normalizers.Precompiled(spec.precompiled_charsmap)] if spec.precompiled_charsmap else []
    )
    parts += (
        [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
        if spec.remove_extra_whitespaces
        else []
    )
    tokenizer.normalizer = normalizers.Sequence(parts)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme="always" if spec.add_dummy_prefix else "never"
    )

"""Loads encoders and tokenizers with transformers; decisions rest on behaviour, not on the model type."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer
from blurb.models import unchanged
from blurb.models.casing import settle
from blurb.models.checkpoint import blamed, check_code
from blurb.models.tokenizer_files import check_tokenizer
from blurb.models.unsuitable import check_embeddings, check_length, check_text, check_type
from blurb.models.weights import weight_files

if TYPE_CHECKING:
    from blurb.models.source import Source

NO_ENCODER = "its config.json does not describe a text encoder"
STRANGE = "ꙮ"
"""A letter that is missing in most vocabularies."""


@lru_cache(maxsize=4)
def load_tokenizer(folder: str, remote_code: bool = False, casing: str = "") -> Tokenizer:
    """The tokenizer of a checkpoint.

    :param casing: "cased" or "uncased" to override its files, see `blurb.models.casing`
    """
    from transformers import AutoTokenizer

    check_tokenizer(Path(folder))
    if remote_code:
        check_code(Path(folder))  # again: its configuration is not part of the hash of the weights
    load = partial(AutoTokenizer.from_pretrained, folder, trust_remote_code=remote_code)
    with blamed(folder, "cannot load the tokenizer"):
        inner = load()
        if len(inner) <= len(set(inner.all_special_ids)):
            raise ModelError("the vocabulary of the tokenizer is empty", where=folder, fix="add its vocabulary file.")
        tokenizer = settle(Tokenizer(inner), casing, folder, load)
        tokenizer.subtokens([STRANGE])  # fails now, and not in a trial, if there is no unknown token
        tokenizer.hash  # noqa: B018 - and so does all that it is asked later
    return tokenizer


def tokenizer_of(source: Source) -> Tokenizer:
    """The tokenizer of a resolved model."""
    return load_tokenizer(source.location, source.remote_code, source.casing)


def encoder_of(source: Source) -> tuple[Any, bool]:
    """`load_encoder` of a resolved model, as a copy for the caller.

    Copying takes a third of the time of loading. Encoders that draw random weights while loading are loaded every
    time, as these weights depend on the seed of the trial.
    """
    if source.weights in _kept:
        encoder, trained_pooler = _kept[source.weights]
        return copy.deepcopy(encoder), trained_pooler
    import torch

    before = torch.get_rng_state()
    _kept.clear()  # first, or two of them would be there
    encoder, trained_pooler = load_encoder(source.location, source.remote_code)
    unchanged.check(source)  # they may have been overwritten while they were read
    if torch.equal(before, torch.get_rng_state()) and not source.remote_code:
        _kept[source.weights] = encoder, trained_pooler
        encoder = copy.deepcopy(encoder)
    return encoder, trained_pooler


_kept: dict[str, tuple[Any, bool]] = {}
"""The last loaded encoder, by the hash of its weights."""


def load_encoder(folder: str, remote_code: bool = False) -> tuple[Any, bool]:
    """The encoder in float32, and whether it has a pooler with trained weights.

    Only the encoder of an encoder-decoder is loaded. Weights of heads in the checkpoint are ignored.
    """
    from transformers import AutoModel

    quiet()
    config = _config(folder, remote_code)
    model, missing = _from_files(folder, config, remote_code)
    missing = _of_its_encoder(model, config, missing)
    pooler = getattr(model, "pooler", None)
    trained_pooler = pooler is not None and not any(key.startswith("pooler.") for key in missing)
    _check_whole(folder, missing)
    if config.is_encoder_decoder and _loader(config) is AutoModel:
        model = model.get_encoder()
    _check_finite(folder, model)
    return model, trained_pooler


def _from_files(folder: Path | str, config: Any, remote_code: bool, device: str | None = None) -> tuple[Any, set[str]]:
    """The model of the weight files, and the names of its weights that they lack or have in another size.

    :param device: "meta" reads the headers of the files alone
    """
    with errors_alone(), blamed(folder, "cannot load the weights"):  # other heads are rightly unused, which is told
        model, info = _loader(config).from_pretrained(
            folder,
            config=config,
            dtype="float32",
            trust_remote_code=remote_code,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below; transformers' own error does not
            **({"device_map": device} if device else {}),
        )
    return model, set(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}


def _of_its_encoder(model: Any, config: Any, missing: set[str]) -> set[str]:
    """The missing weights that the encoder has: an encoder-decoder may be saved without its decoder (LongT5)."""
    if not (config.is_encoder_decoder and hasattr(model, "get_encoder")):
        return missing
    own = {id(parameter) for parameter in model.get_encoder().parameters()}
    named = dict(model.named_parameters(remove_duplicate=False))
    return {name for name in missing if name not in named or id(named[name]) in own}


def _check_whole(folder: Path | str, missing: set[str]) -> None:
    """Raises a ModelError if an encoder lacks weights; a pooler may be a new one."""
    lost = sorted(key for key in missing if not key.startswith("pooler."))
    if lost:
        raise ModelError(
            f"{len(lost)} weights of the encoder are missing in the checkpoint or have another size "
            f"({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}); "
            "config.json and the weights do not match.",
            where=folder,
        )


def _loader(config: Any) -> Any:
    """The class that loads an encoder, also of an encoder-decoder that was saved whole or without its decoder."""
    from transformers import AutoModel, AutoModelForTextEncoding

    encoders = AutoModelForTextEncoding._model_mapping
    return AutoModelForTextEncoding if type(config) in encoders else AutoModel


def _check_finite(folder: str, model: Any) -> None:
    """Raises a ModelError if a weight is not finite: training would fail with a message about the learning rate."""
    import torch

    for name, parameter in model.named_parameters():
        bad = int((~torch.isfinite(parameter)).sum())
        if bad:
            raise ModelError(
                f"{bad:,} of the {parameter.numel():,} values of {name} are NaN or infinite; the checkpoint "
                "is damaged or its pretraining diverged",
                where=folder,
                fix="use an earlier one.",
            )


def capacity(encoder: Any) -> int | None:
    """The maximum number of sub-tokens of an encoder; None if relative positions set no limit."""
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if table is not None and hasattr(table, "num_embeddings"):
        padding = table.padding_idx  # RoBERTa counts positions from padding_idx + 1
        return int(table.num_embeddings) - (0 if padding is None else padding + 1)
    limit = getattr(encoder.config, "max_position_embeddings", None)
    return int(limit) if isinstance(limit, int) and limit > 0 else None


@lru_cache(maxsize=16)
def is_causal(folder: str, remote_code: bool = False) -> bool:
    """Whether the first position of an encoder attends only to itself, as in a decoder.

    The attention modules say so; otherwise a test: does the first vector stay the same when all other tokens change?
    To other tokens and not to another order, as what attends to all alike and has no positions sees no order.
    """
    import torch

    model = _skeleton(folder, _config(folder, remote_code), remote_code)
    said = {module.is_causal for module in model.modules() if isinstance(getattr(module, "is_causal", None), bool)}
    if len(said) == 1:
        return bool(said.pop())
    encoder = load_encoder(folder, remote_code)[0].eval()
    ids = torch.tensor([range(1, 9), [1, *range(9, 16)]]) % encoder.get_input_embeddings().num_embeddings
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
        has = f"{entries} entries" if entries > rows else f"an entry with id {tokenizer.size - 1}"
        raise ModelError(
            f"the tokenizer has {has}, but the encoder has only {rows} embeddings; they do not match.", where=folder
        )
    parameters = _check_fit(folder, config, model, remote_code)
    check_text(folder, tokenizer)
    check_length(folder, model)  # last: it goes through all layers, of which config.json alone may have hundreds
    return tokenizer.hash, parameters


def check_fit(folder: str) -> None:
    """Raises a ModelError if config.json describes an encoder that the weights do not fill, before it is built."""
    quiet()
    config = _config(folder, False)
    _check_fit(folder, config, _skeleton(folder, config, False), False)


def _check_fit(folder: Path | str, config: Any, model: Any, remote_code: bool) -> int:
    """The same of an encoder without weights; returns the number of its parameters."""
    parameters = int(sum(parameter.numel() for parameter in model.parameters()))
    files = weight_files(Path(folder))
    size = sum(path.stat().st_size for path in files)
    if parameters > size:  # a parameter takes a byte at least
        raise ModelError(
            f"config.json describes an encoder of {parameters:,} parameters, but the weights are {size:,} "
            "bytes; config.json and the weights do not match.",
            where=folder,
        )
    if all(path.suffix == ".safetensors" for path in files):  # others would be read whole
        whole, missing = _from_files(folder, config, remote_code, "meta")
        _check_whole(folder, _of_its_encoder(whole, config, missing))
    return parameters


def outline(folder: str, remote_code: bool = False) -> Any:
    """The encoder of a checkpoint without weights: a module on torch's `meta` device, which takes no memory."""
    quiet()
    return _skeleton(folder, _config(folder, remote_code), remote_code)


def _skeleton(folder: Path | str, config: Any, remote_code: bool) -> Any:
    """The encoder without weights, which takes no memory."""
    import torch

    with blamed(folder, NO_ENCODER):
        with torch.device("meta"):
            model = _loader(config).from_config(config, trust_remote_code=remote_code)
        if config.is_encoder_decoder and hasattr(model, "get_encoder"):
            model = model.get_encoder()
    check_embeddings(folder, model)
    return model


def _config(folder: Path | str, remote_code: bool) -> Any:
    from transformers import AutoConfig

    check_type(folder)
    with blamed(folder, NO_ENCODER):
        return AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)


def quiet() -> None:
    """Turns off the progress bars of transformers; blurb shows its own."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()


@contextmanager
def errors_alone() -> Iterator[None]:
    """Without the warnings of transformers about what is meant to be so."""
    from transformers.utils import logging as transformers_logging

    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)


def enlarge(encoder: Any, size: int) -> None:
    """Makes room in the embedding table for the tokens that a formulation adds."""
    if size > encoder.get_input_embeddings().num_embeddings:
        with errors_alone():
            encoder.resize_token_embeddings(size)

"""Loads configuration, tokenizer and encoder with transformers: build, load, check what must hold, return.

Nothing here looks for files or decides what may be loaded: `Checkpoint` passes what it has read and checked. Decisions
rest on behaviour, not on the model type.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from itertools import filterfalse
from pathlib import Path
from typing import Any

from blurb.checkpoints.architecture import WITHOUT, check_embeddings, check_type
from blurb.checkpoints.filed_tokenizer import as_filed, check_sentencepiece
from blurb.checkpoints.reading import blame_folder, errors_alone, hide_progress
from blurb.checkpoints.tokenizer_files import with_casing
from blurb.checkpoints.weights import BUFFERS, find_weights, read_weights, unite_weights
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import ModelError, first_of

NO_ENCODER = "its config.json does not describe a text encoder"
STRANGE = "ꙮ"
"""A letter that is missing in most vocabularies."""
HEADS = re.compile(
    r"^([^.]*_)?(cls|heads?|classifier|scores?|predictions?|outputs?|logits|loss|bias|proj(ection|ector)?|decoder|pooler)"
    rf"(\.|$)|{BUFFERS.pattern}"
)
"""Names of modules beside the encoder in models of transformers, and of old buffers."""
WRAPPERS = {"module.": "DataParallel", "_orig_mod.": "torch.compile", "model.": "Lightning"}
"""Prefix of the names of weights -> wrapper that puts it there."""
RESET = {"return_dict": True, "chunk_size_feed_forward": 0}
"""Switches of config.json that change the form of a forward pass and not its values."""


def load_config(folder: Path, content: Mapping[str, Any], remote_code: bool) -> Any:
    """The configuration object of transformers.

    :param content: of config.json
    """
    from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedConfig

    check_type(folder, content)
    kind = content.get("model_type")
    with blame_folder(folder, NO_ENCODER):
        # Own code, an unknown type and a type that becomes another are left to transformers, which reads the file
        # itself.
        if (
            "auto_map" in content
            or kind not in CONFIG_MAPPING
            or (kind == "mistral" and "layer_types" in content)
        ):
            config = AutoConfig.from_pretrained(folder, trust_remote_code=remote_code)
        else:
            # Older releases wrote this into config.json, and newer ones derive it.
            kept = {
                name: str(value).removeprefix("torch.")
                if value and name in ("dtype", "torch_dtype")
                else value
                for name, value in content.items()
                if name != "use_return_dict"
            }
            kept |= dict.fromkeys(WITHOUT.get(str(kind), ()))
            fields = PreTrainedConfig._decode_special_floats(copy.deepcopy(kept))
            config = CONFIG_MAPPING[kind].from_dict(fields, name_or_path=str(folder))
        for name in RESET.keys() & content.keys():
            setattr(config, name, RESET[name])
        return config


def load_tokenizer(
    folder: Path, config: Any, switches: Mapping[str, Any], remote_code: bool, casing: str
) -> Tokenizer:
    """The tokenizer; transformers reads its files anew, as it offers no way to pass their content.

    :param config: of the encoder, which may decide the class; None for a tokenizer alone
    :param switches: content of tokenizer_config.json
    :param casing: "cased" or "uncased" to override its files, see `blurb.checkpoints.tokenizer_files`
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    def load(**options: Any) -> Any:
        try:
            inner = AutoTokenizer.from_pretrained(
                str(folder), config=config, trust_remote_code=remote_code, **options
            )
        except (TypeError, AttributeError):  # of a class that cannot be made of this file
            inner = PreTrainedTokenizerFast.from_pretrained(str(folder), **options)
        return as_filed(inner, folder, {**switches, **options})

    check_sentencepiece(folder)
    with blame_folder(folder, "cannot load the tokenizer"):
        inner = load()
        if len(inner) <= len(set(inner.all_special_ids)):
            raise ModelError(
                "the vocabulary of the tokenizer is empty",
                where=folder,
                fix="add its vocabulary file.",
            )
        tokenizer = with_casing(Tokenizer(inner), casing, folder, load)
        # Without an unknown token this fails now, not in a trial.
        tokenizer.subtokens([STRANGE])
        tokenizer.hash  # noqa: B018 - and so does all that it is asked later
    return tokenizer


def build_outline(folder: Path, config: Any, remote_code: bool) -> Any:
    """The encoder without weights, on torch's `meta` device."""
    import torch

    hide_progress()
    with blame_folder(folder, NO_ENCODER):
        # Building writes the dtype into the configuration, so it gets a copy.
        with torch.device("meta"):
            model = _loader_class(config).from_config(
                copy.deepcopy(config), trust_remote_code=remote_code
            )
        if config.is_encoder_decoder and hasattr(model, "get_encoder"):
            model = model.get_encoder()
    check_embeddings(folder, model)
    return model


def check_filled(folder: Path, config: Any, remote_code: bool) -> None:
    """Raises a ModelError if safetensors lack weights of the encoder; with accelerate it reads their headers only."""
    device = "meta" if find_spec("accelerate") else ""  # transformers needs it for a device
    _check_names(folder, config, *_from_files(folder, config, remote_code, device))


def load_encoder(
    folder: Path, config: Any, remote_code: bool, dtype: str = "float32"
) -> tuple[Any, bool]:
    """The encoder, and whether it has a pooler with trained weights.

    Only the encoder of an encoder-decoder is loaded. Weights of heads in the checkpoint are ignored.
    """
    from transformers import AutoModel

    hide_progress()
    model, missing, unused = _from_files(folder, config, remote_code, dtype=dtype)
    pooler = getattr(model, "pooler", None)
    trained_pooler = pooler is not None and not any(key.startswith("pooler.") for key in missing)
    _check_names(folder, config, model, missing, unused)
    if config.is_encoder_decoder and _loader_class(config) is AutoModel:
        model = model.get_encoder()
    _check_finite(folder, model)
    return model, trained_pooler


def _loader_class(config: Any) -> Any:
    """The class that loads an encoder, also of an encoder-decoder that was saved whole or without its decoder."""
    from transformers import AutoModel, AutoModelForTextEncoding

    return (
        AutoModelForTextEncoding
        if type(config) in AutoModelForTextEncoding._model_mapping
        else AutoModel
    )


def _from_files(
    folder: Path, config: Any, remote_code: bool, device: str = "", dtype: str = "float32"
) -> tuple[Any, set[str], set[str]]:
    """The model, the names of its weights that the files lack or have in another size, and the unused names.

    :param device: "meta" reads the headers of the files alone
    """
    # `_check_names` judges what transformers reports.
    with errors_alone(), blame_folder(folder, "cannot load the weights"):
        model, info = _loader_class(config).from_pretrained(
            str(folder),
            config=config,
            dtype=dtype,
            trust_remote_code=remote_code,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below; transformers' own error does not
            **({"device_map": device} if device else {}),
        )
    lost = set(info["missing_keys"]) | {key for key, *_ in info["mismatched_keys"]}
    return model, lost, set(info["unexpected_keys"])


def _encoder_weights(model: Any, config: Any, missing: set[str]) -> set[str]:
    """The missing weights that the encoder has: an encoder-decoder may be saved without its decoder (LongT5)."""
    if not (config.is_encoder_decoder and hasattr(model, "get_encoder")):
        return missing
    own = {id(parameter) for parameter in model.get_encoder().parameters()}
    named = dict(model.named_parameters(remove_duplicate=False))
    return {name for name in missing if name not in named or id(named[name]) in own}


def _check_names(
    folder: Path, config: Any, model: Any, missing: set[str], unused: set[str]
) -> None:
    """Raises a ModelError if an encoder lacks weights, or the file has weights inside its modules that it does not use.

    A pooler may be new or unused, and a head unused.
    """
    lost = sorted(
        key for key in _encoder_weights(model, config, missing) if not key.startswith("pooler.")
    )
    if lost:
        raise ModelError(
            f"{len(lost)} weights of the encoder are missing in the checkpoint or have another size "
            f"({first_of(lost, 3)}); config.json and the weights do not match{_hint_at_prefix(lost[0], unused)}.",
            where=folder,
        )
    left = sorted(name for name in unused if _is_inside(model, name))
    files = find_weights(folder, config.to_dict()).loaded
    # A prefix tells the encoder from the rest; without one, all but heads belongs to the encoder.
    if not left and any(model.state_dict().keys() & read_weights(path).keys() for path in files):
        left = sorted(filterfalse(HEADS.search, unused))
    if left:
        raise ModelError(
            f"{len(left)} of the weights inside the encoder's own modules are not used ({first_of(left, 3)}); the "
            "encoder that was trained is not the one that config.json and this version of transformers describe",
            where=folder,
            fix="correct config.json (number of layers, kind of positions), or save the encoder without these weights.",
        )
    unite_weights(files, partial(_own_name, model))


def _hint_at_prefix(name: str, unused: Iterable[str]) -> str:
    """A hint if the names in the file are those of the encoder with a prefix; otherwise ""."""
    prefix = next(
        (one.removesuffix(name) for one in sorted(unused) if one.endswith(f".{name}")), ""
    )
    by = next((wrapper for start, wrapper in WRAPPERS.items() if prefix.startswith(start)), "")
    written = f", as {by} writes them" if by else ""
    return (
        f": the names in the file begin with '{prefix}'{written}; save it again without this"
        if prefix
        else ""
    )


def _own_name(model: Any, name: str) -> str:
    """The name in an encoder of a weight of a file, also of one that is tied to another or has a name of old."""
    own = (
        name.removeprefix(f"{model.base_model_prefix}.")
        .replace("LayerNorm.gamma", "LayerNorm.weight")
        .replace("LayerNorm.beta", "LayerNorm.bias")
    )
    return str(model.get_expanded_tied_weights_keys().get(own, own))


def _is_inside(model: Any, name: str) -> bool:
    """Whether an unused weight is in a module of the encoder, and is neither a pooler's nor a buffer."""
    own = name.removeprefix(f"{model.base_model_prefix}.")
    parts, children = own.split("."), {child for child, _ in model.named_children()}
    return (
        (own != name or parts[0] in children) and "pooler" not in parts and not BUFFERS.search(own)
    )


def _check_finite(folder: Path, model: Any) -> None:
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

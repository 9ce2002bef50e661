"""Checks the (untrusted) configuration of a checkpoint before a library builds anything from it.

The bounds are far above those of any real encoder; they keep a mistyped number from taking all memory or an hour.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.checkpoints.reading import shortened
from blurb.messages.errors import ModelError
from blurb.messages.spelling import opt

BOUNDS = {
    500: (
        "num_hidden_layers",
        "num_layers",
        "n_layer",
        "n_layers",
        "encoder_layers",
        "decoder_layers",
        "num_decoder_layers",
        "num_hidden_groups",
        "inner_group_num",
    ),
    10_000: (
        "num_attention_heads",
        "num_heads",
        "n_head",
        "n_heads",
        "encoder_attention_heads",
        "decoder_attention_heads",
        "num_key_value_heads",
        "num_experts",
        "num_local_experts",
    ),
    1_000_000: (
        "hidden_size",
        "intermediate_size",
        "embedding_size",
        "d_model",
        "d_ff",
        "d_kv",
        "d_inner",
        "dim",
        "hidden_dim",
        "n_embd",
        "head_dim",
        "encoder_ffn_dim",
        "decoder_ffn_dim",
        "type_vocab_size",
    ),
    10_000_000: ("vocab_size", "max_position_embeddings", "n_positions"),
}
UPPER_BOUNDS = {name: most for most, names in BOUNDS.items() for name in names}
"""Maximum of configuration fields that are counts or sizes."""
LEAST = {
    "type_vocab_size": 0,
    "num_experts": 0,
    "num_local_experts": 0,
    "decoder_layers": 0,
    "num_decoder_layers": 0,
    "max_position_embeddings": -1,
    "n_positions": -1,
}
"""Minimum if it is not 1: some encoders have no segments, experts or position table."""
TYPES = ("float32", "float16", "bfloat16", "float64", "float", "half", "double", "auto")
ATTENTION = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")
IMPLEMENTATION = ("_implementation", "_implementation_internal")
"""Endings of fields by which transformers chooses code, if need be from a repository on the Hub."""
IMPLEMENTATIONS = (*ATTENTION, "batched_mm", "grouped_mm")
"""Those of transformers itself, for attention and for experts."""


def check_config(folder: Path, config: Mapping[str, Any], remote_code: bool = False) -> None:
    """Raises a ModelError if config.json describes an impossible encoder, or one that blurb does not support.

    :param remote_code: whether a person allowed the code of the checkpoint
    """
    for fault in config_faults(config, remote_code):
        raise ModelError(f"config.json: {fault.what}", where=folder, fix=fault.fix)


def config_faults(config: Mapping[str, Any], remote_code: bool = False) -> Iterator[ModelError]:
    """All that is wrong with a configuration."""
    yield from code_faults(config, remote_code)
    yield from filter(None, (config_fault(*field) for field in config_fields(config)))


def check_code(folder: Path, contents: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises a ModelError if the configuration of model or tokenizer names code that no hash of the checkpoint has.

    :param contents: of the JSON files by name
    """
    for name, content in contents.items():
        for reference in _references(content.get("auto_map")):
            place, _, module = reference.rpartition("--")
            if "/" in module or os.sep in module or (place and Path(place).expanduser().exists()):
                raise ModelError(
                    f"{name}: auto_map names {shortened(reference)}, but code must lie in the folder of the "
                    "checkpoint itself, as only that is part of its hash",
                    where=folder,
                    fix="move it there.",
                )


def _references(value: Any) -> Iterator[str]:
    """The texts in a value of any shape."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _references(each)


def code_faults(config: Mapping[str, Any], remote_code: bool = False) -> Iterator[ModelError]:
    """What asks for code, at any depth: versions of transformers have followed such fields into nested ones."""
    waiting: list[Any] = [config]
    while waiting:
        value = waiting.pop()
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        for name, content in value.items() if isinstance(value, dict) else ():
            if name == "trust_remote_code" and content and not remote_code:
                yield ModelError(
                    f"it asks for trust_remote_code itself; that is for you to say: {opt('trust-remote-code')}."
                )
            if name.endswith(IMPLEMENTATION) and content is not None and content not in IMPLEMENTATIONS:
                fits = f"{name} must be one of {', '.join(ATTENTION)} (got {shortened(content)})"
                yield ModelError(f"{fits}; others are not supported.")


def config_fields(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All fields of a configuration, including nested ones (the encoder's in an encoder-decoder's)."""
    for name, value in config.items():
        yield name, value
        if isinstance(value, dict) and "model_type" in value:
            yield from config_fields(value)


def config_fault(name: str, value: Any) -> ModelError | None:
    """What is wrong with a field. Missing fields (null) get their default, or transformers rejects them."""
    if value is None:
        return None
    if name in UPPER_BOUNDS:
        least = LEAST.get(name, 1)
        if type(value) is not int:
            return ModelError(f"{name} must be a whole number (got {shortened(value)}).")
        if not least <= value <= UPPER_BOUNDS[name]:
            return ModelError(f"{name} must be from {least} to {UPPER_BOUNDS[name]:,} (got {shortened(value)}).")
    if name in ("dtype", "torch_dtype") and (not isinstance(value, str) or value.removeprefix("torch.") not in TYPES):
        return ModelError(f"{name} must be one of {', '.join(TYPES[:4])} (got {shortened(value)}).")
    if name == "quantization_config":
        what = "the weights are quantised (quantization_config), but blurb trains float32"
        return ModelError(what, fix="dequantise them.")
    return None

"""Adapters of PEFT as checkpoints: LoRA's matrices, merged into the weights of the base that a person names.

PEFT is not needed, and what the adapter's own files name is never loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blurb.checkpoints.checkpoint import ADAPTER, Checkpoint
from blurb.checkpoints.reading import blamed, read_json
from blurb.checkpoints.references import default_name, presets
from blurb.checkpoints.weights import check_header
from blurb.messages import ModelError, first_of, opt

WEIGHTS = "adapter_model.safetensors"
PREFIX = "base_model.model."
PARTS = (".lora_A.weight", ".lora_B.weight")
PLAIN = {
    "use_dora": False,
    "bias": "none",
    "modules_to_save": None,
    "rank_pattern": {},
    "alpha_pattern": {},
    "layer_replication": None,
    "lora_bias": False,
    "trainable_token_indices": None,
}
"""Fields of adapter_config.json by which an adapter is more than two matrices a layer, if they differ from this."""


def check(folder: Path, base: str) -> dict[str, Any]:
    """The content of adapter_config.json; raises a ModelError for what can be no adapter of that base.

    :param base: as a person typed it
    """
    if not (folder / ADAPTER).is_file():
        raise ModelError(
            f"no {ADAPTER}, so this is no adapter and has no base", where=folder, fix=f"remove {opt('base')}."
        )
    config = read_json(folder, ADAPTER)
    if (kind := config.get("peft_type")) != "LORA":
        raise ModelError(f"{ADAPTER}: only adapters of the type LORA can be merged (got {kind!r})", where=folder)
    if other := [name for name, usual in PLAIN.items() if config.get(name, usual) not in (usual, None, [], {}, False)]:
        raise ModelError(
            f"{ADAPTER}: adapters with {', '.join(other)} are not supported",
            where=folder,
            fix="merge it with merge_and_unload of PEFT, and save the model.",
        )
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if type(rank) is not int or rank < 1 or not isinstance(alpha, int | float):
        raise ModelError(f"{ADAPTER}: r and lora_alpha must be numbers (got {rank!r}, {alpha!r})", where=folder)
    named = config.get("base_model_name_or_path")
    names = {default_name(one).lower() for one in (base, presets().get(base, base))}
    if isinstance(named, str) and named and default_name(named).lower() not in names:
        raise ModelError(
            f"{ADAPTER} says that its base is {named}, but {opt('base')} is {base}",
            where=folder,
            fix=f"name the base that it was trained on. If that is what {base} holds, correct base_model_name_or_path.",
        )
    if not (folder / WEIGHTS).is_file():
        raise ModelError(
            f"no {WEIGHTS}; other formats (adapter_model.bin) can hold code and are not read",
            where=folder,
            fix="save the adapter again with a recent PEFT.",
        )
    check_header(folder, folder / WEIGHTS)
    return config


def merged(folder: Path, base: str, checkpoint: Checkpoint) -> Any:
    """The encoder of a checkpoint with an adapter merged into its weights, in float32.

    :param base: the reference of that checkpoint
    :raises ModelError: if the adapter is invalid, or its matrices are not those of this encoder
    """
    import torch
    from safetensors.torch import load_file
    from transformers.pytorch_utils import Conv1D

    config = check(folder, base)
    with blamed(folder, f"cannot load {WEIGHTS}"):
        weights = load_file(folder / WEIGHTS)
    encoder, _ = checkpoint.load_encoder()
    modules = dict(encoder.named_modules())
    pairs: dict[str, dict[str, torch.Tensor]] = {}
    for name, value in weights.items():
        part = next((one for one in PARTS if name.endswith(one)), "")
        place = name.removeprefix(PREFIX).removesuffix(part)
        own = place if place in modules else place.partition(".")[2]  # of an encoder within a model with a head
        if not part or not hasattr(modules.get(own), "weight"):
            raise ModelError(f"{WEIGHTS} has {name}, which has no place in the encoder of {base}", where=folder)
        pairs.setdefault(own, {})[part] = value.double()
    if lost := [name for name, pair in pairs.items() if len(pair) < len(PARTS)] or ["any layer"] * (not pairs):
        raise ModelError(f"{WEIGHTS} lacks a matrix of {first_of(lost, 3)}", where=folder)
    root = config["r"] ** (0.5 if config.get("use_rslora") else 1)
    for name, pair in pairs.items():
        down, up = (pair[part] for part in PARTS)
        weight = modules[name].weight
        shape = tuple(weight.shape[::-1] if isinstance(modules[name], Conv1D) else weight.shape)
        if (
            (down.ndim, up.ndim, len(down)) != (2, 2, config["r"])
            or up.shape[1:] != down.shape[:1]
            or ((len(up), down.shape[1]) != shape)
        ):
            raise ModelError(
                f"{WEIGHTS}: the matrices of {name} are {tuple(up.shape)} and {tuple(down.shape)}, which do not make "
                f"{shape} with rank {config['r']}; it is an adapter of another base",
                where=folder,
            )
        change = config["lora_alpha"] / root * (up @ down)  # in float64: the same weights, and hash, on any machine
        with torch.no_grad():
            weight += (change.T if isinstance(modules[name], Conv1D) else change).float()
    return encoder

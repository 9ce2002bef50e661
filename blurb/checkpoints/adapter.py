"""Adapters of PEFT: LoRA's matrices, merged into the weights of the base that a person names.

`adapter_config.json` is checked against a list of known fields, not of forbidden ones: any other field must be empty.
That file and the base together decide which layers have matrices, as in PEFT, and the file of the matrices must hold
exactly those. PEFT is not needed, and nothing that the adapter's own files name is loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import regex

from blurb.checkpoints.reading import blame_folder, read_json
from blurb.checkpoints.references import default_name, folder_or_id, load_presets
from blurb.checkpoints.weights import check_header, check_names, read_weights
from blurb.fields import TEXTS, Field, read_table
from blurb.messages import FIRST, BlurbError, ModelError, first_of, opt

ADAPTER, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
FOLDER = "merged-adapter"
"""Folder, within that of the base, of an adapter that is merged whenever the base is loaded."""
PREFIX = "base_model.model."
PARTS = (".lora_A.weight", ".lora_B.weight")
ALL_LINEAR = "all-linear"
MERGE, SAVE = (
    "merge it with merge_and_unload of PEFT, and save the model with its tokenizer.",
    "save the adapter again.",
)
SECONDS = 5.0
"""Seconds that a stranger's regular expression may take to match a name."""
LARGEST = 1e15
"""Bound of the sum of a matrix. Larger sums, NaN and infinity come from a training that diverged."""
SCALE = ("r", "lora_alpha", "use_rslora")
"""Fields that decide by how much the product of two matrices changes a weight."""
OF_NO_WEIGHT = """
    peft_type peft_version task_type auto_mapping base_model_name_or_path revision inference_mode lora_dropout
    fan_in_fan_out eva_config megatron_core qalora_group_size
"""
"""Fields on who saved an adapter and how it was trained, or with a value even when their feature is off."""


UNDERSTOOD: Mapping[str, Field] = {
    "r": Field(int, low=1, required=True),
    "lora_alpha": Field(above=0, most=1e6, required=True),
    "use_rslora": Field(bool),
    # Others (pissa, olora, corda, loftq, ...) change the base's own weights: before training, and again on loading.
    "init_lora_weights": Field(bool, words=("gaussian", "orthogonal", "eva")),
    "target_modules": replace(TEXTS, required=True),
    "exclude_modules": TEXTS,
    "layers_to_transform": Field(
        object,
        must="be a number or a list of numbers",
        rule=lambda given: all(
            type(one) is int for one in (given if isinstance(given, list) else [given])
        ),
    ),
    "layers_pattern": TEXTS,
    "modules_to_save": Field(
        list, must="be a list of names", rule=TEXTS.rule
    ),  # of heads, see `read`
    "bias": Field(str, choices=("none",)),
    **dict.fromkeys(OF_NO_WEIGHT.split(), Field(object)),
}
"""Fields that adapter_config.json may have, and their allowed values."""


def check(folder: Path, base: str) -> None:
    """Raises a ModelError for a folder that cannot be an adapter of that base.

    :param base: as a person typed it
    """
    if not (folder / ADAPTER).is_file():
        raise ModelError(
            f"no {ADAPTER}, so this is no adapter and has no base",
            where=folder,
            fix=f"remove {opt('base')}.",
        )
    config = read_config(folder)
    named = config.get("base_model_name_or_path")
    names = {default_name(one).lower() for one in (base, load_presets().get(base, base))}
    if isinstance(named, str) and default_name(named).lower() not in names:
        raise ModelError(
            f"{ADAPTER} says that its base is {named}, but {opt('base')} is {base}",
            where=folder,
            fix=f"name the base that it was trained on. If that is what {base} holds, correct base_model_name_or_path.",
        )
    pinned = config.get("revision")
    if pinned not in (None, "main") and folder_or_id(load_presets().get(base, base)) == (base, ""):
        raise ModelError(
            f"{ADAPTER} says that its base is of the revision {pinned}, but {opt('base')} names none",
            where=folder,
            fix=f"name it: {opt('base', f'{base}@{pinned}')}.",
        )
    if not (folder / WEIGHTS).is_file():
        raise ModelError(
            f"no {WEIGHTS}; other formats (adapter_model.bin) can hold code and are not read",
            where=folder,
            fix="save the adapter again with a recent PEFT.",
        )
    check_header(folder, folder / WEIGHTS)


def read_config(folder: Path) -> dict[str, Any]:
    """The non-empty fields of adapter_config.json; ModelError if one of them is not supported."""
    content = read_json(folder, ADAPTER)
    if (kind := content.get("peft_type")) != "LORA":
        raise ModelError(
            f"{ADAPTER}: only adapters of the type LORA can be merged (got {kind!r})", where=folder
        )
    given = {
        name: value
        for name, value in content.items()
        if not (value is None or value is False or value in ("", [], {}))  # 0 says something
    }
    if other := sorted(given.keys() - UNDERSTOOD.keys()):
        raise ModelError(
            f"{ADAPTER}: adapters with {', '.join(other)} are not supported",
            where=folder,
            fix=MERGE,
        )
    try:
        return read_table(given, Field(dict, keys=UNDERSTOOD), None, FIRST)
    except BlurbError as error:
        raise ModelError(f"{ADAPTER}: {error}", where=folder, fix=MERGE) from None


def _load_matrices(folder: Path) -> dict[str, Any]:
    """The matrices by their names in the trained model."""
    with blame_folder(folder, f"cannot load {WEIGHTS}"):
        check_names([folder / WEIGHTS], _trained_name)
        values = read_weights(folder / WEIGHTS)
    return {_trained_name(name): value for name, value in values.items()}


def _trained_name(name: str) -> str:
    # torch.compile puts a prefix before the names of a wrapped module.
    return name.replace("_orig_mod.", "").removeprefix(PREFIX)


def identity(folder: Path, base: str) -> str:
    """SHA-256 of what is merged: the weights of the base, the scale, and the matrices in the order of their names.

    A hash of the merged weights would depend on how a machine rounds.

    :param base: hash of the weights of the base
    """
    digest = hashlib.sha256(json.dumps([base, *map(read_config(folder).get, SCALE)]).encode())
    for name, value in sorted(_load_matrices(folder).items()):
        digest.update(f"{name} {tuple(value.shape)}".encode())
        digest.update(value.double().numpy())
    return digest.hexdigest()


def merge(folder: Path, encoder: Any, trained_pooler: bool) -> None:
    """Adds the matrices of an adapter to the float32 weights of its base.

    :param trained_pooler: whether the base has a trained pooler; a pooler drawn at random is not changed
    """
    config = read_config(folder)
    scale = config["lora_alpha"] / config["r"] ** (0.5 if config.get("use_rslora") else 1)
    for name, (left, right) in read(folder, "its base", encoder).items():
        if trained_pooler or "pooler" not in name.split("."):
            encoder.get_submodule(name).weight.data += (
                scale * (left.double() @ right.double())
            ).float()


def read(folder: Path, base: str, encoder: Any) -> dict[str, tuple[Any, Any]]:
    """Layer of an encoder -> the two matrices of an adapter whose product, of the shape of its weight, is added.

    Matrices of a head are left out, as heads are in whole checkpoints. A pooler may have none: the trained model may
    have had no pooler.

    :param base: name of the base, for messages
    :param encoder: the base, which needs no weights
    :raises ModelError: if the file lacks matrices of a layer that the adapter targets, or has anything else
    """
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    config, values, modules = (
        read_config(folder),
        _load_matrices(folder),
        dict(encoder.named_modules()),
    )
    # The encoder may have been part of a model with a head; expressions match the names of the whole.
    layers, own = {name.rpartition(".lora_")[0] for name in values}, encoder.base_model_prefix
    start = max(
        ("", f"{own}.", "encoder.", f"{own}.encoder."),
        key=lambda one: sum(
            name.startswith(one) and name[len(one) :] in modules for name in layers
        ),
    )
    inside = {name.removeprefix(start) for name in layers if name.startswith(start)}
    linear = {name for name, module in modules.items() if isinstance(module, nn.Linear | Conv1D)}
    with blame_folder(folder, f"{ADAPTER}: cannot tell which layers it is for"):
        among = linear if str(config["target_modules"]).lower() == ALL_LINEAR else modules.keys()
        requested = {name for name in among if is_target(config, start + name)}
        no_heads = {own, "encoder", "decoder", *(name.partition(".")[0] for name in modules)}
        of_heads = {
            name
            for name in values
            if name.partition(".")[0] not in no_heads and _is_of_head(config, name)
        }
    requested -= {name for name in requested - inside if "pooler" in name.split(".")}
    places = {f"{start}{name}{part}": name for name in requested for part in PARTS}

    tables = {
        f"{start}{name}.weight"
        for name, module in modules.items()
        if isinstance(module, nn.Embedding)
    }
    extra = sorted(values.keys() - places.keys() - of_heads)
    saved = [
        name
        for name in modules
        if (start + name).rstrip(".").endswith(tuple(config.get("modules_to_save", ())))
    ]
    kinds = [f"{name} ({type(modules[name]).__name__})" for name in sorted(requested - linear)]
    lost = sorted({places[name] for name in places.keys() - values.keys()})
    huge = [name for name, value in values.items() if not value.double().abs().sum() < LARGEST]
    for wrong, what, fix in (
        (not values, f"{WEIGHTS} is empty, so the adapter has no matrices", SAVE),
        (saved, f"{ADAPTER}: modules_to_save names what is no head but part of the encoder", MERGE),
        (
            kinds,
            f"{ADAPTER}: target_modules names {first_of(kinds, 1)}, but only linear layers are supported",
            MERGE,
        ),
        (
            tables.intersection(extra),
            f"{WEIGHTS} has a whole table of embeddings ({first_of(extra, 1)}), which was resized or trained",
            f"give {base} a table of this size, {MERGE}",
        ),
        (
            not requested,
            f"target_modules names no layer of {base}; it is an adapter of another base",
            "",
        ),
        (
            linear.intersection(inside) - requested,
            f"{WEIGHTS} has {first_of(extra, 1)}, which {ADAPTER} does not name",
            SAVE,
        ),
        (
            extra,
            f"{WEIGHTS} has {first_of(extra, 1)}, which has no place in the encoder of {base}",
            "",
        ),
        (
            lost,
            f"{WEIGHTS} lacks a matrix of {first_of(lost, 3)}, which {ADAPTER} names for {base}",
            SAVE,
        ),
        (
            huge,
            f"{WEIGHTS}: {first_of(huge, 1)} is not finite, or huge; the training diverged",
            "use an earlier one.",
        ),
    ):
        if wrong:
            raise ModelError(what, where=folder, fix=fix)

    pairs = {}
    for name in sorted(requested):
        down, up = (values[f"{start}{name}{part}"] for part in PARTS)
        pairs[name] = left, right = (
            (down.T, up.T) if isinstance(modules[name], Conv1D) else (up, down)
        )
        shape, rank = tuple(modules[name].weight.shape), config["r"]
        if ((*left.shape,), (*right.shape,)) != ((shape[0], rank), (rank, shape[1])):
            raise ModelError(
                f"{WEIGHTS}: the matrices of {name} are {tuple(up.shape)} and {tuple(down.shape)}, which do not make "
                f"{shape} with rank {rank}; it is an adapter of another base than {base}",
                where=folder,
            )
    return pairs


def is_target(config: Mapping[str, Any], name: str) -> bool:
    """Whether an adapter has matrices for a module, by PEFT's rule (`check_target_module_exists`).

    :param name: of the module in the trained model
    """
    targets, numbers = config["target_modules"], config.get("layers_to_transform")
    if not _is_named(targets, name) or _is_named(config.get("exclude_modules", ()), name):
        return False
    # A whole name names one layer, so numbers of layers do not matter.
    if numbers is None or isinstance(targets, str) or name in targets:
        return True
    patterns = config.get("layers_pattern", ())
    before = [
        rf"(?:^|.*?\.){one}" for one in ([patterns] if isinstance(patterns, str) else patterns)
    ]
    tried = (
        regex.match(rf"{one}\.(?P<number>\d+)\.", name, timeout=SECONDS)
        for one in before or [r".*?\.[^.]*"]
    )
    match = next(filter(None, tried), None)
    return match is not None and int(match["number"]) in (
        numbers if isinstance(numbers, list) else [numbers]
    )


def _is_named(names: str | Collection[str], name: str) -> bool:
    """Whether a name matches an expression, or ends with one of some names."""
    if isinstance(names, str):
        return (
            names.lower() == ALL_LINEAR or regex.fullmatch(names, name, timeout=SECONDS) is not None
        )
    return name in names or name.endswith(tuple(f".{one}" for one in names))


def _is_of_head(config: Mapping[str, Any], name: str) -> bool:
    """Whether a weight outside of the encoder belongs to a head that was saved whole, or to matrices for one."""
    layer = name.rpartition(".lora_")[0] or name.removesuffix(".base_layer.weight")
    return any(f".{one}." in f".{name}" for one in config.get("modules_to_save", ())) or (
        layer != name and is_target(config, layer)
    )

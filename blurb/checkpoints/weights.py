"""The weight files that transformers would load from a checkpoint, and the hash that identifies them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from blurb.checkpoints.reading import blame_folder, read_json, refuse_pointer
from blurb.grouping import by_key
from blurb.messages import ModelError, first_of
from blurb.system.files import NO_FILE, file_hash, open_ordinary, read_bytes

INDEX = ".index.json"
ORDER = (
    "model.safetensors",
    f"model.safetensors{INDEX}",
    "pytorch_model.bin",
    f"pytorch_model.bin{INDEX}",
)
"""The order in which transformers looks for weights."""
PATTERNS = ("*.safetensors", "pytorch_model*.bin")
VOLATILE = ("_name_or_path", "transformers_version", "torch_dtype", "dtype", "architectures")
"""Configuration fields that record who saved it, and how."""
SAFE = ".safetensors"
FLOATS = re.compile(r"b?f(loat)?(16|32|64|8_e(4m3|5m2)\w*)", re.IGNORECASE)
"""Types of the numbers that weights may have, as safetensors and torch name them."""
BUFFERS = re.compile(
    r"(^|\.)(position_ids|token_type_ids|inv_freq|num_batches_tracked|masked_bias|(attn|attention|self_attn)\.bias)$"
)
"""Names of buffers, which are no weights and may be whole numbers; older releases of transformers saved some."""
ZIP = b"PK\x03\x04"
"""The first bytes of an archive."""

CONVERT = "convert it with transformers 4 (from_tf=True or from_flax=True), or take its release for PyTorch."
POINTED = 1000
"""Bytes that a pointer of Git LFS has fewer of, and weights more."""
SAVE = "load its state_dict into the model in Python, and write that with save_pretrained."
OTHER_RELEASES = {
    "*.ckpt.index": f"this is a release for TensorFlow: {CONVERT}",
    "*.h5": f"this is a release for TensorFlow: {CONVERT}",
    "*.msgpack": f"this is a release for Flax: {CONVERT}",
    "model.*.safetensors": "these are weights of a variant: rename the file to model.safetensors.",
    "*.gguf": "this is a release for llama.cpp: take that for transformers.",
    "*.onnx": "this is a release for ONNX: take that for PyTorch.",
    "*.ckpt": f"this is a checkpoint of Lightning: {SAVE}",
    "*.pt": f"this is a file of torch.save: {SAVE}",
    "*.pth": f"this is a file of torch.save: {SAVE}",
}
"""Files that transformers does not load, their origin, and advice."""

Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Name, size, times of change and place on the disk of every file."""


@dataclass(frozen=True)
class Weights:
    """The files with the weights of a checkpoint.

    :param files: none if transformers would find nothing to load
    :param index: the file of every weight, if an index says so
    :param loaded: those of the files that transformers reads
    """

    folder: Path
    files: Sequence[Path]
    index: Mapping[str, str] | None = None
    loaded: Sequence[Path] = ()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.files)

    @property
    def dtype(self) -> str:
        """ "bfloat16" if all floating-point weights are so in safetensors; else "float32", in which they are read."""
        kinds = {kind for path in self.files for kind in read_kinds(path).values()}
        return "bfloat16" if set(filter(FLOATS.fullmatch, kinds)) == {"BF16"} else "float32"

    def stamp(self, with_code: bool) -> Stamp:
        """The stamp of the files now, and of all files that decide which weights count.

        :param with_code: whether Python files count
        :raises OSError: if a file is gone
        """
        patterns = (
            "config.json",
            *PATTERNS,
            f"*{INDEX}",
            "merged-adapter/*",
            *(["*.py"] if with_code else []),
        )
        paths = {*self.files, *(path for pattern in patterns for path in self.folder.glob(pattern))}
        stats = {str(path): path.stat() for path in paths}
        return tuple(
            (name, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino)
            for name, one in sorted(stats.items())
        )

    def hash(self, config: Mapping[str, Any], code: Sequence[Path] = ()) -> str:
        """SHA-256 of the files and the configuration, without the fields that record who saved it.

        :param code: Python files of the checkpoint that may run
        """
        digest = hashlib.sha256()
        lasting = {key: value for key, value in config.items() if key not in VOLATILE}
        digest.update(json.dumps(lasting, sort_keys=True).encode())
        if self.index is not None:
            digest.update(json.dumps(self.index, sort_keys=True).encode())
        for path in [*self.files, *code]:
            digest.update(bytes.fromhex(file_hash(path)))
        return digest.hexdigest()


def find_weights(folder: Path, config: Mapping[str, Any]) -> Weights:
    """The weights in a folder.

    An index names the files. Without one these are all files of the type that transformers would load, even those it
    would not read: earlier versions hashed them all, and hashes must not change.

    :param config: content of config.json
    :raises ModelError: if one of them is not a file, or an index is invalid or names files outside of the folder
    """
    entry = _first_file(folder, config)
    if entry is None:
        return Weights(folder, ())
    index = None
    if entry.name.endswith(INDEX):
        index = _weight_map(folder, entry.name)
        files = [_file_inside(folder, name, entry.name) for name in sorted(set(index.values()))]
    else:
        of_type = next(filter(None, (sorted(folder.glob(pattern)) for pattern in PATTERNS)), [])
        files = of_type if entry in of_type else [*of_type, entry]
    for path in files:
        if not path.is_file():
            raise ModelError(
                f"{path.name} is not a file (it is a folder or a broken link).", where=folder
            )
        if path.stat().st_size < POINTED:
            refuse_pointer(read_bytes(path), folder, path.name)
    return Weights(folder, tuple(files), index, [entry] if index is None else files)


def other_release(folder: Path) -> str:
    """Advice for a folder without weights for PyTorch, by its files; "" if they show nothing."""
    return next((said for pattern, said in OTHER_RELEASES.items() if any(folder.glob(pattern))), "")


def _weight_map(folder: Path, index: str) -> dict[str, str]:
    """The file of every weight, according to an index."""
    content = read_json(folder, index)
    files = content.get("weight_map")
    if (
        not isinstance(files, dict)
        or not files
        or not all(isinstance(file, str) and file for file in files.values())
    ):
        raise ModelError(
            f"{index} has no weight_map with the file of every weight",
            where=folder,
            fix="save the model again.",
        )
    if not isinstance(content.get("metadata"), dict):  # transformers wants one, empty or not
        raise ModelError(
            f"{index} has no metadata (an object, which may be empty)",
            where=folder,
            fix="save the model again.",
        )
    return files


def read_weights(path: Path) -> dict[str, Any]:
    """Name of each weight of a file -> its values on the CPU.

    Archives of torch are mapped, and read where a value is used; other files are read whole.

    :raises ModelError: if a file of torch holds anything but what weights are made of
    """
    if path.suffix == SAFE:
        from safetensors.torch import load_file

        return dict(load_file(path))
    import torch

    mapped = zipfile.is_zipfile(path)
    try:
        values = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except UnpicklingError:  # torch's own message advises to run what the file holds
        raise ModelError(
            f"{path.name} is damaged, or holds objects of Python beside weights, which could run code and are not "
            "loaded",
            where=path.parent,
            fix="take a release with safetensors, or save its state_dict alone.",
        ) from None
    return {name: value for name, value in values.items() if torch.is_tensor(value)}


def read_kinds(path: Path) -> dict[str, str]:
    """Name of each weight of a file -> type of its numbers: "BF16" or "I8", in files of torch "bfloat16" or "int8"."""
    if path.suffix == SAFE:
        from safetensors import safe_open

        with safe_open(path, "np") as file:
            return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 - no mapping
    return {
        name: str(value.dtype).removeprefix("torch.") for name, value in read_weights(path).items()
    }


def check_names(paths: Iterable[Path], rename: Callable[[str], str]) -> None:
    """Raises a ModelError if two weights of files are one in the model and differ: their order would decide.

    :param rename: makes the name in the model of that in a file
    """
    entries = by_key((rename(name), (path, name)) for path in paths for name in read_kinds(path))
    for own, several in entries.items():
        values = [read_weights(path)[name] for path, name in several] if several[1:] else []
        if not all(value.float().equal(values[0].float()) for value in values):
            places = ", and ".join(f"{name} in {path.name}" for path, name in several)
            raise ModelError(
                f"the weight {own} has different values: {places}",
                where=several[0][0].parent,
                fix="remove the wrong one, and save the model again.",
            )


def check_header(folder: Path, path: Path) -> None:
    """Raises a ModelError if a file of weights is truncated, invalid, compressed or quantised; reads its header only.

    torch never compresses, but unpacks compressed files: 200 KB may become 200 MB, or exceed the memory.
    """
    with blame_folder(folder, f"cannot load the weights: {path.name}"):
        if not path.is_file():
            raise OSError(NO_FILE)
        members: list[zipfile.ZipInfo] = []
        if path.suffix != SAFE:
            with open(path, "rb", opener=open_ordinary) as file:
                # torch recognises its archives by the same bytes.
                members = zipfile.ZipFile(file).infolist() if file.read(len(ZIP)) == ZIP else []
        packed = [one.filename for one in members if one.file_size > one.compress_size]
        # The parts are larger than the file if one is listed many times.
        if packed or sum(one.file_size for one in members) > path.stat().st_size:
            raise ModelError(
                f"{path.name} is compressed ({packed[0] if packed else 'its parts are larger than it is'}), as "
                "torch.save never does",
                where=folder,
                fix="save the model again.",
            )
        kinds = read_kinds(path)
    if others := [
        f"{name}: {kind}"
        for name, kind in kinds.items()
        if not FLOATS.fullmatch(kind) and not BUFFERS.search(name)
    ]:
        raise ModelError(
            f"{path.name} has weights that are no floating-point numbers ({first_of(others, 3)}): whole ones are "
            "quantised, and nothing says by which scales",
            where=folder,
            fix="dequantise them, and save the model again.",
        )


def _first_file(folder: Path, config: Mapping[str, Any]) -> Path | None:
    """The file that transformers opens first, weights or an index; the configuration may name it."""
    named = config.get("transformers_weights")
    if named is not None:
        if not isinstance(named, str) or not named.endswith(
            (".safetensors", f".safetensors{INDEX}")
        ):
            raise ModelError(
                "config.json: transformers_weights must name a safetensors file or its index.",
                where=folder,
            )
        return _file_inside(folder, named, "config.json")
    return next((folder / name for name in ORDER if os.path.lexists(folder / name)), None)


def _file_inside(folder: Path, name: str, by: str) -> Path:
    """A file of the folder by name. Only links of the Hub's own cache may lead out of the folder."""
    path = folder / name
    inside = path.resolve().is_relative_to(folder.resolve()) or _is_link_of_the_hub(
        path, folder.resolve()
    )
    if Path(name).is_absolute() or ".." in Path(name).parts or not inside:
        raise ModelError(
            f"{by} names '{name}', which is outside of the folder",
            where=folder,
            fix="move the weights into the folder.",
        )
    if not path.exists():
        raise ModelError(f"{by} names '{name}', which is missing.", where=folder)
    return path


def _is_link_of_the_hub(path: Path, folder: Path) -> bool:
    """Whether a file is the link `snapshots/REVISION/FILE -> ../../blobs/HASH` that huggingface_hub makes.

    Only this step is checked: a blob may itself link to a store that several repositories share.
    """
    if not path.is_symlink() or folder.parent.name != "snapshots":
        return False
    step = Path(os.path.normpath(path.parent.resolve() / path.readlink()))
    return (
        path.parent.resolve().is_relative_to(folder)
        and step.parent == folder.parent.parent / "blobs"
    )

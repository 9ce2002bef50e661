"""One pretraining from text to a checkpoint that `blurb run` takes."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from blurb import __version__
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.reading import hide_progress
from blurb.cost.throughput import hardware
from blurb.extensions.lab.pretraining import card, packing
from blurb.extensions.lab.pretraining.corpus import PretrainingCorpus
from blurb.extensions.lab.pretraining.inputs import PretrainingInputs
from blurb.extensions.lab.pretraining.recipe import FIRST, VERSION, Recipe
from blurb.messages.errors import SettingsError
from blurb.system.files import full_disks_told, nearest, new_folder, read_json, write_json

ABOUT = "pretraining.json"
PLAN = "recipe.json"
"""Stands in the folder before the first checkpoint, with the precision, in which every machine goes on."""


def pretrain(
    out: Path,
    corpus: PretrainingCorpus,
    recipe: Recipe,
    about: Mapping[str, Any],
    progress: bool = True,
    every: int = 0,
    callbacks: Sequence[Any] = (),
) -> Path:
    """Pretrains an encoder, or goes on with one that was killed; returns the folder of the finished one.

    :param out: folder of the checkpoints; the encoder itself is `out/model`
    :param about: what the card says of the text
    :param callbacks: of the Trainer, such as the fault of `benchmarks.faulty_run`
    :param every: updates between checkpoints that stay, beside those at 1, 2, 5, 10, 20, 50, ...
    :raises SettingsError: if the folder is of another recipe or text
    """
    recipe.check()
    recipe = replace(recipe, version=version_in(out, recipe.version))
    key = recipe.hash(corpus.hash)
    target = out / "model"
    _check(out, key)
    if (target / ABOUT).is_file():
        return target
    import torch

    from blurb.extensions.lab.pretraining import models, packing, quality, trainer

    model, tokenizer = models.build(corpus.texts, recipe)
    out.mkdir(parents=True, exist_ok=True)
    precision = _precision(out)
    write_json(out / PLAN, {"hash": key, "recipe": asdict(recipe), "precision": precision})
    learnt, aside = (packing.stream(texts, tokenizer) for texts in (_read(corpus, recipe), corpus.held_out))
    inputs = PretrainingInputs(learnt, recipe, tokenizer)
    hide_progress()
    bits = partial(quality.bits_per_byte, tokenizer=tokenizer, held_out=aside, length=recipe.length)
    folder = out / trainer.CHECKPOINTS
    flops, seconds, bf16 = _flops(model, inputs), 0.0, precision == "bf16"
    if recipe.words:
        with full_disks_told(folder):
            seconds = trainer.train(model, inputs, folder, bf16, bits, every, progress, callbacks)
    bits_per_byte = quality.measure(model.cpu().float(), tokenizer, learnt, aside, recipe.length)
    facts = {
        "recipe": asdict(recipe),
        "hash": key,
        "text": {**about, "sha256": corpus.hash, "words": corpus.words, "left out": corpus.left_out},
        "seen": _seen(inputs, flops, seconds),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "bits per byte": asdict(bits_per_byte),
        "precision": precision,
        "vocabulary": _hash_of_vocabulary(tokenizer),
        "start": Checkpoint(Path(recipe.start)).weights_hash if recipe.start else "",
        "machine": machine(),
        "environment": {"blurb": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }
    with full_disks_told(target):
        _write(target, model, tokenizer, facts)
    return target


def version_in(out: Path, asked: int = VERSION) -> int:
    """The version of pretraining in a folder: that of its start, else the one that is asked for."""
    return version_of(read_json(out / PLAN)) if (out / PLAN).is_file() else asked


def version_of(about: Mapping[str, Any]) -> int:
    """The version of the recipe with which a pretraining began, from what is written of it."""
    recipe = about.get("recipe")
    return int(recipe.get("version", FIRST)) if isinstance(recipe, dict) else VERSION


def _read(corpus: PretrainingCorpus, recipe: Recipe) -> Sequence[str]:
    """The documents that are read; the first version read all."""
    return corpus.texts if recipe.version == FIRST else packing.enough(corpus.texts, recipe.words, recipe.seed)


def _write(target: Path, model: Any, tokenizer: Any, facts: Mapping[str, Any]) -> None:
    with new_folder(target) as aside:
        aside.mkdir(parents=True)
        model.save_pretrained(aside)
        tokenizer.save_pretrained(aside)
        (aside / "README.md").write_text(card.card(facts), encoding="utf-8")
        write_json(aside / ABOUT, facts)


def _precision(out: Path) -> str:
    """That of the start; a plan without it is of a release that had all products in fp32."""
    return str(read_json(out / PLAN).get("precision", "fp32")) if (out / PLAN).is_file() else usual_precision()


def usual_precision() -> str:
    """The precision of a pretraining that begins on this machine."""
    import torch

    from blurb.training.hardware import choose_precision

    return choose_precision("auto", torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def _hash_of_vocabulary(tokenizer: Any) -> str:
    entries = json.dumps(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(entries.encode()).hexdigest()[:16]


def _flops(model: Any, inputs: PretrainingInputs) -> int:
    """Of the whole pretraining: those of the update in the middle, where a rising mask rate has its mean, for each."""
    from blurb.extensions.lab.pretraining import objective, trainer

    if not inputs.updates:
        return 0
    return inputs.updates * objective.flops(model, trainer.collate(inputs.update(inputs.updates // 2)))


def machine() -> dict[str, Any]:
    """The kind of machine, by which a time that was measured is good for another pretraining."""
    import torch

    from blurb.training.hardware import choose_device

    return {"hardware": hardware(str(choose_device("auto"))), "threads": torch.get_num_threads()}


def _seen(inputs: PretrainingInputs, flops: int, seconds: float) -> dict[str, Any]:
    """What was read in a pretraining, and what it took."""
    return {
        "words": round(inputs.words_per_update * inputs.updates),
        "epochs": round(len(inputs) / len(inputs.slices), 2),
        "tokens": len(inputs) * inputs.recipe.length,
        "updates": inputs.updates,
        "flops": flops,
        "seconds": round(seconds, 1),
    }


def _check(out: Path, key: str) -> None:
    """Nobody goes on with the checkpoints of another recipe."""
    if (out / PLAN).is_file():
        if read_json(out / PLAN).get("hash") != key:
            raise SettingsError("is of another recipe or text", where=out, fix="take another folder.")
    elif out.exists() and any(out.iterdir()):
        raise SettingsError("is not empty, and no pretraining", where=out, fix="take another folder.")
    elif not nearest(out).is_dir():
        raise SettingsError("cannot be made: a file is in the way", where=out)

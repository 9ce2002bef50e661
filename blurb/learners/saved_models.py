"""Trained models on disk: a folder whose files a kind of learner writes, with `blurb.json` and a seal."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.learners import DEFAULT, kinds
from blurb.messages import ModelError, opt
from blurb.system.files import copy_file, damaged_files, read_json, seal_folder, write_json

if TYPE_CHECKING:
    from blurb.learners.base import Learner

Restore = Callable[[Path, str, bool], tuple["Learner", dict[str, Any]]]
FOLDER = "model"
"""Name of the model's folder within that of a trial."""
ABOUT = "blurb.json"
LONGEST = 2**31
"""Bound of `max_length`, in tokens."""


def is_kept(trial: Path) -> bool:
    """Whether the folder of a trial has its model, undamaged."""
    return (trial / FOLDER).is_dir() and not damaged_files(trial / FOLDER)


def read_about(folder: Path, schema: int, fields: Mapping[str, type]) -> dict[str, Any]:
    """`blurb.json` of a kept model whose files are whole.

    :param fields: what must be in it, each with its type
    :raises ModelError: if a file is missing or damaged, or `blurb.json` is not what a `save` writes
    """
    if lost := damaged_files(folder):
        raise ModelError(
            f"{', '.join(lost)} missing or damaged",
            where=folder,
            fix=f"remove the folder and run the trial again with {opt('keep-model', 'best')}.",
        )
    about = read_json(folder / ABOUT)
    if about.get("schema") != schema:
        raise ModelError(
            f"its schema has version {about.get('schema')}, but this version of blurb reads {schema}",
            where=folder / ABOUT,
        )
    for name, kind in fields.items():
        if type(about.get(name)) is not kind:
            raise ModelError(
                f"'{name}' must be of type {kind.__name__} (got {about.get(name)!r})",
                where=folder / ABOUT,
            )
    if not 0 < about["max_length"] < LONGEST:
        raise ModelError(
            f"'max_length' must be at least 1 (got {about['max_length']})", where=folder / ABOUT
        )
    return about


def copy_as(model: str, folder: Path, target: Path) -> None:
    """Copies a kept model under the name of another model; a damaged one is copied unchanged.

    :param target: is created
    """
    shutil.copytree(folder, target, copy_function=copy_file)
    if not damaged_files(folder):
        write_json(target / ABOUT, {**read_json(target / ABOUT), "model": model})
        seal_folder(target)


def load(folder: Path, device: str, remote_code: bool) -> tuple[Learner, dict[str, Any]]:
    """A kept model, ready to predict, and its `blurb.json`, which names the kind of learner (`learner`).

    :param remote_code: whether a person allowed the Python files in it; its own content allows nothing
    :raises ModelError: if it is missing or damaged, or needs code that was not allowed
    """
    name = read_json(folder / ABOUT).get("learner", "") if (folder / ABOUT).is_file() else ""
    restore: Restore = kinds.get(str(name) or DEFAULT.name).load("restore")
    return restore(folder, device, remote_code)

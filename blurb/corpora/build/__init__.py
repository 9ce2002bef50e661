"""From the original releases to the BLURB layout, byte for byte as BLURB's own data_generation kit writes it.

A builder is a function `(release, task) -> {split: text of the file}`, named in the task's declaration; it raises
MissingRelease for what is not there and DataError (file, line or member) for what is not as it should be. All else,
writing, verifying and the manifest, is the same for all and is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from blurb.corpora import manifest
from blurb.corpora.build._write import write, written_aside
from blurb.corpora.releases import MissingRelease, MissingTool, Release
from blurb.data.verify import Verification, examine
from blurb.errors import DataError
from blurb.registry import load_object
from blurb.tasks import SPLITS, Split, Task

__all__ = ["Builder", "MissingRelease", "MissingTool", "builder", "prepare"]

Builder = Callable[[Release, Task], Mapping[Split, str]]


def builder(task: Task) -> Builder:
    """The function that the task's declaration names; DataError if it names none (a plug-in's need not)."""
    if not task.builder:
        raise DataError(f"{task.title} says nothing about how its files are made: put them there by hand.")
    found: Builder = load_object(task.builder, f"builder of {task.name}")
    return found


def prepare(task: Task, raw: Path, out: Path, nltk_data: Path | None = None) -> tuple[Verification, list[str]]:
    """Makes the files of a task below `out` and verifies them; also what the builder has to say.

    Nothing below `out` changes unless all splits were made, written and read back; the manifest follows when the files
    are in place. Files of others in the dataset's folder are kept.

    :param raw: folder with the original releases, wherever they lie in it
    :raises MissingRelease: the release is not there, or not all of it
    :raises MissingTool: what reads it is not installed
    :raises DataError: it is broken, or `out` cannot be written
    """
    build = builder(task)
    release = Release(raw, nltk_data)
    texts = build(release, task)
    with written_aside(out, manifest.home(task)) as aside:
        for split in SPLITS:
            write(aside / task.files[split], texts[split], within=aside)
        found = examine(task, aside, trust=False)
        if found.errors:
            where = found.errors[0].replace(f"{aside}/", "")
            raise DataError(f"what was made of the originals of {task.title} is not in BLURB's layout: {where}", raw)
        entry = manifest.entry(aside, found, release)
    return found, [*release.notes, *manifest.update(out, task.name, entry)]

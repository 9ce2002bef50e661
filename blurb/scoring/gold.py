"""The examples that predictions are scored on, and what is known of their data."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb import __version__, formulations
from blurb.data.loading import identity, path_of, read_split
from blurb.data.schema import Example
from blurb.messages.errors import BlurbError
from blurb.store import plugins
from blurb.system.cache import home
from blurb.system.files import read_json, write_json
from blurb.tasks import SPLITS, Split, Task

FOLDER = "verdicts"
"""Folder of the cache."""


@dataclass(frozen=True)
class DataFacts:
    """What scoring has to know of all splits of a dataset.

    :param hash: data hash, as trials have it; "" if a split is missing
    :param verdict: whether the splits at hand are BLURB's (`blurb.data.loading`)
    :param majority: the most frequent answer of train; None without train
    :param missing: splits without a file; scores need none but that of the predictions
    """

    hash: str
    verdict: str
    majority: Any
    missing: Sequence[Split] = ()


def facts(task: Task, folder: Path) -> DataFacts:
    """The facts of a dataset, kept in the cache until one of its files changes.

    :raises DataError: if a file is missing or invalid
    """
    paths = {split: path_of(task, folder, split) for split in SPLITS}
    place = home() / FOLDER / f"{_key(task, paths)}.json"
    with contextlib.suppress(BlurbError, OSError, TypeError):
        return DataFacts(**read_json(place))
    rows = {split: read_split(task, folder, split) for split in SPLITS if paths[split].exists()}
    digest, verdict = identity(task, rows)
    formulation = formulations.bind(task)
    majority = formulation.constants(formulation.units(rows["train"]))[0] if "train" in rows else None
    missing = [split for split in SPLITS if split not in rows]
    known = DataFacts("" if missing else digest, verdict, majority, missing)
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_json(place, dataclasses.asdict(known))
    return known


def _key(task: Task, paths: Mapping[Split, Path]) -> str:
    """Changes with the files, the declaration of the task, and the code that reads them."""
    stamps = []
    for path in paths.values():
        with contextlib.suppress(OSError):
            status = path.stat()
            stamps.append([str(path.absolute()), status.st_size, status.st_mtime_ns, status.st_ino])
    declared = repr(sorted(dataclasses.asdict(task).items()))
    content = json.dumps([__version__, plugins.of_formulation(task), declared, stamps])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def units(formulation: formulations.Formulation, folder: Path, split: Split) -> list[Example]:
    """The examples of a split as the formulation cuts them."""
    return formulation.units(read_split(formulation.task, folder, split))

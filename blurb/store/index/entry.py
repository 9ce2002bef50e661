"""An entry of the index: what is known of a finished trial, and of its folder when it was read."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from blurb.messages.errors import StoreError
from blurb.store.provenance import Provenance
from blurb.store.record import Record, admits
from blurb.store.store import FILES
from blurb.tasks import SCORED, Split, Task

if TYPE_CHECKING:
    from blurb.store.index.segments import Segment

STAMP = 16
"""Bytes of a stamp."""
EXACT = 2**53
"""Whole numbers up to this are exact as floating-point numbers."""


@dataclass(frozen=True)
class TrialFacts:
    """What is known of a trial but for its figures and times; trials that differ in the seed alone share it.

    :param metric: the main metric
    :param scores: split -> names of the metrics, in the order of the figures
    :param majority: the same, of the majority answer, whose figures follow
    :param data: hash of the data, and `verdict` on it
    :param declaration: of the task, if that came from a file
    :param environment: device, threads and cpus
    :param predicted: learner and type of its estimate, if there was one
    """

    metric: str
    metrics_version: Any
    scores: Mapping[str, list[str]]
    majority: Mapping[str, list[str]]
    data: str
    verdict: str
    settings: Mapping[str, Any]
    declaration: Mapping[str, Any] | None
    environment: Mapping[str, Any]
    predicted: list[str] | None

    @cached_property
    def places(self) -> Mapping[Split, Mapping[str, tuple[int, int | None]]]:
        """Split -> metric -> place of its figure, and of that of the majority answer."""
        starts, count = {}, 0
        for names in (self.scores, self.majority):
            for split in SCORED:
                starts[split, names is self.scores] = count
                count += len(names[split])
        return {
            split: {
                name: (starts[split, True] + place, _of_majority(self.majority[split], name, starts[split, False]))
                for place, name in enumerate(self.scores[split])
            }
            for split in SCORED
        }

    @cached_property
    def names(self) -> list[str]:
        """The name of each figure of a trial, in order."""
        return [name for names in (self.scores, self.majority) for split in SCORED for name in names[split]]

    @property
    def size(self) -> int:
        """The number of figures of a trial."""
        return len(self.names)

    @property
    def text(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True)

    def task(self, name: str) -> Task:
        """The task of that name; of a task file, as it was declared when the trial ran."""
        return Provenance(declaration=self.declaration).task(name)


class IndexEntry:
    """A row of a segment; light, as a store may have very many."""

    __slots__ = ("facts", "row", "segment", "start")

    def __init__(self, segment: Segment, row: int) -> None:
        self.segment = segment
        self.row = row
        self.facts = segment.facts[segment.codes[row]]
        self.start = segment.starts[row]

    @property
    def stamp(self) -> bytes:
        """Of its files (`stamp`)."""
        return bytes(self.segment.stamps[STAMP * self.row : STAMP * (self.row + 1)])

    @property
    def key(self) -> str:
        """Folder of the model, task and hash, with slashes."""
        return self.segment.keys[self.row]

    def figure(self, place: int) -> float:
        """The figure at a place of its facts."""
        return self.segment.figures[self.start + place]

    def value(self, column: str) -> Any:
        """One of `started`, `train_seconds`, `predict_seconds` and `predicted`; None if it is not known."""
        return self.segment.batch.column(column)[self.row].as_py()


def time_of(folder: str) -> int | None:
    """The modification time of a folder, which changes when a file in it is replaced; None if it is not there."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return None


def stamp(folder: str) -> bytes:
    """Size and modification time of every file of a trial, as a hash; of a file that is missing, zeros."""
    return hashlib.blake2b(b"".join(_sizes(folder)), digest_size=STAMP).digest()


def _sizes(folder: str) -> Iterator[bytes]:
    for name in (*FILES, "DONE.json"):
        try:
            found = os.stat(f"{folder}/{name}")
            yield struct.pack("<qq", found.st_size, found.st_mtime_ns)
        except OSError:
            yield bytes(16)


def of_record(record: Record) -> dict[str, Any]:
    """The content of an entry but for the state of the folder, read from the files of a trial.

    :raises StoreError: if they cannot be understood
    """
    try:
        provenance, metrics = record.provenance, record.metrics
        scores: dict[str, list[str]] = {split: list(metrics[split]) for split in SCORED}
        majority: dict[str, list[str]] = {split: list(metrics["majority"][split]) for split in SCORED}
        facts = TrialFacts(
            str(metrics["metric"]),
            metrics["metrics_version"],
            scores,
            majority,
            record.trial.data,
            provenance.data_verdict,
            record.trial.settings,
            provenance.declaration,
            {name: provenance.environment.get(name) for name in ("device", "threads", "cpus")},
            [provenance.predicted.learner, provenance.predicted.type] if provenance.predicted else None,
        )
        task = record.trial.task
        figures = [_number(metrics[split][name], task, name) for split in SCORED for name in scores[split]]
        given = metrics["majority"]
        figures += [_number(given[split][name], task, name) for split in SCORED for name in majority[split]]
        return {
            "about": facts.text,
            "figures": figures,
            "started": str(provenance.started).encode(errors="replace").decode(),
            "train_seconds": provenance.train_seconds,
            "predict_seconds": provenance.predict_seconds,
            "predicted": provenance.predicted.seconds if provenance.predicted else None,
        }
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise StoreError(f"{record.path} cannot be understood ({type(error).__name__}: {error}).") from error


def _number(value: Any, task: str, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= EXACT:
        raise ValueError(f"{value!r} is no figure")
    if not admits(task, name, value):
        raise ValueError(f"{name} of {task} cannot be {value!r}")
    return float(value)


def _of_majority(names: list[str], name: str, start: int) -> int | None:
    return start + names.index(name) if name in names else None


def facts_of(text: str) -> TrialFacts:
    """The facts of a text; ValueError, TypeError or KeyError if it has none."""
    facts = TrialFacts(**json.loads(text))
    _ = facts.places
    texts = (facts.metric, facts.data, facts.verdict)
    mappings = (facts.settings, facts.environment, {} if facts.declaration is None else facts.declaration)
    if not (all(isinstance(each, str) for each in texts) and all(isinstance(each, dict) for each in mappings)):
        raise TypeError("a fact has the wrong type")
    return facts

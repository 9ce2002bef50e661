"""Compares measured and predicted times of finished trials, by kind of learner and type of task."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb.messages.errors import StoreError
from blurb.store import index, provenance
from blurb.store.index import Entry
from blurb.store.provenance import Predicted

UNKNOWN, LEAST, MOST = 0.4, 0.1, 2.0
"""Relative spread of a prediction: without history, at best, and at worst (a factor of three both ways)."""
ENOUGH = 3
"""Finished trials of a type that correct a prediction in full; of fewer, each corrects by its share of so many, as the
machine may have been busy at the time."""
SHORT = 10.0
"""Predicted seconds below which a trial does not correct longer ones: what it took was mostly its start."""


@dataclass(frozen=True)
class Correction:
    """The factor for a predicted time.

    :param spread: the time is likely between `seconds / (1 + spread)` and `seconds * (1 + spread)`
    :param trials: number of finished trials behind it
    """

    factor: float = 1.0
    spread: float = UNKNOWN
    trials: int = 0


@dataclass(frozen=True)
class History:
    """Ratios of measured to predicted seconds of finished trials.

    :param ratios: by kind of learner and type of task
    :param short: the same of trials that were predicted to be `SHORT`
    """

    ratios: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)
    short: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)

    def correction(self, learner: str, type_: str) -> Correction:
        """The correction from trials of that learner and type; all others of the learner only widen the range.

        With n trials below `ENOUGH` the factor is their geometric mean to the power n / `ENOUGH`, and the range has
        both ends: no correction, and the whole of it.
        """
        own = self.ratios.get((learner, type_), [])
        if len(own) >= ENOUGH:
            mean, spread = _spread(own)
            return Correction(mean, min(MOST, max(LEAST, spread)), len(own))
        others = [
            ratio
            for table in (self.ratios, self.short)
            for (kind, _), ratios in table.items()
            if kind == learner
            for ratio in ratios
        ]
        factor = _spread(own)[0] ** (len(own) / ENOUGH) if own else 1.0
        off = [abs(math.log(ratio / factor)) for ratio in others]
        widened = math.expm1(math.sqrt(statistics.fmean(each**2 for each in off))) if off else 0.0
        return Correction(factor, min(MOST, max(UNKNOWN, widened)), len(own))


def _spread(ratios: list[float]) -> tuple[float, float]:
    """Geometric mean and relative standard deviation."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.mean(logs)), math.expm1(statistics.stdev(logs)) if len(logs) > 1 else 0.0


def read(root: Path, predicted: Mapping[Path, tuple[str, str, float]], environment: Mapping[str, Any]) -> History:
    """The history of a store, limited to trials on the same kind of device with the same number of threads.

    :param predicted: kind, type and predicted seconds of known trials, by folder; for others the provenance counts
    """
    found: dict[tuple[str, str], list[float]] = {}
    short: dict[tuple[str, str], list[float]] = {}
    for path, foreseen, taken in _finished(root, environment):
        kind, type_, seconds = predicted.get(path) or foreseen or ("", "", 0.0)
        if seconds > 0 and taken > 0:
            (short if seconds < SHORT else found).setdefault((kind, type_), []).append(taken / seconds)
    return History(found, short)


def _finished(root: Path, environment: Mapping[str, Any]) -> Iterator[tuple[Path, Predicted | None, float]]:
    """The trials of such an environment, with what was predicted and the seconds that they took."""
    known = index.of(root)
    for done in sorted(root.glob("[!.]*/[!.]*/[!.]*/DONE.json")):
        with contextlib.suppress(StoreError):  # damage is told by others
            entry = known.find(index.key_of(done.parent))
            there, predicted, taken = _of_folder(done.parent) if entry is None else _of_entry(entry)
            if all(there.get(name) == environment[name] for name in ("device", "threads", "cpus")):
                yield done.parent, predicted, taken


Found = tuple[Mapping[str, Any], Predicted | None, float]
"""Environment, what was predicted, and the seconds of training and prediction."""


def _of_folder(path: Path) -> Found:
    made = provenance.read(path)
    return made.environment, made.predicted, (made.train_seconds or 0.0) + (made.predict_seconds or 0.0)


def _of_entry(entry: Entry) -> Found:
    facts = entry.facts
    learner, type_ = facts.predicted or ("", "")
    predicted = Predicted(learner, type_, entry.value("predicted")) if facts.predicted else None
    return facts.environment, predicted, sum(entry.value(name) or 0.0 for name in ("train_seconds", "predict_seconds"))

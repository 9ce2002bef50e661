"""Compares measured and predicted times of finished trials, by kind of learner and type of task."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb.messages.errors import StoreError
from blurb.store import index, provenance
from blurb.store.index import IndexEntry
from blurb.store.provenance import PredictedCost

ENOUGH = 3
"""Finished trials of a type that correct a prediction in full; of fewer, each corrects by its share of so many, as the
machine may have been busy at the time."""
SHORT = 10.0
"""Predicted seconds below which a trial does not correct longer ones: what it took was mostly its start."""

ROUNDED = 0.01
"""The measured times are rounded to so many seconds; a trial that took less is known nevertheless."""


@dataclass(frozen=True)
class Correction:
    """The factor for a predicted time.

    :param trials: number of finished trials behind it
    """

    factor: float = 1.0
    trials: int = 0


@dataclass(frozen=True)
class History:
    """Ratios of measured to predicted seconds of finished trials, and all measured seconds.

    :param ratios: by kind of learner and type of task, as `seconds`
    """

    ratios: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)
    seconds: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)

    def correction(self, learner: str, type_: str) -> Correction:
        """The correction from trials of that learner and type: their geometric mean, of n below `ENOUGH` to the power
        n / `ENOUGH`.
        """
        ratios = self.ratios.get((learner, type_))
        if not ratios:
            return Correction()
        return Correction(statistics.geometric_mean(ratios) ** min(1.0, len(ratios) / ENOUGH), len(ratios))


def read(root: Path, predicted: Mapping[Path, tuple[str, str, float]], environment: Mapping[str, Any]) -> History:
    """The history of a store, limited to trials on the same kind of device with the same number of threads.

    :param predicted: kind, type and predicted seconds of known trials, by folder; for others the provenance counts
    """
    ratios: dict[tuple[str, str], list[float]] = {}
    measured: dict[tuple[str, str], list[float]] = {}
    for path, foreseen, taken in _finished(root, environment):
        kind, type_, seconds = predicted.get(path) or foreseen or ("", "", 0.0)
        measured.setdefault((kind, type_), []).append(max(taken, ROUNDED))
        if seconds >= SHORT and taken > 0:
            ratios.setdefault((kind, type_), []).append(taken / seconds)
    return History(ratios, measured)


def _finished(root: Path, environment: Mapping[str, Any]) -> Iterator[tuple[Path, PredictedCost | None, float]]:
    """The trials of such an environment, with what was predicted and the seconds that they took."""
    known = index.of(root)
    for done in sorted(root.glob("[!.]*/[!.]*/[!.]*/DONE.json")):
        with contextlib.suppress(StoreError):  # damage is told by others
            entry = known.find(index.key_of(done.parent))
            there, predicted, taken = _of_folder(done.parent) if entry is None else _of_entry(entry)
            if all(there.get(name) == environment[name] for name in ("device", "threads", "cpus")):
                yield done.parent, predicted, taken


Found = tuple[Mapping[str, Any], PredictedCost | None, float]
"""Environment, what was predicted, and the seconds of training and prediction."""


def _of_folder(path: Path) -> Found:
    made = provenance.read(path)
    return made.environment, made.predicted, (made.train_seconds or 0.0) + (made.predict_seconds or 0.0)


def _of_entry(entry: IndexEntry) -> Found:
    facts = entry.facts
    learner, type_ = facts.predicted or ("", "")
    predicted = PredictedCost(learner, type_, entry.value("predicted")) if facts.predicted else None
    return facts.environment, predicted, sum(entry.value(name) or 0.0 for name in ("train_seconds", "predict_seconds"))

"""What finished trials of a store took beside what was predicted for them, by kind of learner and type of task."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb.errors import StoreError
from blurb.runs import provenance
from blurb.runs.provenance import Provenance

UNKNOWN, KINDRED, LEAST = 0.4, 0.25, 0.1
"""Relative spread of a prediction without history, with that of other types of task, and at best."""
ENOUGH = 3
"""Fewer trials tell a factor and no spread: the machine may have been busy just then."""


@dataclass(frozen=True)
class Correction:
    """What a predicted time is multiplied with.

    :param spread: the time is likely between `seconds / (1 + spread)` and `seconds * (1 + spread)`
    :param trials: number of finished trials that it rests on
    """

    factor: float = 1.0
    spread: float = UNKNOWN
    trials: int = 0


@dataclass(frozen=True)
class History:
    """Measured to predicted seconds of finished trials.

    :param ratios: by kind of learner and type of task
    """

    ratios: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)

    def correction(self, learner: str, type_: str) -> Correction:
        """From trials of that type; where there are none, from the learner's trials of others."""
        own = self.ratios.get((learner, type_), [])
        if own:
            mean, spread = _spread(own)
            return Correction(mean, max(LEAST, spread) if len(own) >= ENOUGH else UNKNOWN, len(own))
        others = [ratio for (kind, _), ratios in self.ratios.items() if kind == learner for ratio in ratios]
        if others:
            mean, spread = _spread(others)
            return Correction(mean, max(KINDRED, spread) if len(others) >= ENOUGH else UNKNOWN, len(others))
        return Correction()


def _spread(ratios: list[float]) -> tuple[float, float]:
    """Geometric mean, and standard deviation in relation to it."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.mean(logs)), math.expm1(statistics.stdev(logs)) if len(logs) > 1 else 0.0


def read(root: Path, predicted: Mapping[Path, tuple[str, str, float]], environment: Mapping[str, Any]) -> History:
    """The history of a store, of trials that ran on a device like this one with as many threads.

    :param predicted: kind, type and predicted seconds of trials that are known now, by their folder; what a trial's
        provenance says of itself is used for the others
    """
    found: dict[tuple[str, str], list[float]] = {}
    for path, made in _finished(root, environment):
        kind, type_, seconds = predicted.get(path) or made.predicted or ("", "", 0.0)
        taken = (made.train_seconds or 0.0) + (made.predict_seconds or 0.0)
        if seconds > 0 and taken > 0:
            found.setdefault((kind, type_), []).append(taken / seconds)
    return History(found)


def _finished(root: Path, environment: Mapping[str, Any]) -> Iterator[tuple[Path, Provenance]]:
    for done in sorted(root.glob("*/*/*/DONE.json")):
        with contextlib.suppress(StoreError):  # damage is told by others
            made = provenance.read(done.parent)
            if all(made.environment.get(name) == environment[name] for name in ("device", "threads", "cpus")):
                yield done.parent, made

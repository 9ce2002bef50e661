"""A checkpoint of a run with what its own files say, and the curves of a series, with their trend and their noise."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blurb import names
from blurb.extensions.series import smoothing
from blurb.extensions.series.smoothing import Floats, Measure, Noise, Peak
from blurb.grouping import by_key
from blurb.messages import BlurbError
from blurb.metrics._metric import LOSSES
from blurb.results.predictions import equals_a_constant
from blurb.results.row import Row
from blurb.statistics.welch import half_width, t_critical
from blurb.store.record import clip_interval
from blurb.system.files import read_json
from blurb.tasks import Split

LARGEST = 1e300
MOST_COUNT = 10**15
"""Of updates, words and tokens: a larger one is no count, and no float has it whole."""
NUMBER = re.compile(r"[0-9]+")
STATE = "trainer_state.json"
FIGURES = "quality.json"
"""Figures of a checkpoint that whoever pretrains wrote beside it, such as `{"bits per byte": 1.61}`."""
PLAN = "recipe.json"
"""A file above the checkpoints that says how many words the whole run reads."""


@dataclass(frozen=True)
class Step:
    """A checkpoint of a run.

    :param reference: what `blurb run` takes for it: an absolute folder, as a relative one that is rotated away would be
        looked up on the Hub, or `org/model@revision`
    :param words: of text seen by then; None if its files do not say it
    :param tokens: likewise
    :param planned: updates of the whole run
    :param figures: of the pretraining itself: bits per byte, loss
    """

    run: str
    step: int
    reference: str
    words: int | None = None
    tokens: int | None = None
    planned: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """`run@step`, the model name of its rows."""
        return names.checkpoint(self.run, self.step)

    def earlier(self, step: int) -> Step:
        """A checkpoint of the same run that is gone: words as planned for it, and nothing else."""
        return Step(
            self.run,
            step,
            "",
            self.words and round(self.words * step / self.step),
            planned=self.planned,
        )


def number(name: str) -> int | None:
    """The step in the name of a folder or revision: its last number; None without any.

    >>> number("checkpoint-5000"), number("step_200-ema"), number("final")
    (5000, 200, None)
    """
    found = NUMBER.findall(name)
    return int(found[-1]) if found and len(found[-1]) < 16 else None


def numbers_beside(step: Step) -> set[int]:
    """The steps in the names of all folders beside a checkpoint, whole ones and others."""
    paths = Path(step.reference).parent.glob("*")
    return {there for path in paths if (there := number(path.name)) is not None}


def read(run: str, step: int, folder: Path) -> Step:
    """The checkpoint in a folder, with what its files say; what they do not say, or not legibly, is unknown."""
    state = json_of(folder / STATE)
    planned = _count(state.get("max_steps"))
    plans = [json_of(place / PLAN).get("recipe") for place in folder.parents[:2]]
    words = next(
        (_count(plan.get("words")) for plan in plans if plan and isinstance(plan, dict)), None
    )
    losses = [loss for at, loss in logged_losses(state).items() if at <= step]
    figures = {"training loss": float(losses[-1])} if losses and is_number(losses[-1]) else {}
    own = {
        name: float(value) for name, value in json_of(folder / FIGURES).items() if is_number(value)
    }
    return Step(
        run,
        step,
        reference=str(folder.absolute()),
        words=round(words * step / planned) if words and planned else None,
        tokens=_count(state.get("num_input_tokens_seen")),
        planned=planned,
        figures={**own, **figures},
    )


def logged_losses(state: Mapping[str, Any]) -> dict[int, Any]:
    """Step -> training loss, as a Trainer logged it; entries without a step are left out."""
    entries = state.get("log_history")
    return {
        entry["step"]: entry["loss"]
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("step"), int) and "loss" in entry
    }


def is_number(value: Any) -> bool:
    """Whether a curve can show a value: a whole number of hundreds of digits is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _count(value: Any) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST_COUNT
        else None
    )


def json_of(file: Path) -> Mapping[str, Any]:
    """The content of a file; {} if it is not there, or cannot be read."""
    try:
        return read_json(file, with_nan=True) if file.is_file() else {}
    except (BlurbError, OSError):
        return {}


MEAN = "mean"


@dataclass(frozen=True)
class Scored:
    """A checkpoint with its row; None while it has none, or where its trials failed."""

    step: Step
    row: Row | None = None

    def lacks(self, datasets: Sequence[str]) -> list[str]:
        """The datasets that its row has no run of, as a trial failed; none without a row."""
        if self.row is None:
            return []
        there = self.row.datasets
        return [name for name in datasets if name not in there or not there[name].runs]


@dataclass(frozen=True)
class Point:
    """A value at a step: the mean over fine-tunings, half of its 95 % interval (None for one), and their number.

    :param constant: whether it is the score of a constant answer
    """

    step: Step
    value: float
    half: float | None
    runs: int
    constant: bool = False


@dataclass(frozen=True)
class Curve:
    """A measure of one run over its steps.

    :param dataset: name, `mean` over the datasets of the series, or name of a figure of the pretraining
    :param holes: steps without a value
    """

    run: str
    dataset: str
    measure: Measure
    points: tuple[Point, ...]
    holes: tuple[Step, ...] = ()

    @property
    def sign(self) -> int:
        """1 if higher is better, or if nobody knows; -1 if lower is."""
        return self.measure.direction(self.dataset) or 1

    def place_and_value(self, logarithmic: bool) -> tuple[Floats, Floats]:
        """Places and values, upwards where better."""
        places = smoothing.axis_places([point.step.step for point in self.points], logarithmic)
        return places, self.sign * np.asarray([point.value for point in self.points])


@dataclass(frozen=True)
class Family:
    """The curves of all runs for one measure of one dataset: their noise is pooled within the runs.

    :param logarithmic: whether the steps are drawn and smoothed on a logarithmic axis
    """

    dataset: str
    measure: Measure
    curves: tuple[Curve, ...]
    logarithmic: bool

    def ends(self, value: float, half: float) -> tuple[float, float]:
        """The ends of an interval, within what the measure can be."""
        low, high = value - half, value + half
        if self.measure is Measure.SCORE:
            return clip_interval(low, high, self.dataset)
        return (max(0.0, low) if self.measure is Measure.LOSS else low), high

    @cached_property
    def _pairs(self) -> list[tuple[Floats, Floats]]:
        return [curve.place_and_value(self.logarithmic) for curve in self.curves]

    @cached_property
    def noise(self) -> Noise | None:
        """The noise within runs; None with too few checkpoints."""
        return smoothing.noise(self._pairs)

    @property
    def signal_to_noise(self) -> float | None:
        """The range of the trend in standard deviations of the noise."""
        return smoothing.signal_to_noise(self._pairs, self.noise)

    @cached_property
    def by_chance(self) -> float | None:
        """The ratio that runs without any trend exceed in a twentieth of cases."""
        return smoothing.ratio_by_chance(self._pairs, self.noise)

    @property
    def seen(self) -> bool | None:
        """Whether the trend is more than noise, at 5 %; None with too few checkpoints."""
        ratio, chance = self.signal_to_noise, self.by_chance
        return None if ratio is None or chance is None else ratio > chance

    def falls(self, level: float) -> Iterator[tuple[Curve, int, float, float]]:
        """Curve, place before it and size of each fall beyond noise, and the size that noise alone exceeds at a level.

        A jump counts as noise of the checkpoints beside it, too, so it has to be the larger the shorter the curves are.
        None for figures of which nobody knows whether higher or lower is better.
        """
        if self.noise is None or self.measure.direction(self.dataset) is None:
            return
        limit = max(
            smoothing.fall_by_chance(self._pairs, level) * self.noise.deviation, smoothing.ROUNDING
        )
        for curve, (_, values) in zip(self.curves, self._pairs, strict=True):
            if len(values) < smoothing.LEAST:
                continue  # no noise was drawn for so short a curve
            for place in np.flatnonzero(values[:-1] - values[1:] > limit):
                yield curve, int(place), float(values[place] - values[place + 1]), limit

    def best(self, curve: Curve) -> Peak:
        """Where the trend of a curve is best."""
        return smoothing.best(*curve.place_and_value(self.logarithmic), self.noise)

    def trend(self, curve: Curve) -> tuple[Floats, Floats | None]:
        """The trend at the points of a curve, in the units of the measure, and half of its 95 % interval."""
        places, values = curve.place_and_value(self.logarithmic)
        weights = smoothing.smoother(places)
        trend = curve.sign * (weights @ values)
        if self.noise is None:
            return trend, None
        width = t_critical(self.noise.freedom) * self.noise.deviation
        return trend, width * np.linalg.norm(weights, axis=1)


def families(scored: Sequence[Scored], datasets: Sequence[str], split: Split) -> Iterator[Family]:
    """All curves: the mean and each dataset by score, each dataset by loss, then the figures of the pretraining."""
    figures = dict.fromkeys(key for checkpoint in scored for key in checkpoint.step.figures)
    requested = [
        *((name, Measure.SCORE) for name in ([MEAN, *datasets] if len(datasets) > 1 else datasets)),
        *((name, Measure.LOSS) for name in datasets),
        *((name, Measure.FIGURE) for name in figures),
    ]
    runs = by_key((checkpoint.step.run, checkpoint) for checkpoint in scored)
    spaced = smoothing.needs_log_axis(*([each.step.step for each in own] for own in runs.values()))
    for dataset, measure in requested:
        curves = []
        for run, own in runs.items():
            values = [(each, _values(each, dataset, measure, datasets, split)) for each in own]
            points = tuple(
                Point(
                    checkpoint.step,
                    statistics.fmean(there),
                    half_width(there),
                    len(there),
                    measure is Measure.SCORE and equals_a_constant(checkpoint.row, dataset, split),
                )
                for checkpoint, there in values
                if there
            )
            if points:
                holes = tuple(checkpoint.step for checkpoint, there in values if not there)
                curves.append(Curve(run, dataset, measure, points, holes))
        if curves:
            yield Family(dataset, measure, tuple(curves), spaced)


def _values(
    checkpoint: Scored, dataset: str, measure: Measure, datasets: Sequence[str], split: Split
) -> list[float]:
    """The values of all fine-tunings of a checkpoint."""
    if measure is Measure.FIGURE:
        return [checkpoint.step.figures[dataset]] if dataset in checkpoint.step.figures else []
    if checkpoint.row is None:
        return []
    if dataset == MEAN:
        return checkpoint.row.mean_values(datasets, split)
    if measure is Measure.SCORE:
        return checkpoint.row.values(dataset, split)
    return losses(checkpoint.row, dataset)


def losses(row: Row, task: str) -> list[float]:
    """The loss of the head on dev of each fine-tuning, by seed; empty for learners that give none."""
    runs = row.datasets[task].runs if task in row.datasets else {}
    return [
        figure.value
        for _, run in sorted(runs.items())
        for name, figure in run.figures.get("dev", {}).items()
        if name in LOSSES
    ]

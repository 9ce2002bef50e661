"""Small charts as inline SVG, whose elements are in `charts.html`; what is here are their places.

Colours are classes of the style sheet, so that they follow the light or dark theme.
The task-type means of all rows are one dot plot: a lane a mean, a dot a row, on one axis. Its places are per cent of
the width, so that it is as wide as the window while its dots keep their size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from blurb.extensions.reports.html import environment
from blurb.extensions.reports.html.model import PageRow, SeriesChart
from blurb.leaderboard.intervals import Value
from blurb.leaderboard.terminal import SHORT
from blurb.tasks import TWELVE, TYPES

WIDTH = 340
"""Width of every chart, in units that equal pixels on a phone, so that text keeps its size there."""
LABELS = 148
"""Width of the names beside the lanes."""
TOP, LANE = 6, 15
"""Above the first lane, and height of a lane."""
LETTERS = 26
MADE = 14
"""Maximum letters of a configuration beside the name of its model."""
CURVES = 116
START, END = 36, WIDTH - 8
"""Horizontal ends of curves."""
FEW = 60
"""Maximum number of curves drawn with half-pixel precision."""
HEIGHT = 30
STEP = 4
"""Distance of dots that would lie on each other."""
BIN = 0.75
"""Dots within this many per cent of the width are set apart."""
RADIUS = 3.5


class Axis:
    """A linear axis with round marks."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        pad = 0.06 * (high - low) or 1.0
        # No room below 0 where nothing is negative.
        self.low, self.high = max(low - pad, min(low, 0.0)), high + pad
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def marks(self, count: int = 4) -> list[float]:
        """At most `count` + 1 round values within the axis."""
        raw = (self.high - self.low) / count
        power = 10 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]


@cache
def _charts() -> Any:
    return environment().get_template("charts.html", globals=globals()).module


def _draw(macro: str, *values: Any) -> Markup:
    """A chart of `charts.html`."""
    return Markup(getattr(_charts(), macro)(*values))


def dots(
    entries: Sequence[tuple[int, PageRow]],
    published: Sequence[tuple[str, float]],
    task: str,
    title: str,
    on: int,
) -> Markup:
    """One lane per row: seeds as rings, mean as a bar, interval as a line; published values as vertical lines.

    :param entries: index on the board, and row
    :param published: name and value
    :param on: index of the highlighted row
    """
    values = [value for _, value in published]
    # Baselines are far off, and would press all others together.
    wide = not values and all(entry.row.kind.lower_bound for _, entry in entries)
    for _, entry in entries:
        if wide or not entry.row.kind.lower_bound:
            test = entry.datasets[task].test
            values += entry.datasets[task].scores.scores().values()
            values += (test.mean, *(test.interval or ()))
    labels = named([entry for _, entry in entries])
    rows = [(*pair, label) for pair, label in zip(entries, labels, strict=True)]
    return _draw("dots", rows, published, Axis(values, LABELS + 6, WIDTH - 6), task, title, on)


def curves(entries: Sequence[tuple[int, PageRow]], task: str, title: str, on: int) -> Markup | None:
    """Score on dev over epochs, one line per seed; None if no row has epochs."""
    lines = [curve for _, entry in entries for curve in entry.datasets[task].curves.values()]
    if not lines:
        return None
    longest = max(map(len, lines))
    grain = 2 if len(lines) <= FEW else 1
    y = Axis([value for line in lines for value in line], CURVES - 8, 8)
    step = (WIDTH - 44) / max(1, longest - 1)
    epochs = [(at, START + step * (at - 1)) for at in sorted({1, (longest + 1) // 2, longest})]
    rows = [
        (place, entry, [_path(step, list(map(y, curve)), grain) for curve in own.values()])
        for place, entry in entries
        if (own := entry.datasets[task].curves)
    ]
    return _draw("curves", rows, epochs, y, title, on)


def series(chart: SeriesChart) -> Markup:
    """The checkpoints of runs: points, their trend and its 95 % interval, over the steps."""
    points = [point for _, own in chart.runs for point in own]
    ends = [end for _, value, trend, band in points for end in (value, *(band or (trend,)))]
    y = Axis(ends, CURVES - 8, 8)
    x = _StepAxis([step for step, *_ in points], chart.logarithmic)
    if min(ends) > 0:
        # An axis from 0 would flatten a curve
        y.low = max(y.low, min(ends) - 0.06 * (max(ends) - min(ends)))
    runs = []
    for run, own in chart.runs:
        bands = [(x(step), *map(y, band)) for step, *_, band in own if band]
        upper = [f"{place:.1f} {high:.1f}" for place, _, high in bands]
        lower = [f"{place:.1f} {low:.1f}" for place, low, _ in reversed(bands)]
        trend = [f"{x(step):.1f} {y(level):.1f}" for step, _, level, _ in own]
        runs.append((run, own, [*upper, *lower] if len(bands) == len(own) else [], trend))
    return _draw("series", runs, x, y, chart.title)


class _StepAxis:
    """The axis of steps, linear or logarithmic."""

    def __init__(self, steps: Sequence[int], logarithmic: bool) -> None:
        self.steps = sorted(set(steps))
        self.scale = (lambda step: math.log(max(step, 0.5))) if logarithmic else float

    def __call__(self, step: float) -> float:
        low, high = self.scale(self.steps[0]), self.scale(self.steps[-1])
        share = (self.scale(step) - low) / (high - low) if high > low else 0.5
        return START + (END - START) * share

    def marks(self) -> list[int]:
        """The first step, the last and the one nearest to the middle."""
        middle = min(self.steps, key=lambda step: abs(self(step) - (START + END) / 2))
        return sorted({self.steps[0], middle, self.steps[-1]})


def _path(step: float, heights: Sequence[float], grain: int) -> str:
    """A line in relative steps, rounded to a pixel or half of one, as fifty rows have thousands of points."""
    points = [
        (round(grain * (START + step * number)), round(grain * height))
        for number, height in enumerate(heights)
    ]
    moves = "".join(
        f"l{(to_x - x) / grain:g} {(to_y - y) / grain:g}"
        for (x, y), (to_x, to_y) in pairwise(points)
    )
    return f"M{points[0][0] / grain:g} {points[0][1] / grain:g}" + moves.replace(" -", "-")


def named(entries: Sequence[PageRow]) -> list[tuple[str, str]]:
    """Model and protocol of each row, shortened to fit beside a lane; the whole configuration where these are equal."""
    short = [(entry.row.model, entry.row.configuration.protocol) for entry in entries]
    names = []
    for entry, pair in zip(entries, short, strict=True):
        made = shortened(entry.detail if short.count(pair) > 1 else pair[1], MADE)
        names.append((shortened(entry.row.model, LETTERS - len(made) - bool(made)), made))
    return names


def shortened(name: str, letters: int = LETTERS) -> str:
    """A name with so many letters at most; its end stays, as checkpoints of a run differ there.

    >>> shortened("pretraining-checkpoint-12000", 20)
    'pretraining-c…-12000'
    """
    return name if len(name) <= letters else f"{name[: letters - 7]}…{name[-6:]}"


def strips(entries: Sequence[PageRow], on: int) -> list[tuple[str, Markup, Value | None]]:
    """The lanes: the score and `blurb-12` where a row has them, then every task type that a row has.

    :param on: index of the row to highlight
    :returns: title; dots, a group each with the index of its row as `data-row` and its figure as `data-v`; and the
        figure of the highlighted row
    """
    low = lowest(entries)
    lanes = [
        ("Score", [entry.score for entry in entries]),
        (TWELVE, [entry.values.get(TWELVE) for entry in entries]),
        *((SHORT[kind], [entry.types.get(kind) for entry in entries]) for kind in TYPES),
    ]
    return [
        (title, _picture(entries, values, low, on), values[on])
        for title, values in lanes
        if any(value is not None for value in values)
    ]


def lowest(entries: Sequence[PageRow]) -> int:
    """The start of the axis: the multiple of ten below all means but those of baselines, at least 0."""
    ours = [entry for entry in entries if not entry.row.kind.lower_bound] or entries
    values = [
        value.mean
        for entry in ours
        for value in (*entry.types.values(), entry.score)
        if value is not None
    ]
    return min(90, 10 * max(0, math.floor(min(values, default=0.0) / 10)))


def marks(low: int) -> list[tuple[str, int]]:
    """Round values of the axis, and their places in per cent."""
    step = 10 if low >= 50 else 20
    return [(f"{100 * (value - low) / (100 - low):g}", value) for value in range(low, 101, step)]


def _picture(
    entries: Sequence[PageRow], values: Sequence[Value | None], low: int, on: int
) -> Markup:
    dots = []
    taken: Counter[int] = Counter()
    # The published rows first, and the highlighted one last: what is drawn later lies above.
    order = sorted(
        range(len(entries)), key=lambda index: (index == on, entries[index].kind != "published")
    )
    for index in order:
        value = values[index]
        if value is None or value.mean < low:
            continue
        bin_ = int(_place(low, value.mean) / BIN)
        # The n-th dot of a place is 0, 4, -4, 8, -8 from the middle of its lane, and from the start again.
        number = taken[bin_] % (2 * int((HEIGHT / 2 - RADIUS) / STEP) + 1)
        offset = STEP * ((number + 1) // 2) * (1 if number % 2 else -1)
        dots.append((index, entries[index], value, HEIGHT // 2 + offset))
        taken[bin_] += 1
    return _draw("strip", dots, marks(low), partial(_place, low), on)


def _place(low: int, value: float) -> float:
    return 100 * (min(100.0, max(low, value)) - low) / (100 - low)

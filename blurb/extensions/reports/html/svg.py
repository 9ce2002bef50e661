"""Small charts as inline SVG. Colours are classes of the style sheet, so that they follow the light or dark theme.

The task-type means of all rows are one dot plot: a lane a mean, a dot a row, on one axis. Its places are per cent of
the width, so that it is as wide as the window while its dots keep their size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from blurb.extensions.reports.html.model import PageRow, SeriesChart
from blurb.leaderboard.intervals import Value
from blurb.leaderboard.terminal import SHORT
from blurb.tasks import TWELVE, TYPES

WIDTH = 340
"""Width of every chart, in units that equal pixels on a phone, so that text keeps its size there."""
LABELS = 148
"""Width of the names beside the lanes."""
LANE = 15
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
    x = Axis(values, LABELS + 6, WIDTH - 6)
    top, height = 6, LANE * max(1, len(entries))
    parts = []
    for mark in x.marks():
        parts += [
            _line(x(mark), top, x(mark), top + height, "grid"),
            _text(x(mark), top + height + 12, f"{mark:g}", "middle quiet"),
        ]
    for name, value in published:
        line = _line(x(value), top, x(value), top + height, "published")
        parts.append(f"<g>{_tip(f'{name}: {value:.2f}')}{line}</g>")
    labels = named([entry for _, entry in entries])
    for lane, ((place, entry), (model, setting)) in enumerate(zip(entries, labels, strict=True)):
        y = top + lane * LANE + LANE / 2
        dataset = entry.datasets[task]
        test = dataset.test
        extra = f' <tspan class="made">{escape(setting)}</tspan>' if setting else ""
        name = f'<text class="name" x="0" y="{y + 3.5:.4g}">{escape(model)}{extra}</text>'
        body = [_tip(_with_interval(entry.label, test)), name]
        if not x.low <= test.mean <= x.high:
            body.append(_text(LABELS + 8, y + 3.5, f"◂ {test.mean:.2f}", "quiet"))
        else:
            if test.interval:
                low, high = test.interval
                body.append(_line(x(max(low, x.low)), y, x(min(high, x.high)), y, "whisker"))
            body += [
                f'<circle cx="{x(seed):.1f}" cy="{y:g}" r="2.6"/>'
                for seed in dataset.scores.scores().values()
            ]
            body.append(_line(x(test.mean), y - 5, x(test.mean), y + 5, "mean"))
        parts.append(_group(place, on, body))
    label = f"Test scores of {title}; the numbers are in the table below"
    return _svg(top + height + 16, parts, label)


def curves(entries: Sequence[tuple[int, PageRow]], task: str, title: str, on: int) -> Markup | None:
    """Score on dev over epochs, one line per seed; None if no row has epochs."""
    known = [(place, entry) for place, entry in entries if entry.datasets[task].curves]
    lines = [curve for _, entry in known for curve in entry.datasets[task].curves.values()]
    if not lines:
        return None
    longest = max(map(len, lines))
    grain = 2 if len(lines) <= FEW else 1
    y = Axis([value for line in lines for value in line], CURVES - 8, 8)
    parts = _levels(y, 4)
    step = (WIDTH - 44) / max(1, longest - 1)
    parts += [
        _text(START + step * (epoch - 1), CURVES + 8, str(epoch), "middle quiet")
        for epoch in sorted({1, (longest + 1) // 2, longest})
    ]
    parts.append(_text(WIDTH - 6, CURVES + 21, "epoch", "number quiet"))
    for place, entry in known:
        paths = (
            f'<path class="curve" d="{_path(step, [y(value) for value in curve], grain)}"/>'
            for curve in entry.datasets[task].curves.values()
        )
        parts.append(_group(place, on, [_tip(entry.label), *paths]))
    return _svg(CURVES + 24, parts, f"Dev scores of {title} over epochs")


def series(chart: SeriesChart) -> Markup:
    """The checkpoints of runs: points, their trend and its 95 % interval, over the steps."""
    points = [point for _, own in chart.runs for point in own]
    ends = [end for _, value, trend, band in points for end in (value, *(band or (trend,)))]
    y = Axis(ends, CURVES - 8, 8)
    x = _StepAxis([step for step, *_ in points], chart.logarithmic)
    if min(ends) > 0:
        # An axis from 0 would flatten a curve
        y.low = max(y.low, min(ends) - 0.06 * (max(ends) - min(ends)))
    parts = _levels(y, 5)
    parts += [_text(x(step), CURVES + 8, f"{step:,}", "middle quiet") for step in x.marks()]
    parts.append(_text(WIDTH - 6, CURVES + 21, "step", "number quiet"))
    for number, (run, own) in enumerate(chart.runs):
        body = [_tip(run)]
        bands = [(x(step), *map(y, band)) for step, *_, band in own if band]
        if len(bands) == len(own):
            upper = [f"{place:.1f} {high:.1f}" for place, _, high in bands]
            lower = [f"{place:.1f} {low:.1f}" for place, low, _ in reversed(bands)]
            body.append(f'<path class="band" d="M{"L".join([*upper, *lower])}Z"/>')
        line = "L".join(f"{x(step):.1f} {y(trend):.1f}" for step, _, trend, _ in own)
        body.append(f'<path class="curve" d="M{line}"/>')
        for step, value, *_ in own:
            spot = f'<circle class="dot" cx="{x(step):.1f}" cy="{y(value):.1f}" r="2.4"/>'
            body.append(f"<g>{_tip(f'{run}, step {step:,}: {value:.2f}')}{spot}</g>")
        parts.append(f'<g class="r{min(number, 3)}">{"".join(body)}</g>')
    names = ", ".join(run for run, _ in chart.runs)
    return _svg(CURVES + 24, parts, f"{chart.title} of the checkpoints of {names}, by step")


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


def _levels(y: Axis, count: int) -> list[str]:
    """The lines of the vertical axis, each with its value."""
    return [
        part
        for mark in y.marks(count)
        for part in (
            _line(30, y(mark), WIDTH - 6, y(mark), "grid"),
            _text(26, y(mark) + 3.5, f"{mark:g}", "number quiet"),
        )
    ]


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


def _group(place: int, on: int, body: Sequence[str]) -> str:
    return f'<g class="row{" on" if place == on else ""}" data-row="{place}">{"".join(body)}</g>'


def _tip(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _with_interval(name: str, value: Value) -> str:
    interval = "" if value.low is None else f", 95 % interval {value.low:.2f} to {value.high:.2f}"
    return f"{name}: {value.mean:.2f}{interval}"


def _text(x: float, y: float, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x:.4g}" y="{y:.4g}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, classes: str) -> str:
    return f'<path class="{classes}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _svg(height: float, parts: Sequence[str], label: str) -> Markup:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">'
    return Markup(head + "".join(parts) + "</svg>")


@dataclass(frozen=True)
class Strip:
    """A lane of the plot.

    :param picture: the dots, a group each with the index of its row as `data-row` and its figure as `data-v`
    :param shown: the figure of the highlighted row
    """

    title: str
    picture: Markup
    shown: str


def strips(entries: Sequence[PageRow], on: int) -> list[Strip]:
    """The lanes: the score and `blurb-12` where a row has them, then every task type that a row has.

    :param on: index of the row to highlight
    """
    low = lowest(entries)
    lanes = [
        ("Score", [entry.score for entry in entries]),
        (TWELVE, [entry.values.get(TWELVE) for entry in entries]),
        *((SHORT[kind], [entry.types.get(kind) for entry in entries]) for kind in TYPES),
    ]
    return [
        Strip(title, _picture(entries, values, low, on), _figure(values[on]))
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
    parts = [
        f'<line class="grid" x1="{place}%" x2="{place}%" y1="0" y2="{HEIGHT}"/>'
        for place, _ in marks(low)
    ]
    taken: Counter[int] = Counter()
    # The published rows first, and the highlighted one last: what is drawn later lies above.
    order = sorted(
        range(len(entries)), key=lambda index: (index == on, entries[index].kind != "published")
    )
    for index in order:
        value = values[index]
        if value is None or value.mean < low:
            continue
        bin_ = int(_place(value.mean, low) / BIN)
        # The n-th dot of a place is 0, 4, -4, 8, -8 from the middle of its lane, and from the start again.
        number = taken[bin_] % (2 * int((HEIGHT / 2 - RADIUS) / STEP) + 1)
        offset = STEP * ((number + 1) // 2) * (1 if number % 2 else -1)
        parts.append(_dot(entries[index], index, value, low, offset, index == on))
        taken[bin_] += 1
    return Markup("".join(parts))


def _dot(entry: PageRow, index: int, value: Value, low: int, offset: int, on: bool) -> str:
    y = HEIGHT // 2 + offset
    whisker = ""
    if value.interval:
        start, end = (f"{_place(bound, low):.2f}%" for bound in value.interval)
        whisker = f'<line class="whisker" x1="{start}" x2="{end}" y1="{y}" y2="{y}"/>'
    classes = "row" + " theirs" * (entry.kind == "published") + " on" * on
    tip = _tip(_with_interval(entry.label, value))
    return (
        f'<g class="{classes}" data-row="{index}" data-v="{_figure(value)}">{tip}{whisker}'
        f'<circle cx="{_place(value.mean, low):.2f}%" cy="{y}" r="{RADIUS}"/></g>'
    )


def _place(value: float, low: int) -> float:
    return 100 * (min(100.0, max(low, value)) - low) / (100 - low)


def _figure(value: Value | None) -> str:
    return "–" if value is None else f"{value.mean:.2f}"

"""Small charts as inline SVG. Colours are classes of the style sheet, so that they follow the light or dark theme."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from blurb.extensions.reports.html.model import PageRow, SeriesChart
from blurb.leaderboard.intervals import Value

WIDTH = 340
"""Width of every chart, in units that equal pixels on a phone, so that text keeps its size there."""
LABELS = 148
"""Width of the names beside the lanes."""
LANE = 15
LETTERS = 26
MADE = 14
"""Maximum letters of a configuration beside the name of its model."""
CURVES = 116
FEW = 60
"""Maximum number of curves drawn with half-pixel precision."""


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
    entries: Sequence[tuple[int, PageRow]], published: Sequence[tuple[str, float]], task: str, title: str, on: int
) -> Markup:
    """One lane per row: seeds as rings, mean as a bar, interval as a line; published values as vertical lines.

    :param entries: index on the board, and row
    :param published: name and value
    :param on: index of the highlighted row
    """
    values = [value for _, value in published]
    # Baselines are far off, and would press all others together.
    wide = not values and all(entry.baseline for _, entry in entries)
    for _, entry in entries:
        if wide or not entry.baseline:
            test = entry.datasets[task].test
            values += [*entry.datasets[task].seeds.values(), test.mean]
            values += [bound for bound in (test.low, test.high) if bound is not None]
    x = Axis(values, LABELS + 6, WIDTH - 6)
    top, height = 6, LANE * max(1, len(entries))
    parts = _scale(x, top, top + height)
    for name, value in published:
        line = _line(x(value), top, x(value), top + height, "published")
        parts.append(f"<g>{_tip(f'{name}: {value:.2f}')}{line}</g>")
    labels = named([entry for _, entry in entries])
    for lane, (place, entry) in enumerate(entries):
        y = top + lane * LANE + LANE / 2
        dataset = entry.datasets[task]
        body = [_tip(_spoken(entry, dataset.test)), _name(y + 3.5, *labels[lane])]
        if not x.low <= dataset.test.mean <= x.high:
            body.append(_text(LABELS + 8, y + 3.5, f"◂ {dataset.test.mean:.2f}", "quiet"))
            parts.append(_group(place, on, body))
            continue
        if dataset.test.low is not None and dataset.test.high is not None:
            low, high = max(dataset.test.low, x.low), min(dataset.test.high, x.high)
            body.append(_line(x(low), y, x(high), y, "whisker"))
        body += [f'<circle cx="{x(seed):.1f}" cy="{y:g}" r="2.6"/>' for seed in dataset.seeds.values()]
        body.append(_line(x(dataset.test.mean), y - 5, x(dataset.test.mean), y + 5, "mean"))
        parts.append(_group(place, on, body))
    return _svg(WIDTH, top + height + 16, parts, f"Test scores of {title}; the numbers are in the table below")


def curves(entries: Sequence[tuple[int, PageRow]], task: str, title: str, on: int) -> Markup | None:
    """Score on dev over epochs, one line per seed; None if no row has epochs."""
    known = [(place, entry) for place, entry in entries if entry.datasets[task].curves]
    lines = [curve for _, entry in known for curve in entry.datasets[task].curves.values()]
    if not lines:
        return None
    longest = max(map(len, lines))
    grain = 2 if len(lines) <= FEW else 1
    y = Axis([value for line in lines for value in line], CURVES - 8, 8)
    parts = []
    for mark in y.marks():
        parts += [_line(30, y(mark), WIDTH - 6, y(mark), "grid"), _text(26, y(mark) + 3.5, f"{mark:g}", "number quiet")]
    step = (WIDTH - 44) / max(1, longest - 1)
    for epoch in sorted({1, (longest + 1) // 2, longest}):
        parts.append(_text(36 + step * (epoch - 1), CURVES + 8, str(epoch), "middle quiet"))
    parts.append(_text(WIDTH - 6, CURVES + 21, "epoch", "number quiet"))
    for place, entry in known:
        body = [_tip(entry.label)]
        for curve in entry.datasets[task].curves.values():
            body.append(f'<path class="curve" d="{_path(36, step, [y(value) for value in curve], grain)}"/>')
        parts.append(_group(place, on, body))
    return _svg(WIDTH, CURVES + 24, parts, f"Dev scores of {title} over epochs")


def series(chart: SeriesChart) -> Markup:
    """The checkpoints of runs: points, their trend and its 95 % interval, over the steps."""
    points = [point for _, own in chart.runs for point in own]
    ends = [end for _, value, trend, band in points for end in (value, *(band or (trend,)))]
    y, x = Axis(ends, CURVES - 8, 8), _StepAxis([step for step, *_ in points], chart.logarithmic, 36, WIDTH - 8)
    if min(ends) > 0:
        y.low = max(y.low, min(ends) - 0.06 * (max(ends) - min(ends)))  # an axis from 0 would flatten a curve
    parts = []
    for mark in y.marks(5):
        parts += [_line(30, y(mark), WIDTH - 6, y(mark), "grid"), _text(26, y(mark) + 3.5, f"{mark:g}", "number quiet")]
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
    return _svg(WIDTH, CURVES + 24, parts, f"{chart.title} of the checkpoints of {names}, by step")


class _StepAxis:
    """The axis of steps, linear or logarithmic."""

    def __init__(self, steps: Sequence[int], logarithmic: bool, start: float, end: float) -> None:
        self.steps = sorted(set(steps))
        self.scale = (lambda step: math.log(max(step, 0.5))) if logarithmic else float
        self.start, self.end = start, end

    def __call__(self, step: float) -> float:
        low, high = self.scale(self.steps[0]), self.scale(self.steps[-1])
        return self.start + (self.end - self.start) * ((self.scale(step) - low) / (high - low) if high > low else 0.5)

    def marks(self) -> list[int]:
        """The first step, the last and the one nearest to the middle."""
        middle = (self.start + self.end) / 2
        return sorted({self.steps[0], self.steps[-1], min(self.steps, key=lambda step: abs(self(step) - middle))})


def _path(start: float, step: float, heights: Sequence[float], grain: int) -> str:
    """A line in relative steps, rounded to a pixel or half of one, as fifty rows have thousands of points."""
    ys = [round(grain * height) for height in heights]
    xs = [round(grain * (start + step * number)) for number in range(len(heights))]
    moves = [f"l{(xs[at] - xs[at - 1]) / grain:g} {(ys[at] - ys[at - 1]) / grain:g}" for at in range(1, len(heights))]
    return f"M{xs[0] / grain:g} {ys[0] / grain:g}" + "".join(moves).replace(" -", "-")


def _scale(x: Axis, top: float, bottom: float) -> list[str]:
    parts = []
    for mark in x.marks():
        parts += [
            _line(x(mark), top, x(mark), bottom, "grid"),
            _text(x(mark), bottom + 12, f"{mark:g}", "middle quiet"),
        ]
    return parts


def _spoken(entry: PageRow, value: Value) -> str:
    between = "" if value.low is None else f", 95 % interval {value.low:.2f} to {value.high:.2f}"
    return f"{entry.label}: {value.mean:.2f}{between}"


def named(entries: Sequence[PageRow]) -> list[tuple[str, str]]:
    """Model and protocol of each row, shortened to fit beside a lane; the whole configuration where these are equal."""
    short = [(entry.model, entry.row.configuration.protocol) for entry in entries]
    names = []
    for entry, pair in zip(entries, short, strict=True):
        made = shortened(entry.detail if short.count(pair) > 1 else pair[1], MADE)
        names.append((shortened(entry.model, LETTERS - len(made) - bool(made)), made))
    return names


def shortened(name: str, letters: int = LETTERS) -> str:
    """A name with so many letters at most; its end stays, as checkpoints of a run differ there.

    >>> shortened("pretraining-checkpoint-12000", 20)
    'pretraining-c…-12000'
    """
    return name if len(name) <= letters else f"{name[: letters - 7]}…{name[-6:]}"


def _name(y: float, model: str, made: str) -> str:
    extra = f' <tspan class="made">{escape(made)}</tspan>' if made else ""
    return f'<text class="name" x="0" y="{y:.4g}">{escape(model)}{extra}</text>'


def _group(place: int, on: int, body: Sequence[str]) -> str:
    return f'<g class="row{" on" if place == on else ""}" data-row="{place}">{"".join(body)}</g>'


def _tip(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _text(x: float, y: float, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x:.4g}" y="{y:.4g}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, classes: str) -> str:
    return f'<path class="{classes}" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _svg(width: int, height: float, parts: Sequence[str], label: str) -> Markup:
    head = f'<svg viewBox="0 0 {width} {height:g}" role="img" aria-label="{escape(label)}">'
    return Markup(head + "".join(parts) + "</svg>")

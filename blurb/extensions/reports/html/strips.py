"""The task-type means of all rows as one dot plot: a lane a mean, a dot a row, on one axis.

Places are per cent of the width, so that the plot is as wide as the window while its dots keep their size.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from blurb.extensions.reports.html.model import PageRow
from blurb.leaderboard.intervals import Value
from blurb.leaderboard.terminal import SHORT
from blurb.tasks import TWELVE, TYPES

HEIGHT = 30
STEP = 4
"""Distance of dots that would lie on each other."""
BIN = 0.75
"""Dots within this many per cent of the width are set apart."""
RADIUS = 3.5


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
    ours = [entry for entry in entries if not entry.baseline] or entries
    values = [value.mean for entry in ours for value in (*entry.types.values(), entry.score) if value is not None]
    return min(90, 10 * max(0, math.floor(min(values, default=0.0) / 10)))


def marks(low: int) -> list[tuple[str, int]]:
    """Round values of the axis, and their places in per cent."""
    step = 10 if low >= 50 else 20
    return [(f"{100 * (value - low) / (100 - low):g}", value) for value in range(low, 101, step)]


def _picture(entries: Sequence[PageRow], values: Sequence[Value | None], low: int, on: int) -> Markup:
    parts = [f'<line class="grid" x1="{place}%" x2="{place}%" y1="0" y2="{HEIGHT}"/>' for place, _ in marks(low)]
    taken: Counter[int] = Counter()
    # The published rows first, and the highlighted one last: what is drawn later lies above.
    order = sorted(range(len(entries)), key=lambda index: (index == on, entries[index].kind != "published"))
    for index in order:
        value = values[index]
        if value is None or value.mean < low:
            continue
        bin_ = int(_place(value.mean, low) / BIN)
        parts.append(_dot(entries[index], index, value, low, _offset(taken[bin_]), index == on))
        taken[bin_] += 1
    return Markup("".join(parts))


def _offset(number: int) -> int:
    """How far the n-th dot of a place is from the middle of its lane: 0, 4, -4, 8, -8, and from the start again."""
    room = int((HEIGHT / 2 - RADIUS) / STEP)
    number %= 2 * room + 1
    return STEP * ((number + 1) // 2) * (1 if number % 2 else -1)


def _dot(entry: PageRow, index: int, value: Value, low: int, offset: int, on: bool) -> str:
    y = HEIGHT // 2 + offset
    whisker = interval = ""
    if value.low is not None and value.high is not None:
        ends = f'x1="{_place(value.low, low):.2f}%" x2="{_place(value.high, low):.2f}%"'
        whisker = f'<line class="whisker" {ends} y1="{y}" y2="{y}"/>'
        interval = f", 95 % interval {value.low:.2f} to {value.high:.2f}"
    classes = "row" + " theirs" * (entry.kind == "published") + " on" * on
    tip = escape(f"{entry.label}: {value.mean:.2f}{interval}")
    return (
        f'<g class="{classes}" data-row="{index}" data-v="{_figure(value)}"><title>{tip}</title>{whisker}'
        f'<circle cx="{_place(value.mean, low):.2f}%" cy="{y}" r="{RADIUS}"/></g>'
    )


def _place(value: float, low: int) -> float:
    return 100 * (min(100.0, max(low, value)) - low) / (100 - low)


def _figure(value: Value | None) -> str:
    return "–" if value is None else f"{value.mean:.2f}"

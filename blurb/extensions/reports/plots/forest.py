"""The forest plot of a comparison: one row per dataset with the difference and its 95 % interval."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.reports.plots._style import OURS, PAPER, QUIET, lanes, save, start_figure
from blurb.results.comparison import ScoreComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 3.6
"""Width of a panel in print, in inches."""


def write(
    first: str, compared: Mapping[str, Sequence[ScoreComparison]], level: float, path: Path
) -> None:
    """Writes the plot, with one panel for each row compared with the first.

    :param compared: row -> its lines
    """
    figures = {
        row: [[line.name, line.difference, line.p] for line in lines]
        for row, lines in compared.items()
    }
    save(path, lambda: _draw(first, compared, level), figures)


def _draw(first: str, compared: Mapping[str, Sequence[ScoreComparison]], level: float) -> Figure:
    shown = [[line for line in lines if line.difference is not None] for lines in compared.values()]
    rows = max([1, *map(len, shown)])
    count = len(compared)
    figure, panels = start_figure(WIDTH * count, 1.1 + 0.21 * rows, across=count)
    for axes, name, lines in zip(panels, compared, shown, strict=True):
        _panel(axes, first, name, lines, level)
    return figure


def _panel(
    axes: Axes, first: str, name: str, lines: Sequence[ScoreComparison], level: float
) -> None:
    """Draws one comparison: filled marks are differences, hollow ones show none, crosses cannot be judged."""
    title = [*textwrap.wrap(first, 46), *textwrap.wrap(f"minus {name}", 46)]
    axes.set_title("\n".join(title), loc="left")
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for row, line in enumerate(lines):
        judged = line.p is not None
        different = line.p is not None and line.p < level
        colour = (
            QUIET if not judged else PAPER if (line.difference or 0) < 0 and different else OURS
        )
        if line.interval:
            axes.plot(line.interval, (row, row), color=colour, linewidth=1.2)
        axes.plot(
            [line.difference or 0.0],
            [row],
            "o" if judged else "x",
            color=colour,
            markersize=4.5,
            markerfacecolor=colour if different else "white",
        )
    axes.set_yticks(range(len(lines)), [line.name for line in lines])
    lanes(axes, len(lines))
    axes.set_xlabel(
        "difference in points, 95 % interval\nfilled: different, hollow: none shown, ×: cannot judge",
        fontsize=7,
    )

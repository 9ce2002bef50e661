"""The forest plot of a comparison: one row per dataset with the difference and its 95 % interval."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.reports.plots import _style
from blurb.extensions.reports.plots._style import GRID, OURS, PAPER, QUIET, check
from blurb.results.comparison import ScoreComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check", "write"]

WIDTH = 3.6
"""Width of a panel in print, in inches."""


def write(first: str, compared: Mapping[str, Sequence[ScoreComparison]], level: float, path: Path) -> None:
    """Writes the plot, with one panel for each row compared with the first.

    :param compared: row -> its lines
    """
    figures = {row: [[line.name, line.difference, line.p] for line in lines] for row, lines in compared.items()}
    _style.write(path, lambda: _draw(first, compared, level), figures)


def _draw(first: str, compared: Mapping[str, Sequence[ScoreComparison]], level: float) -> Figure:
    from matplotlib.figure import Figure

    shown = [[line for line in lines if line.difference is not None] for lines in compared.values()]
    rows = max([1, *map(len, shown)])
    figure = Figure(figsize=(WIDTH * len(compared), 1.1 + 0.21 * rows), layout="constrained")
    panels = figure.subplots(1, len(compared), squeeze=False)[0]
    for axes, name, lines in zip(panels, compared, shown, strict=True):
        _panel(axes, first, name, lines, level)
    return figure


def _panel(axes: Axes, first: str, name: str, lines: Sequence[ScoreComparison], level: float) -> None:
    """Draws one comparison: filled marks are differences, hollow ones show none, crosses cannot be judged."""
    title = f"{first}\nminus {name}"
    title = "\n".join(part for one in title.split("\n") for part in textwrap.wrap(one, 46))
    axes.set_title(title, loc="left", parse_math=False)  # a name may have dollars in it
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for row, line in enumerate(lines):
        interval = line.interval
        judged = line.p is not None
        different = line.p is not None and line.p < level
        colour = QUIET if not judged else PAPER if (line.difference or 0) < 0 and different else OURS
        if interval:
            axes.plot(interval, (row, row), color=colour, linewidth=1.2)
        axes.plot(
            [line.difference or 0.0],
            [row],
            marker="o" if judged else "x",
            color=colour,
            markersize=4.5,
            markerfacecolor=colour if different else "white",
            linestyle="none",
        )
    axes.set_yticks(range(len(lines)), [line.name for line in lines], parse_math=False)
    axes.set_ylim(max(len(lines), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(
        "difference in points, 95 % interval\nfilled: different, hollow: none shown, ×: cannot judge", fontsize=7
    )

"""The scores of rows: one line per dataset, one mark per row with its runs and their 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb import tasks
from blurb.extensions.reports.plots._style import QUIET, lanes, plotted, start_figure
from blurb.results.published import best_of_paper
from blurb.results.row import Row
from blurb.statistics.welch import half_width
from blurb.store.record import clip_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Of Okabe and Ito, whom colour-blind readers can follow; with the `SHAPES` no two rows of the first 30 look alike."""
SHAPES = "osD^v"
EDGE = 0.25
"""Of the range of all values: room beside them for intervals."""
LANE, BAND = 0.2, 0.84
"""Vertical distance of two rows on the line of a dataset, and at most of all of them; datasets are one apart."""
HEIGHT, DENSE = 0.12, 0.085
"""Inches of a row in print, and with more than five rows."""
BEST = "best of the paper's Table 6"


def plot(
    rows: Sequence[Row], path: Path | str | None = None, split: tasks.Split = "test"
) -> Figure | None:
    """`Results.plot`: in the format given by the suffix of `path`, or the figure without one."""
    figures = [[row.name, {name: row.values(name, split) for name in row.datasets}] for row in rows]
    return plotted(path, lambda: draw(rows, split), figures)


def draw(rows: Sequence[Row], split: tasks.Split = "test") -> Figure:
    """The plot, in print size. Datasets are in the paper's order, then those of one's own by name."""
    present = {name for row in rows for name in row.means(split)}
    known = [task.name for task in tasks.all() if task.paper_order and task.name in present]
    names = [*known, *sorted(present - set(known))]
    known_titles = {task.name: task.title for task in tasks.all()}
    titles = [known_titles.get(name, name) for name in names]
    tall = (1 + len(rows)) * (HEIGHT if len(rows) <= len(SHAPES) else DENSE)
    height = 0.9 + len(names) * max(0.25, tall) + 0.16 * len(rows)
    figure, (axes,) = start_figure(5.2, height)
    marks = [_row(axes, row, number, len(rows), names, split) for number, row in enumerate(rows)]
    of_paper = best_of_paper()
    best = {place: of_paper[name][0] for place, name in enumerate(names) if name in of_paper}
    if best and split == "test":
        marks += axes.plot(
            list(best.values()), list(best), "|", markersize=11, color=QUIET, label=BEST
        )
    values = [
        *(value for row in rows for name in names for value in row.values(name, split)),
        *best.values(),
    ]
    # Intervals go far beyond: those of two runs may be wider than the scale
    if len(set(values)) > 1:
        room = EDGE * (max(values) - min(values))
        low, high = axes.get_xlim()
        axes.set_xlim(max(low, min(values) - room), min(high, max(values) + room))
    axes.set_yticks(range(len(names)), titles)
    lanes(axes, len(names))
    axes.set_xlabel(
        f"{split} score × 100; small marks: single runs, lines: 95 % interval of their mean",
        fontsize=7,
    )
    # Named here, as a legend hides those that begin with _
    labels = [str(mark.get_label()) for mark in marks]
    figure.legend(marks, labels, loc="outside upper left", frameon=False, fontsize=7)
    return figure


def _row(
    axes: Axes, row: Row, number: int, rows: int, names: Sequence[str], split: tasks.Split
) -> Line2D:
    """Draws the row of a number; returns its marks, for the legend."""
    colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
    lane, means = min(LANE, BAND / rows) * (number - (rows - 1) / 2), row.means(split)
    for place, name in enumerate(names):
        runs = row.values(name, split)
        if (half := half_width(runs)) is not None:
            ends = clip_interval(means[name] - half, means[name] + half, name)
            axes.plot(ends, (place + lane, place + lane), color=colour, linewidth=1.0)
        if len(runs) > 1:
            axes.plot(runs, [place + lane] * len(runs), "|", markersize=4, color=colour)
    there = {place + lane: means[name] for place, name in enumerate(names) if name in means}
    (marks,) = axes.plot(
        list(there.values()), list(there), shape, markersize=4, color=colour, label=row.name
    )
    return marks

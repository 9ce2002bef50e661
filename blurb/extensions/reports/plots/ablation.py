"""The plot of an ablation: one panel per dataset, one row per cell (docs/ablations.md)."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.reports.plots._style import OURS, PAPER, QUIET, lanes, save, start_figure
from blurb.planning.ablations import Grid
from blurb.statistics.welch import half_width
from blurb.store.record import clip_interval, score_bounds

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scores = Sequence[Mapping[str, Sequence[float]]]
"""For each cell of a grid: dataset -> test score of each seed, times 100."""
ACROSS = 3
"""Maximum number of panels per row."""
MEAN = "mean, 95 % interval"
ONE = "the only seed"
SEED = "one seed"
DEFAULT = "mean of the default"
PUBLISHED = "published change (PubMedBERT)"
BEYOND = "the same, off the axis"
LEGEND = (MEAN, ONE, SEED, DEFAULT, PUBLISHED, BEYOND)
LANE = 0.28
"""Vertical offsets: seeds below their mean, the paper's value above it, so that nothing overlaps."""
LEAST_SPAN = 1.0
"""Minimum range of an axis in points, so that tiny differences do not look large."""


def write(grid: Grid, scores: Scores, datasets: Sequence[str], title: str, path: Path) -> None:
    """Writes the plot in the format given by the suffix of `path`; creates its folder if necessary."""
    save(path, lambda: draw(grid, scores, datasets, title), figures(grid, scores, datasets))


def figures(grid: Grid, scores: Scores, datasets: Sequence[str]) -> list[list[str]]:
    """The figures of a picture, from the table of the ablation: cell, dataset, mean, standard deviation, seeds."""
    lines = []
    for cell, values in zip(grid.cells, scores, strict=True):
        for dataset in datasets:
            runs = values.get(dataset, ())
            lines.append(
                [
                    cell.text,
                    dataset,
                    f"{statistics.fmean(runs):.2f}" if runs else "",
                    f"{statistics.stdev(runs):.2f}" if len(runs) > 1 else "",
                    str(len(runs)),
                ]
            )
    return lines


def draw(grid: Grid, scores: Scores, datasets: Sequence[str], title: str) -> Figure:
    """The plot of a grid, in print size: one panel fits a column, three fit a page."""
    names = [", ".join(map(str, cell.settings.values())) for cell in grid.cells]
    across = min(ACROSS, len(datasets))
    down = -(-len(datasets) // across)
    # Inches; less would cut the legend
    width = max(3.1, 0.3 + 0.058 * max(map(len, names)) + 1.8 * across)
    heading = textwrap.wrap(title, int(width * 15))
    height = down * (0.5 + 0.28 * len(names)) + 0.3 + 0.14 * len(heading)
    figure, places = start_figure(width, height, down, across)
    for axes in places[len(datasets) :]:
        axes.remove()
    for index, (axes, dataset) in enumerate(zip(places, datasets, strict=False)):
        _panel(axes, grid, [cell.get(dataset, ()) for cell in scores], dataset)
        axes.set_yticks(range(len(names)), names if index % across == 0 else [])
        if index + across >= len(datasets):  # nothing below it
            axes.set_xlabel("test score × 100")
    places[0].annotate(
        ", ".join(grid.cells[0].settings),
        (0, 1),
        (-4, 6),
        "axes fraction",
        "offset points",
        ha="right",
        color=QUIET,
    )
    figure.suptitle("\n".join(heading), x=0.01, ha="left", fontsize=8)
    marks: dict[str, Artist] = {}
    for axes in places[: len(datasets)]:
        for mark, label in zip(*axes.get_legend_handles_labels(), strict=True):
            marks.setdefault(label, mark)
    marks = {label: marks[label] for label in LEGEND if label in marks}
    columns = 3 if width > 5.5 else 2
    figure.legend(
        list(marks.values()),
        list(marks),
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=6.5,
        columnspacing=1.0,
        handletextpad=0.4,
        handlelength=1.6,
    )
    figure.set_figheight(height + 0.135 * -(-len(marks) // columns))
    return figure


def _panel(axes: Axes, grid: Grid, values: Sequence[Sequence[float]], dataset: str) -> None:
    """Draws one dataset, with the first cell on top as in the table."""
    from matplotlib.ticker import MaxNLocator

    axes.set_title(dataset, weight="bold")
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    lanes(axes, len(values))
    if not (means := {row: statistics.fmean(seeds) for row, seeds in enumerate(values) if seeds}):
        axes.set_xticks([])
        return
    least, most = score_bounds(dataset)
    whiskers = {
        row: None
        if (half := half_width(values[row])) is None
        else clip_interval(mean - half, mean + half, dataset)
        for row, mean in means.items()
    }
    if 0 in means:
        axes.axvline(means[0], color=QUIET, linewidth=0.8, dashes=(3, 2), label=DEFAULT)
    look: dict[str, Any] = {"color": OURS, "clip_on": False}
    for row, mean in means.items():
        ends = whiskers[row]
        axes.errorbar(
            mean,
            row,
            xerr=None if ends is None else ((mean - ends[0],), (ends[1] - mean,)),
            fmt="o",
            markersize=4.5,
            elinewidth=1.2,
            label=ONE if ends is None else MEAN,
            **look,
        )
    if single := [
        (score, row + LANE) for row in means if len(values[row]) > 1 for score in values[row]
    ]:
        axes.plot(
            *zip(*single, strict=True),
            ".",
            alpha=0.35,
            markersize=5,
            markeredgewidth=0,
            label=SEED,
            **look,
        )
    drawn = [*means.values(), *(score for score, _ in single)]
    drawn += [end for ends in whiskers.values() if ends is not None for end in ends]
    low, high = min(drawn), max(drawn)
    spare = max(0.0, LEAST_SPAN - (high - low)) / 2
    low, high = max(low - spare, least), min(high + spare, most)
    if 0 in means:
        low, high = _published(axes, grid, dataset, means[0], low, high)
    margin = 0.06 * (high - low)
    axes.set_xlim(max(low - margin, least), min(high + margin, most))  # nobody has a score beyond


def _published(
    axes: Axes, grid: Grid, dataset: str, default: float, low: float, high: float
) -> tuple[float, float]:
    """Draws the paper's differences from its default, relative to ours; the axis extends at most to twice our range.

    Values beyond it become arrows at the edge, so that one failed cell does not squeeze all the others.
    """
    if (base := grid.cells[0].published.get(dataset)) is None:
        return low, high
    expected = {
        row: default + cell.published[dataset] - base
        for row, cell in enumerate(grid.cells)
        if row and dataset in cell.published
    }
    reach = high - low
    least, most = score_bounds(dataset)
    near = {
        row: value
        for row, value in expected.items()
        if max(low - reach, least) <= value <= min(high + reach, most)
    }
    low, high = min([low, *near.values()]), max([high, *near.values()])
    look = {
        "linestyle": "none",
        "markerfacecolor": "none",
        "color": PAPER,
        "markersize": 4.5,
        "markeredgewidth": 0.9,
    }
    for row, value in expected.items():
        if row in near:
            mark, marker, label = value, "D", PUBLISHED
        else:
            mark, marker, label = (low, "<", BEYOND) if value < low else (high, ">", BEYOND)
        axes.plot(mark, row - LANE, marker=marker, label=label, **look)  # type: ignore[arg-type]
    return low, high

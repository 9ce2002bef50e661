"""The curves of a series: a panel for each dataset and figure, a colour and a shape for each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.reports.plots import _style
from blurb.extensions.reports.plots._style import GRID, QUIET, check
from blurb.extensions.reports.plots.scores import COLOURS, SHAPES
from blurb.results.dataset_scores import Measure
from blurb.results.row import Row
from blurb.tasks import Split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from blurb.extensions.series.curves import Curve, Family

__all__ = ["check", "draw", "write"]

COLUMNS = 3
NOTE = "band: 95 % interval of the trend; dotted: one standard deviation of single checkpoints about it; ×: no score"


def write(families: Sequence[Family], path: Path, split: Split, beside: Sequence[Row] = ()) -> None:
    """Writes the plot in the format given by the suffix of `path`."""
    figures = [
        [
            family.dataset,
            family.measure,
            curve.run,
            [[point.step.step, round(point.value, 6)] for point in curve.points],
        ]
        for family in families
        for curve in family.curves
    ]
    _style.write(path, lambda: draw(families, split, beside), figures)


def draw(families: Sequence[Family], split: Split, beside: Sequence[Row] = ()) -> Figure:
    """The plot, in print size. A line breaks where a checkpoint has no value.

    :param beside: rows drawn as level lines: floors, published numbers
    """
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(families))
    rows = math.ceil(len(families) / columns)
    figure = Figure(figsize=(2.5 * columns + 0.3, 1.75 * rows + 0.55), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flat
    runs = list(dict.fromkeys(curve.run for family in families for curve in family.curves))
    marks: dict[str, Any] = {}
    for axes, family in zip(panels, families, strict=False):
        for curve in family.curves:
            marks.setdefault(curve.run, _curve(axes, family, curve, runs.index(curve.run)))
        _frame(axes, family, split)
        levels = {row.name: row.means(split).get(family.dataset) for row in beside if family.measure is Measure.SCORE}
        for number, (name, level) in enumerate(levels.items()):
            if level is not None:
                style = ("--", ":", "-.")[number % 3]
                marks.setdefault(name, axes.axhline(level, color=QUIET, linewidth=0.8, linestyle=style))
        axes.set_ylim(*_limits(family, [level for level in levels.values() if level is not None]))
    for axes in list(panels):
        axes.set_visible(False)
    for axes in figure.axes[len(families) :]:
        axes.set_visible(False)
    legend = figure.legend(
        list(marks.values()), list(marks), loc="outside upper left", frameon=False, fontsize=7, ncols=2
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    figure.supxlabel(f"step{' (logarithmic)' if families[0].logarithmic else ''}; {NOTE}", fontsize=6)
    return figure


def _curve(axes: Axes, family: Family, curve: Curve, number: int) -> Any:
    colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
    steps = [max(point.step.step, 0.5) for point in curve.points]
    trend, half = family.trend(curve)
    lost = [step.step for step in curve.holes] if family.measure is not Measure.FIGURE else []
    # A line across a hole would claim what nobody measured.
    pieces = [
        [place for place, _ in group]
        for _, group in groupby(enumerate(steps), key=lambda one: sum(hole < one[1] for hole in lost))
    ]
    for piece in pieces:
        own, level = [steps[place] for place in piece], trend[piece]
        axes.plot(own, level, color=colour, linewidth=1.0)
        if half is not None and family.noise is not None:
            noise = family.noise.deviation
            for edge in (level - noise, level + noise):
                axes.plot(own, edge, ":", color=colour, linewidth=0.7)
            band = [family.ends(*pair) for pair in zip(level.tolist(), half[piece].tolist(), strict=True)]
            low, high = zip(*band, strict=True)
            axes.fill_between(own, low, high, color=colour, alpha=0.16, linewidth=0)
    for step, point in zip(steps, curve.points, strict=True):
        if point.half is not None:
            ends = family.ends(point.value, point.half)
            axes.plot([step, step], ends, color=colour, linewidth=0.7)
    (marks,) = axes.plot(steps, [point.value for point in curve.points], shape, markersize=2.8, color=colour)
    if lost:  # at the foot of the panel, where no score is
        foot = axes.get_xaxis_transform()
        axes.plot(
            [max(step, 0.5) for step in lost], [0.05] * len(lost), "x", markersize=4, color=colour, transform=foot
        )
    return marks


def _limits(family: Family, levels: Sequence[float]) -> tuple[float, float]:
    """Of values, trends, noise and level lines; the interval of a point whose runs fell apart may leave the panel."""
    noise = 0.0 if family.noise is None else family.noise.deviation
    there = [point.value for curve in family.curves for point in curve.points] + list(levels)
    for curve in family.curves:
        trend = family.trend(curve)[0]
        there += [float(trend.min()) - noise, float(trend.max()) + noise]
    margin = 0.06 * (max(there) - min(there)) or 1.0
    return min(there) - margin, max(there) + margin


def _frame(axes: Axes, family: Family, split: Split) -> None:
    what = {Measure.SCORE: f"{split} × 100", Measure.LOSS: "loss on dev", Measure.FIGURE: ""}[family.measure]
    axes.set_title(f"{family.dataset}{', ' if what else ''}{what}", loc="left", fontsize=7, parse_math=False)
    if family.logarithmic:
        axes.set_xscale("log")
    axes.tick_params(labelsize=6)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)

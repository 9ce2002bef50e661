"""A series: the checkpoints of runs with their scores, as a table, a picture and sentences.

The picture has a panel for each dataset and figure, a colour and a shape for each run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.reports.html import environment
from blurb.extensions.reports.plots._style import (
    QUIET,
    draw_grid,
    number_ticks,
    plotted,
    start_figure,
)
from blurb.extensions.reports.plots.scores import COLOURS, SHAPES
from blurb.extensions.series import curves, page
from blurb.extensions.series.curves import Curve, Family, Scored
from blurb.extensions.series.smoothing import Measure
from blurb.messages import DataError, count_noun, opt
from blurb.records import Tabular, make_frame
from blurb.results import schema
from blurb.results.row import Row
from blurb.system.files import write_whole
from blurb.tasks import Split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

COLUMNS = 3
NOTE = "band: 95 % interval of the trend; dotted: one standard deviation of single checkpoints about it; ×: no score"


def draw(families: Sequence[Family], split: Split, beside: Sequence[Row]) -> Figure:
    """The plot, in print size. A line breaks where a checkpoint has no value.

    :param beside: rows drawn as level lines: floors, published numbers
    """
    columns = min(COLUMNS, len(families))
    rows = math.ceil(len(families) / columns)
    figure, panels = start_figure(2.5 * columns + 0.3, 1.75 * rows + 0.55, rows, columns)
    runs = list(dict.fromkeys(curve.run for family in families for curve in family.curves))
    marks: dict[str, Any] = {}
    for axes, family in zip(panels, families, strict=False):
        for curve in family.curves:
            marks.setdefault(curve.run, _curve(axes, family, curve, runs.index(curve.run)))
        what = {Measure.SCORE: f", {split} × 100", Measure.LOSS: ", loss on dev"}
        axes.set_title(f"{family.dataset}{what.get(family.measure, '')}", loc="left", fontsize=7)
        if family.logarithmic:
            axes.set_xscale("log")
            number_ticks(axes)
        axes.tick_params(labelsize=6)
        draw_grid(axes, "y")
        levels = {
            row.name: row.means(split).get(family.dataset)
            for row in beside
            if family.measure is Measure.SCORE
        }
        for number, (name, level) in enumerate(levels.items()):
            if level is not None:
                style = ("--", ":", "-.")[number % 3]
                marks.setdefault(
                    name, axes.axhline(level, color=QUIET, linewidth=0.8, linestyle=style)
                )
        axes.set_ylim(*_limits(family, [level for level in levels.values() if level is not None]))
    for axes in panels[len(families) :]:
        axes.set_visible(False)
    figure.legend(
        list(marks.values()),
        list(marks),
        loc="outside upper left",
        frameon=False,
        fontsize=7,
        ncols=2,
    )
    figure.supxlabel(
        f"step{' (logarithmic)' if families[0].logarithmic else ''}; {NOTE}", fontsize=6
    )
    return figure


def _curve(axes: Axes, family: Family, curve: Curve, number: int) -> Any:
    colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
    steps = [max(point.step.step, 0.5) for point in curve.points]
    trend, half = family.trend(curve)
    lost = [step.step for step in curve.holes] if family.measure is not Measure.FIGURE else []
    # A line across a hole would claim what nobody measured.
    for _, places in groupby(
        range(len(steps)), key=lambda place: sum(hole < steps[place] for hole in lost)
    ):
        piece = list(places)
        own, level = [steps[place] for place in piece], trend[piece]
        axes.plot(own, level, color=colour, linewidth=1.0)
        if half is not None and family.noise is not None:
            noise = family.noise.deviation
            for edge in (level - noise, level + noise):
                axes.plot(own, edge, ":", color=colour, linewidth=0.7)
            ends = map(family.ends, level.tolist(), half[piece].tolist())
            low, high = zip(*ends, strict=True)
            axes.fill_between(own, low, high, color=colour, alpha=0.16, linewidth=0)
    for step, point in zip(steps, curve.points, strict=True):
        if point.half is not None:
            axes.plot(
                [step, step], family.ends(point.value, point.half), color=colour, linewidth=0.7
            )
    (marks,) = axes.plot(
        steps, [point.value for point in curve.points], shape, markersize=2.8, color=colour
    )
    if lost:  # at the foot of the panel, where no score is
        axes.plot(
            [max(step, 0.5) for step in lost],
            [0.05] * len(lost),
            "x",
            markersize=4,
            color=colour,
            transform=axes.get_xaxis_transform(),
        )
    return marks


def _limits(family: Family, levels: Sequence[float]) -> tuple[float, float]:
    """Of values, trends, noise and level lines; the interval of a point whose runs fell apart may leave the panel."""
    noise = 0.0 if family.noise is None else family.noise.deviation
    present = [point.value for curve in family.curves for point in curve.points] + list(levels)
    for curve in family.curves:
        trend = family.trend(curve)[0]
        present += [float(trend.min()) - noise, float(trend.max()) + noise]
    margin = 0.06 * (max(present) - min(present)) or 1.0
    return min(present) - margin, max(present) + margin


TABLE, PAGE, PICTURE = "series.csv", "README.md", "series.png"
LOSSES_SHOWN = 4
"""Datasets up to which the picture has the losses of the heads, too."""


@dataclass(frozen=True, repr=False)
class Series(Tabular):
    """The checkpoints of one run or several; in a notebook the table.

    :param scored: all checkpoints, run by run, by step, with their rows by the protocol
    :param datasets: names of what was scored
    :param full: dearer protocol -> the checkpoints that were scored under it
    :param notes: what is to be told: checkpoints left out, trials that failed
    :param failed: the trials that failed, with why
    :param beside: rows to draw as lines: floors, published numbers
    """

    scored: tuple[Scored, ...]
    datasets: tuple[str, ...]
    protocol: str
    split: Split = "dev"
    full: Mapping[str, tuple[Scored, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    beside: tuple[Row, ...] = ()

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Its curves: the mean and each dataset by score, then by loss, then the figures of the pretraining."""
        return tuple(curves.families(self.scored, self.datasets, self.split))

    def family(self, dataset: str, measure: Measure | str = Measure.SCORE) -> Family | None:
        """The curves of a dataset by a measure; None where nothing is known."""
        known = {(each.dataset, str(each.measure)): each for each in self.families}
        return known.get((dataset, str(measure)))

    @property
    def leading(self) -> Family | None:
        """The scores that decide: the mean over the datasets, or the only one."""
        return self.family(self.datasets[0] if len(self.datasets) == 1 else curves.MEAN)

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return list(dict.fromkeys(one.step.run for one in self.scored))

    def best(self, run: str) -> Scored | None:
        """The checkpoint at which the trend of a run is highest; None without scores."""
        if self.leading is None:
            return None
        steps = [
            curve.points[self.leading.best(curve).place].step
            for curve in self.leading.curves
            if curve.run == run
        ]
        return next((one for one in self.scored if one.step in steps), None)

    def last(self, run: str) -> Scored | None:
        """The last checkpoint of a run that has a row."""
        return next(
            (one for one in reversed(self.scored) if one.step.run == run and one.row is not None),
            None,
        )

    def reading(self) -> list[str]:
        """Sentences: which sets see the runs change, where each is best, what a maximum gains by chance."""
        return list(page.sentences(self))

    def lines(self) -> list[page.Line]:
        """A line for each run, step, dataset and measure, of which a value is known."""
        lines = list(page.lines(self.families, self.protocol, self.split))
        for protocol, scored in self.full.items():
            more = page.lines(
                curves.families(scored, self.datasets, self.split), protocol, self.split
            )
            lines += [line for line in more if line["measure"] != Measure.FIGURE]
        return lines

    def to_pandas(self) -> DataFrame:
        """The lines as a table, with the columns of `series.csv`."""
        return make_frame(self.lines(), page.COLUMNS)

    def plot(self, path: Path | str | None = None) -> Figure | None:
        """The curves, with the interval of the trend and the noise of the run as bands.

        :param path: a .png, .svg or .pdf; None returns the figure, which a notebook shows
        :raises SettingsError: without Matplotlib, or for another kind of file
        """
        shown = [
            each
            for each in self.families
            if each.measure is not Measure.LOSS or len(self.datasets) <= LOSSES_SHOWN
        ]
        figures = [
            [
                family.dataset,
                family.measure,
                curve.run,
                [[each.step.step, round(each.value, 6)] for each in curve.points],
            ]
            for family in shown
            for curve in family.curves
        ]
        return plotted(path, lambda: draw(shown, self.split, self.beside), figures)

    def markdown(self, picture: bool = True) -> str:
        """The page of the series: sentences, how well each set sees the runs change, scores, what is left out.

        :param picture: whether it has a link to the picture beside it
        """
        template = environment(__package__, html=False).get_template("page.md.jinja")
        return template.render(
            plural=count_noun,
            series=self,
            picture=picture,
            done=sum(one.row is not None and not one.lacks(self.datasets) for one in self.scored),
            signal=[
                (dataset, (self.family(dataset), self.family(dataset, Measure.LOSS)))
                for dataset in (curves.MEAN, *self.datasets)
            ],
            shown=[each for each in self.families if each.measure in page.SHOWN],
            ratio=page.ratio,
        )

    def write(self, folder: Path, picture: bool = True) -> list[Path]:
        """Writes table, page and picture; returns what was written.

        :raises DataError: if nothing is scored
        """
        if not self.families:
            raise DataError(
                f"No checkpoint has a score by '{self.protocol}'",
                fix=f"check {opt('protocol')}, {opt('tasks')}, {opt('suite')} and {opt('output')}; without "
                f"{opt('read')} blurb series scores it.",
            )
        folder.mkdir(parents=True, exist_ok=True)
        schema.write(folder / TABLE, page.COLUMNS, [page.written(line) for line in self.lines()])
        write_whole(folder / PAGE, self.markdown(picture).encode())
        if picture:
            self.plot(folder / PICTURE)
        return [folder / name for name in (PAGE, TABLE, *([PICTURE] if picture else []))]

    def __repr__(self) -> str:
        done = sum(one.row is not None for one in self.scored)
        return f"<Series of {', '.join(self.runs)}: {done} of {len(self.scored)} checkpoints scored by {self.protocol}>"

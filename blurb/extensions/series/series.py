"""A series: the checkpoints of runs with their scores, as a table, a picture and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.reports.plots import _style
from blurb.extensions.series import curves, page, reading
from blurb.extensions.series import picture as series
from blurb.extensions.series.curves import Family, Scored
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.records import Tabular
from blurb.results import schema
from blurb.results.dataset_scores import Measure
from blurb.results.row import Row
from blurb.system.files import write_whole
from blurb.tasks import Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

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
        fits = (each for each in self.families if (each.dataset, each.measure) == (dataset, measure))
        return next(fits, None)

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
        curve = next((each for each in (self.leading.curves if self.leading else ()) if each.run == run), None)
        if curve is None or self.leading is None:
            return None
        step = curve.points[self.leading.best(curve).place].step
        return next(one for one in self.scored if one.step == step)

    def last(self, run: str) -> Scored | None:
        """The last checkpoint of a run that has a row."""
        own = [one for one in self.scored if one.step.run == run and one.row is not None]
        return own[-1] if own else None

    def reading(self) -> list[str]:
        """Sentences: which sets see the runs change, where each is best, what a maximum gains by chance."""
        return list(reading.sentences(self.families, self.leading, self.scored, self.datasets))

    def lines(self) -> list[page.Line]:
        """A line for each run, step, dataset and measure, of which a value is known."""
        return [*page.lines(self.families, self.protocol, self.split), *self._full_lines()]

    def _full_lines(self) -> list[page.Line]:
        return [
            line
            for protocol, scored in self.full.items()
            for line in page.lines(tuple(curves.families(scored, self.datasets, self.split)), protocol, self.split)
            if line["measure"] != Measure.FIGURE
        ]

    def to_pandas(self) -> DataFrame:
        """The lines as a table, with the columns of `series.csv`."""
        from pandas import DataFrame

        return DataFrame(self.lines(), columns=list(page.COLUMNS))

    def plot(self, path: Path | str | None = None) -> Figure | None:
        """The curves, with the interval of the trend and the noise of the run as bands.

        :param path: a .png, .svg or .pdf; None returns the figure, which a notebook shows
        :raises SettingsError: without Matplotlib, or for another kind of file
        """
        series.check(Path(path or PICTURE))
        shown = [
            each for each in self.families if each.measure is not Measure.LOSS or len(self.datasets) <= LOSSES_SHOWN
        ]
        if path is None:
            return _style.drawn(lambda: series.draw(shown, self.split, self.beside))
        series.write(shown, Path(path), self.split, self.beside)
        return None

    def markdown(self, picture: bool = True) -> str:
        """The page of the series, with a link to the picture beside it or without."""
        return page.text(self, picture)

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

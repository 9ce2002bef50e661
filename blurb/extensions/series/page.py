"""The page of a series, its table, and its part of the leaderboard page with the option `--series`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import click

from blurb.extensions.reports.html import templating
from blurb.extensions.reports.html.model import SeriesChart, SeriesPoint
from blurb.extensions.series import curves
from blurb.extensions.series.curves import Family
from blurb.extensions.series.reading import ratio
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.messages.text import plural
from blurb.records import Count
from blurb.results.dataset_scores import Measure
from blurb.results.schema import original
from blurb.statistics.smoothing import logarithmic
from blurb.store.record import within
from blurb.table_files import table_of
from blurb.tasks import Split

if TYPE_CHECKING:
    from blurb.extensions.series.series import Series


def text(series: Series, picture: bool = True) -> str:
    """Picture, sentences, how well each set sees the runs change, the scores, and what is left out."""
    template = templating.environment(__package__, escape=False).get_template("page.md.jinja")
    return template.render(
        plural=plural,
        series=series,
        picture=picture,
        done=sum(one.row is not None and not one.lacks(series.datasets) for one in series.scored),
        signal=[
            (dataset, (series.family(dataset), series.family(dataset, Measure.LOSS)))
            for dataset in (curves.MEAN, *series.datasets)
        ],
        shown=[each for kind in (Measure.SCORE, Measure.FIGURE) for each in series.families if each.measure is kind],
        ratio=ratio,
    )


NEEDED = ("run", "step", "protocol", "dataset", "measure", "value", "trend", "trend_half")
SHOWN = ("score", "figure")
"""Measures on the page; the losses of heads are in the table."""


@dataclass(frozen=True)
class SeriesFolder:
    """The tables of `blurb series` in a folder, as the page takes them."""

    folder: Path

    def charts(self) -> list[SeriesChart]:
        """A chart for each dataset and figure; errors as of `read`."""
        return read(self.folder)


def read(folder: Path) -> list[SeriesChart]:
    """Reads the tables that `blurb series` wrote to a folder, a chart for each dataset and figure.

    Of several protocols the first one is shown, by which all checkpoints were scored.

    :raises DataError: with file and line for what is no such table
    """
    if not (paths := sorted(folder.rglob("series.csv"))):
        raise DataError(f"no series.csv here; {opt('series')} needs the {opt('out')} folder of blurb series.", folder)
    return [chart for path in paths for chart in _charts(path)]


def _charts(path: Path) -> list[SeriesChart]:
    lines = table_of(path, needed=NEEDED, noun="table of blurb series").rows
    points: dict[str, dict[str, list[SeriesPoint]]] = {}
    first = next((line["protocol"] for _, line in lines if line["protocol"]), "")
    for at, line in lines:
        if line["measure"] not in SHOWN or line["protocol"] not in ("", first):
            continue
        try:
            trend = float(line["trend"])
            half = float(line["trend_half"]) if line["trend_half"] else None
            ends = None if half is None else (trend - half, trend + half)
            if ends and line["measure"] == SHOWN[0]:
                ends = within(*ends, line["dataset"])
            point = int(line["step"]), float(line["value"]), trend, ends
        except (ValueError, TypeError) as error:
            raise at.error("step, value and trend must be numbers.") from error
        points.setdefault(line["dataset"], {}).setdefault(original(line["run"]), []).append(point)
    steps = ([step for step, *_ in own] for runs in points.values() for own in runs.values())
    spaced = logarithmic(*steps)
    return [SeriesChart(dataset, spaced, list(runs.items())) for dataset, runs in points.items()]


def _series(context: click.Context, parameter: click.Parameter, value: Path | None) -> SeriesFolder | None:
    return None if value is None else SeriesFolder(value)


SERIES = click.Option(
    ["--series"],
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    callback=_series,
    help="Also show the curves that blurb series wrote to this folder.",
)


class Line(TypedDict):
    """A value of a checkpoint, with the trend at its step."""

    run: Annotated[str, "name of the run"]
    step: Annotated[Count, "updates by then"]
    words: Annotated[Count | None, "words of text seen by then, if its files say it"]
    tokens: Annotated[Count | None, "sub-tokens seen by then, likewise"]
    protocol: Annotated[str, "protocol of the fine-tuning; empty for figures of the pretraining"]
    dataset: Annotated[str, "dataset, `mean` over all of them, or name of a figure of the pretraining"]
    measure: Annotated[str, "score (times 100), loss (of the head on dev) or figure (of the pretraining)"]
    split: Annotated[str, "dev or test; empty for figures"]
    value: Annotated[float, "mean over fine-tunings"]
    half: Annotated[float | None, "half of its 95 % interval over fine-tunings; null for one"]
    runs: Annotated[Count, "number of fine-tunings"]
    trend: Annotated[float | None, "the trend of the run at this step"]
    trend_half: Annotated[float | None, "half of its 95 % interval; null with too few checkpoints"]
    noise: Annotated[float | None, "standard deviation of single checkpoints about the trend, pooled over the runs"]
    constant: Annotated[bool, "whether it is the score of a constant answer, where its predictions are there"]


COLUMNS = tuple(Line.__annotations__)


def lines(families: Sequence[Family], protocol: str, split: Split) -> Iterator[Line]:
    """The lines of some curves, in their order."""
    for family in families:
        for curve in family.curves:
            trend, half = family.trend(curve)
            for place, point in enumerate(curve.points):
                yield Line(
                    run=curve.run,
                    step=point.step.step,
                    words=point.step.words,
                    tokens=point.step.tokens,
                    protocol=family.measure.protocol_of(protocol),
                    dataset=family.dataset,
                    measure=family.measure.value,
                    split=family.measure.split_of(split),
                    value=point.value,
                    half=point.half,
                    runs=point.runs,
                    trend=float(trend[place]),
                    trend_half=None if half is None else float(half[place]),
                    constant=point.constant,
                    noise=None if family.noise is None else family.noise.deviation,
                )


def written(line: Line) -> dict[str, str]:
    """A line of the file: scores with two digits, losses and figures with four; unknown figures are empty."""
    digits = 2 if line["measure"] == Measure.SCORE else 4
    return {name: _cell(value, digits) for name, value in line.items()}


def _cell(value: object, digits: int) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

"""Sentences and table of a series, and its part of the leaderboard page with the option `--series`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import click

from blurb.extensions.reports.html.model import SeriesChart, SeriesPoint
from blurb.extensions.series.curves import Curve, Family
from blurb.extensions.series.smoothing import Measure, needs_log_axis
from blurb.messages import DataError, count_noun, opt
from blurb.records import Count
from blurb.results.predictions import SAME
from blurb.results.schema import undo_neutral
from blurb.statistics.welch import LEVEL
from blurb.store.record import clip_interval
from blurb.table_files import table_of
from blurb.tasks import Split

if TYPE_CHECKING:
    from blurb.extensions.series.series import Series


def sentences(series: Series) -> Iterator[str]:
    """Which sets see the runs change, by which measure; where they suddenly fall; the best step of each run."""
    present = [
        name
        for name in series.datasets
        if any(not each.lacks([name]) for each in series.scored if each.row is not None)
    ]
    if not present:
        yield "No checkpoint has a score yet."
        return
    leading = series.leading
    if leading is None:
        yield (
            f"No checkpoint has all {len(series.datasets)} datasets, so there is no mean and no best step; there are "
            f"scores of {', '.join(present)} ({opt('tasks')} chooses)."
        )
    yield from _seen(series.families)
    yield from _falls(series.families)
    yield from (_best(leading, curve) for curve in leading.curves) if leading is not None else ()
    for family in series.families:
        for curve in family.curves:
            if steps := [str(point.step.step) for point in curve.points if point.constant]:
                which = (
                    f"step {', '.join(steps)}" if len(steps) < len(curve.points) else "every step"
                )
                yield f"{curve.run}: {family.dataset} has the score of a constant answer at {which}."
    for run in series.runs:
        own = [one for one in series.scored if one.step.run == run]
        if lost := [str(one.step.step) for one in own if one.row is None]:
            yield f"{run}: {count_noun(len(lost), 'checkpoint')} of {len(own)} without scores: step {', '.join(lost)}."
        for checkpoint in own:
            if lacks := checkpoint.lacks(series.datasets):
                yield f"{run}: step {checkpoint.step.step} has no score of {', '.join(lacks)}, and no mean."


CHANGE = {
    True: "the change is more than noise",
    False: "no change is told from noise",
    None: "there are too few checkpoints to tell",
}
"""By `Family.seen`."""


def _seen(families: Sequence[Family]) -> Iterator[str]:
    for measure, name in (
        (Measure.SCORE, "By score"),
        (Measure.LOSS, "By the loss of the head on dev"),
    ):
        seen = {family.dataset: family.seen for family in families if family.measure is measure}
        parts = [
            f"{text} on {', '.join(dataset for dataset, each in seen.items() if each is answer)}"
            for answer, text in CHANGE.items()
            if answer in seen.values()
        ]
        if parts:
            yield f"{name}, {'; '.join(parts)}."


def _falls(families: Sequence[Family]) -> Iterator[str]:
    """A sentence for each place where something falls by more than noise; all curves of a measure share the level."""
    present: dict[tuple[str, int, int], list[str]] = {}
    for family in families:
        alike = sum(each.measure is family.measure for each in families)
        for curve, place, size, chance in family.falls(LEVEL / alike):
            before, after = (point.step.step for point in curve.points[place : place + 2])
            digits = family.measure.digits
            loss = "the loss on " if family.measure is Measure.LOSS else ""
            present.setdefault((curve.run, before, after), []).append(
                f"{loss}{family.dataset} by {size:.{digits}f} (noise: {chance:.{digits}f})"
            )
    for (run, before, after), parts in present.items():
        yield (
            f"{run} becomes worse from step {before} to {after}: {', '.join(parts)}. In brackets what noise alone "
            "exceeds anywhere in these curves in a twentieth of cases."
        )


def _best(family: Family, curve: Curve) -> str:
    best = family.best(curve)
    points = curve.points
    values = [point.value for point in points]
    if len(values) > 1 and max(values) - min(values) < SAME:
        return f"{curve.run}: {family.dataset} is {points[0].value:.2f} at all {len(points)} checkpoints: none is best."
    at = points[best.place].step.step
    text = f"{curve.run}: the trend of {family.dataset} is highest at step {at}, {best.value:.2f}"
    if best.half is None or best.gain is None or best.trend_gain is None:
        return (
            f"{text}; with {count_noun(len(points), 'checkpoint')} nothing is known of its noise."
        )
    others = [points[place].step.step for place in best.alike if place != best.place]
    alike = (
        f"not told from it: step {', '.join(map(str, others))}"
        if others
        else "all other steps are below it"
    )
    single = max(points, key=lambda point: point.value)
    return (
        f"{text} ± {best.half:.2f} ({alike}; the interval is of a step that was chosen for its height, and may "
        f"hold the trend there in fewer than 95 % of cases). The highest single value is {single.value:.2f}, at step "
        f"{single.step.step}; if nothing changed at all, the highest of {len(points)} values would look "
        f"{best.gain:.2f} better than it is, and the highest of the trend {best.trend_gain:.2f}."
    )


def ratio(value: float | None) -> str:
    """A signal-to-noise ratio as a cell; "" if unknown."""
    return "" if value is None else "∞" if math.isinf(value) else f"{value:.1f}"


NEEDED = ("run", "step", "protocol", "dataset", "measure", "value", "trend", "trend_half")
SHOWN = (Measure.SCORE, Measure.FIGURE)
"""Measures on the page; the losses of heads are in the table."""


@dataclass(frozen=True)
class SeriesFolder:
    """The tables of `blurb series` in a folder, as the page takes them."""

    folder: Path

    def charts(self) -> list[SeriesChart]:
        """A chart for each dataset and figure.

        Of several protocols the first one is shown, by which all checkpoints were scored.

        :raises DataError: with file and line for what is no such table
        """
        if not (paths := sorted(self.folder.rglob("series.csv"))):
            raise DataError(
                f"no series.csv here; {opt('series')} needs the {opt('out')} folder of blurb series.",
                self.folder,
            )
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
                ends = clip_interval(*ends, line["dataset"])
            point = int(line["step"]), float(line["value"]), trend, ends
        except (ValueError, TypeError) as error:
            raise at.error("step, value and trend must be numbers.") from error
        points.setdefault(line["dataset"], {}).setdefault(undo_neutral(line["run"]), []).append(
            point
        )
    spaced = needs_log_axis(
        *([step for step, *_ in own] for runs in points.values() for own in runs.values())
    )
    return [SeriesChart(dataset, spaced, list(runs.items())) for dataset, runs in points.items()]


SERIES = click.Option(
    ["--series"],
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    callback=lambda context, parameter, value: value and SeriesFolder(value),
    help="Also show the curves that blurb series wrote to this folder.",
)


class Line(TypedDict):
    """A value of a checkpoint, with the trend at its step."""

    run: Annotated[str, "name of the run"]
    step: Annotated[Count, "updates by then"]
    words: Annotated[Count | None, "words of text seen by then, if its files say it"]
    tokens: Annotated[Count | None, "sub-tokens seen by then, likewise"]
    protocol: Annotated[str, "protocol of the fine-tuning; empty for figures of the pretraining"]
    dataset: Annotated[
        str, "dataset, `mean` over all of them, or name of a figure of the pretraining"
    ]
    measure: Annotated[
        str, "score (times 100), loss (of the head on dev) or figure (of the pretraining)"
    ]
    split: Annotated[str, "dev or test; empty for figures"]
    value: Annotated[float, "mean over fine-tunings"]
    half: Annotated[float | None, "half of its 95 % interval over fine-tunings; null for one"]
    runs: Annotated[Count, "number of fine-tunings"]
    trend: Annotated[float | None, "the trend of the run at this step"]
    trend_half: Annotated[float | None, "half of its 95 % interval; null with too few checkpoints"]
    noise: Annotated[
        float | None,
        "standard deviation of single checkpoints about the trend, pooled over the runs",
    ]
    constant: Annotated[
        bool, "whether it is the score of a constant answer, where its predictions are there"
    ]


COLUMNS = tuple(Line.__annotations__)


def lines(families: Iterable[Family], protocol: str, split: Split) -> Iterator[Line]:
    """The lines of some curves, in their order."""
    splits = {Measure.SCORE: split, Measure.LOSS: "dev", Measure.FIGURE: ""}
    for family in families:
        for curve in family.curves:
            trend, half = family.trend(curve)
            for place, point in enumerate(curve.points):
                yield Line(
                    run=curve.run,
                    step=point.step.step,
                    words=point.step.words,
                    tokens=point.step.tokens,
                    protocol="" if family.measure is Measure.FIGURE else protocol,
                    dataset=family.dataset,
                    measure=family.measure.value,
                    split=splits[family.measure],
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

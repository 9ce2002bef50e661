"""The table of a series: a line for each run, step, dataset and measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, TypedDict

from blurb.extensions.series.curves import Family
from blurb.records import Count
from blurb.results.dataset_scores import Measure
from blurb.tasks import Split


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
                    run=curve.run, step=point.step.step, words=point.step.words, tokens=point.step.tokens,
                    protocol=family.measure.protocol_of(protocol), dataset=family.dataset,
                    measure=family.measure.value, split=family.measure.split_of(split),
                    value=point.value, half=point.half, runs=point.runs, trend=float(trend[place]),
                    trend_half=None if half is None else float(half[place]),
                    constant=point.constant,
                    noise=None if family.noise is None else family.noise.deviation,
                )  # fmt: skip


def written(line: Line) -> dict[str, str]:
    """A line of the file: scores with two digits, losses and figures with four; unknown figures are empty."""
    digits = 2 if line["measure"] == Measure.SCORE else 4
    return {name: _cell(value, digits) for name, value in line.items()}


def _cell(value: object, digits: int) -> str:
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

"""The page of a series, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from blurb.extensions.series import curves
from blurb.extensions.series.reading import ratio
from blurb.messages.text import plural
from blurb.results.dataset_scores import Measure

if TYPE_CHECKING:
    from blurb.extensions.series.curves import Family
    from blurb.extensions.series.series import Series

UNKNOWN = "–"


def text(series: Series, picture: bool = True) -> str:
    """Picture, sentences, how well each set sees the runs change, the scores, and what is left out."""
    parts = [f"# {', '.join(series.runs)}", "", *_head(series), ""]
    parts += ["![The curves](series.png)", ""] if picture else []
    parts += [*(f"- {sentence}" for sentence in series.reading()), ""]
    parts += ["## Signal and noise", "", *_signal(series), ""]
    parts += ["## Scores", "", *_scores(series), ""]
    for protocol, scored in series.full.items():
        parts += [f"## Best and last by `{protocol}`", "", *_full(series, scored), ""]
    if series.notes:
        parts += ["## Left out", "", *(f"- {note}" for note in series.notes), ""]
    return "\n".join(parts)


def _head(series: Series) -> Iterator[str]:
    done = sum(one.row is not None and not one.lacks(series.datasets) for one in series.scored)
    yield (
        f"{plural(len(series.scored), 'checkpoint')} of {plural(len(series.runs), 'run')}, {done} of them scored by "
        f"`{series.protocol}`; scores are of {series.split}, times 100. Every checkpoint is one pretraining at one "
        "step: what is said holds of these runs, and not of others of the same recipe."
    )


def _signal(series: Series) -> Iterator[str]:
    yield (
        "Noise is the standard deviation of single checkpoints about their trend, pooled within the runs. The ratio is "
        "the range of the trend divided by the noise. In brackets: the ratio that runs without a trend exceed in 5 % "
        "of cases."
    )
    yield ""
    yield "| dataset | noise of the score | ratio | noise of the loss | ratio |"
    yield "|---|---:|---:|---:|---:|"
    for dataset in (curves.MEAN, *series.datasets):
        score = _noise(series.family(dataset), 2)
        loss = _noise(series.family(dataset, Measure.LOSS), 4)
        if (*score, *loss) != (UNKNOWN,) * 4:
            yield f"| {dataset} | {' | '.join((*score, *loss))} |"


def _noise(family: Family | None, digits: int) -> tuple[str, str]:
    if family is None or family.noise is None:
        return UNKNOWN, UNKNOWN
    return f"{family.noise.deviation:.{digits}f}", f"{ratio(family.signal_to_noise)} ({ratio(family.by_chance)})"


def _scores(series: Series) -> Iterator[str]:
    figures = [each for each in series.families if each.measure is Measure.FIGURE]
    shown = [each for each in series.families if each.measure is Measure.SCORE] + figures
    words = any(checkpoint.step.words is not None for checkpoint in series.scored)
    titles = ["run", "step", *(["words"] if words else []), *(each.dataset for each in shown)]
    yield f"| {' | '.join(titles)} |"
    yield f"|---|{'---:|' * (len(titles) - 1)}"
    for checkpoint in series.scored:
        cells = [checkpoint.step.run, f"{checkpoint.step.step:,}"]
        if words:
            cells.append(UNKNOWN if checkpoint.step.words is None else f"{checkpoint.step.words:,}")
        for family in shown:
            point = next((p for curve in family.curves for p in curve.points if p.step == checkpoint.step), None)
            digits = family.measure.digits
            half = "" if point is None or point.half is None else f" ± {point.half:.{digits}f}"
            cells.append(UNKNOWN if point is None else f"{point.value:.{digits}f}{half}")
        yield f"| {' | '.join(cells)} |"


def _full(series: Series, scored: tuple[curves.Scored, ...]) -> Iterator[str]:
    yield f"| checkpoint | {' | '.join(series.datasets)} |"
    yield f"|---|{'---:|' * len(series.datasets)}"
    for one in scored:
        means = one.row.means(series.split) if one.row is not None else {}
        cells = [f"{means[name]:.2f}" if name in means else UNKNOWN for name in series.datasets]
        yield f"| {one.step.name} | {' | '.join(cells)} |"

"""What a series shows, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from blurb.extensions.series.curves import Curve, Family, Scored
from blurb.messages.spelling import opt
from blurb.messages.text import plural
from blurb.results.constants import SAME
from blurb.results.dataset_scores import Measure
from blurb.statistics.welch import LEVEL


def sentences(
    families: Sequence[Family], leading: Family | None, scored: Sequence[Scored], datasets: Sequence[str]
) -> Iterator[str]:
    """Which sets see the runs change, by which measure; where they suddenly fall; the best step of each run.

    :param leading: the scores that decide on the best step
    """
    there = [
        name for name in datasets if any(name not in each.lacks([name]) for each in scored if each.row is not None)
    ]
    if not there:
        yield "No checkpoint has a score yet."
        return
    if leading is None:
        yield (
            f"No checkpoint has all {len(datasets)} datasets, so there is no mean and no best step; there are scores "
            f"of {', '.join(there)} ({opt('tasks')} chooses)."
        )
    yield from _seen(families)
    yield from _falls(families)
    yield from (_best(leading, curve) for curve in leading.curves) if leading is not None else ()
    yield from _constant(families)
    pieces = {run: [one for one in scored if one.step.run == run] for run in dict.fromkeys(o.step.run for o in scored)}
    for run, own in pieces.items():
        lost = [str(one.step.step) for one in own if one.row is None]
        if lost:
            yield f"{run}: {plural(len(lost), 'checkpoint')} of {len(own)} without scores: step {', '.join(lost)}."
        for checkpoint in own:
            if lacks := checkpoint.lacks(datasets):
                yield f"{run}: step {checkpoint.step.step} has no score of {', '.join(lacks)}, and no mean."


def _seen(families: Sequence[Family]) -> Iterator[str]:
    by_measure: dict[Measure, dict[bool | None, list[str]]] = {}
    for family in families:
        if family.measure is not Measure.FIGURE:
            by_measure.setdefault(family.measure, {}).setdefault(family.seen, []).append(family.dataset)
    for measure, said in by_measure.items():
        name = "By score" if measure is Measure.SCORE else "By the loss of the head on dev"
        parts = []
        if said.get(True):
            parts.append(f"the change is more than noise on {', '.join(said[True])}")
        if said.get(False):
            parts.append(f"no change is told from noise on {', '.join(said[False])}")
        if said.get(None):
            parts.append(f"there are too few checkpoints to tell on {', '.join(said[None])}")
        yield f"{name}, {'; '.join(parts)}."


def _falls(families: Sequence[Family]) -> Iterator[str]:
    """A sentence for each place where something falls by more than noise; all curves of a measure share the level."""
    there: dict[tuple[str, int, int], list[str]] = {}
    for family in families:
        alike = sum(each.measure is family.measure for each in families)
        for curve, place, size, chance in family.falls(LEVEL / alike):
            before, after = (point.step.step for point in curve.points[place : place + 2])
            digits = family.measure.digits
            name = f"the loss on {family.dataset}" if family.measure is Measure.LOSS else family.dataset
            said = f"{name} by {size:.{digits}f} (noise: {chance:.{digits}f})"
            there.setdefault((curve.run, before, after), []).append(said)
    for (run, before, after), parts in there.items():
        yield (
            f"{run} becomes worse from step {before} to {after}: {', '.join(parts)}. In brackets what noise alone "
            "exceeds anywhere in these curves in a twentieth of cases."
        )


def _constant(families: Sequence[Family]) -> Iterator[str]:
    """The checkpoints that are no better than one answer for all examples."""
    for family in families:
        for curve in family.curves:
            steps = [str(point.step.step) for point in curve.points if point.constant]
            if steps:
                which = f"step {', '.join(steps)}" if len(steps) < len(curve.points) else "every step"
                yield f"{curve.run}: {family.dataset} has the score of a constant answer at {which}."


def _best(family: Family, curve: Curve) -> str:
    best = family.best(curve)
    points = curve.points
    if len(points) > 1 and max(point.value for point in points) - min(point.value for point in points) < SAME:
        return f"{curve.run}: {family.dataset} is {points[0].value:.2f} at all {len(points)} checkpoints: none is best."
    at = points[best.place].step.step
    text = f"{curve.run}: the trend of {family.dataset} is highest at step {at}, {best.value:.2f}"
    if best.half is None or best.gain is None or best.trend_gain is None:
        return f"{text}; with {plural(len(points), 'checkpoint')} nothing is known of its noise."
    others = [points[place].step.step for place in best.alike if place != best.place]
    alike = f"not told from it: step {', '.join(map(str, others))}" if others else "all other steps are below it"
    single = max(points, key=lambda point: point.value)
    chance = (
        f"if nothing changed at all, the highest of {len(points)} values would look {best.gain:.2f} better than it is"
    )
    return (
        f"{text} ± {best.half:.2f} ({alike}; the interval is of a step that was chosen for its height, and may "
        f"hold the trend there in fewer than 95 % of cases). The highest single value is {single.value:.2f}, at step "
        f"{single.step.step}; {chance}, and the highest of the trend {best.trend_gain:.2f}."
    )


def ratio(value: float | None) -> str:
    """A signal-to-noise ratio as a cell; "" if unknown."""
    return "" if value is None else "∞" if math.isinf(value) else f"{value:.1f}"

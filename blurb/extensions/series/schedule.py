"""Which checkpoint to score next, where there is no time for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from blurb.statistics.smoothing import Floats, places


def following(steps: Sequence[int], known: Mapping[int, float], logarithmic: bool = True) -> int | None:
    """The step to look at next: the first, the last, the geometric middle, then where the curve bends; None at the end.

    Between two known steps the curve is unknown by as much as the lines through their neighbours disagree there; the
    middle of the gap where that is most comes next. So looks gather about a knee, and a straight part gets few.

    :param steps: all steps, ascending
    :param known: step -> value of those that were looked at; one that failed is left out of `steps`
    :param logarithmic: whether the middle is the geometric one
    """
    if not steps:
        return None
    for step in (steps[0], steps[-1]):
        if step not in known:
            return step
    there = [step for step in steps if step in known]
    where, values = places(there, logarithmic), np.asarray([known[step] for step in there])
    gaps = [place for place in range(len(there) - 1) if _inside(steps, there[place], there[place + 1])]
    if not gaps:
        return None
    unknown = [_disagreement(where, values, place) for place in gaps]
    widths = [where[place + 1] - where[place] for place in gaps]
    widest = max(widths)
    # Of gaps that the curve says nothing of, the widest: so a straight line is halved again and again.
    floor = 1e-3 * (float(np.ptp(values)) or 1.0)
    chosen = max(range(len(gaps)), key=lambda number: (unknown[number] + floor) * (widths[number] / widest))
    low, high = there[gaps[chosen]], there[gaps[chosen] + 1]
    candidates = _inside(steps, low, high)
    middle = float(np.mean(places([low, high], logarithmic)))
    return candidates[int(np.argmin(np.abs(places(candidates, logarithmic) - middle)))]


def _inside(steps: Sequence[int], low: int, high: int) -> list[int]:
    return [step for step in steps if low < step < high]


def _disagreement(where: Floats, values: Floats, place: int) -> float:
    """How far the lines that come into a gap from both sides are from the chord, in its middle."""
    middle = (where[place] + where[place + 1]) / 2
    chord = (values[place] + values[place + 1]) / 2
    distance = 0.0
    for near, far in ((place, place - 1), (place + 1, place + 2)):
        if 0 <= far < len(where):
            slope = (values[near] - values[far]) / (where[near] - where[far])
            distance = max(distance, abs(values[near] + slope * (middle - where[near]) - chord))
    return distance if len(where) > 2 else float(np.ptp(values))

"""Pairwise comparisons of rows, by the same function as `blurb compare`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice

from blurb.extensions.reports.html.model import PageRow, PairwiseComparison, PairwiseComparisons
from blurb.results import comparability, comparison
from blurb.results.comparability import Use
from blurb.results.row import Row
from blurb.results.score import SCORE, datasets_by_type
from blurb.statistics.welch import WelchComparison, t_critical

WITH_UNITS = 28
"""Maximum number of pairs (eight rows) for which test examples are resampled, which takes seconds per pair."""
MOST_ENCODERS = 20
"""Maximum number of rows to compare, as size and time grow with the square of the rows."""
MOST_PROBES = 8
"""The same for probes, whose test always needs the test examples."""
COARSE = 0.01


def comparisons(entries: Sequence[PageRow], tasks: Sequence[str]) -> PairwiseComparisons:
    """Compares all pairs of the first `MOST_ENCODERS` entries with runs.

    p-values are those of `blurb compare`: corrected over the datasets of a pair, not over the pairs.

    :param entries: entries in the order of the page, the best first
    """
    names = (*tasks, *(str(kind) for kind, group in datasets_by_type().items() if len(group) > 1), SCORE)
    with_runs = (place for place, entry in enumerate(entries) if any(one.runs for one in entry.row.datasets.values()))
    compared = list(
        islice(with_runs, MOST_PROBES if all(entry.row.kind.paired for entry in entries) else MOST_ENCODERS)
    )
    left_out = sum(1 for _ in with_runs)
    pairs = list(combinations(compared, 2))
    with_units = len(pairs) <= WITH_UNITS
    found = [
        _compare_pair(first, other, entries[first].row, entries[other].row, names, with_units) for first, other in pairs
    ]
    return PairwiseComparisons(names, with_units, found, left_out)


def opening(found: PairwiseComparisons, entries: Sequence[PageRow], focus: int) -> tuple[int, int]:
    """The pair to show at first: the one with the most verdicts, of several the best rows.

    Two encoders under one protocol come first, then an encoder and a baseline, as a verdict on two protocols is about
    these and not about encoders. Where no pair can be judged, the highlighted row is shown beside the published row
    that shares the most datasets.
    """

    def worth(pair: PairwiseComparison) -> tuple[int, int]:
        first, other = entries[pair.first], entries[pair.other]
        alike = first.row.comparable_with(other.row, Use.CHECK) is None and not first.baseline
        verdicts = sum(p is not None for _, p, _ in pair.lines)
        return 2 if alike else int(first.baseline != other.baseline), verdicts

    judged = [pair for pair in found.pairs if any(p is not None for _, p, _ in pair.lines)]
    if judged:
        best = max(judged, key=worth)
        return best.first, best.other
    others = [place for place in range(len(entries)) if place != focus]
    shared = {place: len(entries[place].datasets.keys() & entries[focus].datasets.keys()) for place in others}
    published = [place for place in others if entries[place].kind == "published"]
    return focus, max(published or others, key=shared.__getitem__, default=focus)


def _compare_pair(
    first: int, other: int, row: Row, against: Row, names: Sequence[str], with_units: bool
) -> PairwiseComparison:
    # Test units are resampled only where there can be a judgement: with one run a side there is none.
    with_units &= any(len(one.runs) > 1 for each in (row, against) for one in each.datasets.values())
    lines = {line.name: line for line in comparison.compare_rows(row, against, "test", with_units)}
    intervals: list[tuple[float | None, float | None, str]] = []
    for name in names:
        line = lines.get(name)
        if line is None or line.difference is None:
            intervals.append((None, None, ""))
        else:
            intervals.append((_half(line.comparison), line.p, line.reason))
    told = tuple("; ".join(comparability.remarks(*sides)) for sides in ((row, against), (against, row)))
    return PairwiseComparison(first, other, intervals, told)  # type: ignore[arg-type]


def _half(found: WelchComparison) -> float | None:
    """Half-width of the 95 % interval of the difference."""
    if found.standard_error is None or found.degrees_of_freedom is None:
        return None
    return _critical(found.degrees_of_freedom) * found.standard_error


_known: dict[int, float] = {}


def _critical(degrees_of_freedom: float) -> float:
    """Critical value of Student's t, interpolated between degrees of freedom, as fifty rows need 20,000 of them."""
    place = 1 / degrees_of_freedom / COARSE
    steps = [int(place), int(place) + 1]
    for step in steps:
        if step not in _known:
            _known[step] = t_critical(1 / (step * COARSE)) if step else t_critical(1e6)
    low, high = (_known[step] for step in steps)
    return low + (place - steps[0]) * (high - low)

"""The variance between runs that the tests of a check rest on, beyond what the two rows themselves say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blurb.messages import count_noun, format_p
from blurb.regression.decision import Turn
from blurb.regression.rules import Rules
from blurb.results.row import Row
from blurb.statistics.pooled import RunVariance, Squares, bartlett_p, pool_variance, stated_variance
from blurb.statistics.welch import holm
from blurb.tasks import Split

UNEQUAL = 0.01
"""Level below which Bartlett's test, corrected over the datasets, says that checkpoints differ in variance. Only a
remark depends on it, no decision, so it must not be frequent."""


class Variances(NamedTuple):
    """Estimates of the variance between runs.

    :param known: dataset -> variance; for others only the two rows tell it
    :param text: a sentence for reports, or ""
    """

    known: Mapping[str, RunVariance]
    text: str


def squares_of(row: Row, names: Sequence[str], split: Split) -> dict[str, Squares]:
    """The variance between the runs of a row, for each dataset with several runs."""
    return {
        name: squares for name in names if (squares := Squares.of(row.values(name, split))).degrees
    }


def series_variances(
    candidate: Row, baseline: Row, names: Sequence[str], rules: Rules, turn: Turn | None
) -> Variances:
    """The variances of datasets in a series: pooled over its checkpoints, or stated if none has two runs.

    Without a series, a stated one counts if both rows have a single run.
    """
    if candidate.kind.paired or (turn is not None and turn.refused):
        return Variances({}, "")
    series = {
        "the candidate": squares_of(candidate, names, rules.split),
        "the baseline": squares_of(baseline, names, rules.split),
        **({} if turn is None else turn.series),
    }
    groups = {
        name: {what: there[name] for what, there in series.items() if name in there}
        for name in names
    }
    estimated = {
        name: variance
        for name in names
        if (variance := pool_variance(list(groups[name].values()))) is not None
    }
    others = (
        {}
        if rules.sd is None
        else {name: stated_variance(rules.sd) for name in names if name not in estimated}
    )
    if turn is None:  # Welch's test uses the variances of both rows
        return Variances(others, _stated_for(rules, others, names))
    text = " ".join(
        filter(None, (_describe_pool(estimated, groups), _stated_for(rules, others, names)))
    )
    return Variances({**estimated, **others}, text)


def _stated_for(rules: Rules, known: Mapping[str, RunVariance], names: Sequence[str]) -> str:
    if not known:
        return ""
    where = "" if len(known) == len(names) else f" of {', '.join(known)}"
    return (
        f"The standard deviation between runs{where} is stated, not measured: {rules.sd:g} points."
    )


def _describe_pool(
    known: Mapping[str, RunVariance], groups: Mapping[str, Mapping[str, Squares]]
) -> str:
    """Over how many checkpoints it is pooled, and whether their variances are alike."""
    if not known:
        return ""
    degrees = sorted(int(variance.degrees) for variance in known.values())
    between = f"{degrees[0]} to {degrees[-1]}" if degrees[0] != degrees[-1] else f"{degrees[0]}"
    count = max(len(one) for one in groups.values())
    text = f"The variance between runs is pooled over {count_noun(count, 'checkpoint')} ({between} degrees of freedom)"
    tested = {
        name: p for name in known if (p := bartlett_p(list(groups[name].values()))) is not None
    }
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    unequal = {name: p for name, p in corrected.items() if p is not None and p < UNEQUAL}
    if unequal:
        parts = "; ".join(
            f"{name}: {_range_of_variances(groups[name])}, p {format_p(p)}"
            for name, p in unequal.items()
        )
        return (
            f"{text}. It is not the same for all of them, so these tests are not exact ({parts})."
        )
    if not corrected:
        return f"{text}; too few of them vary to ask whether it is the same for all."
    return f"{text}; Bartlett's test shows no difference between them."


def _range_of_variances(checkpoints: Mapping[str, Squares]) -> str:
    deviations = {name: one.sd or 0.0 for name, one in checkpoints.items()}
    largest = max(deviations, key=lambda name: deviations[name])
    return (
        f"sd {min(deviations.values()):.2f} to {deviations[largest]:.2f}, the largest of {largest}"
    )

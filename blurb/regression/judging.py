"""Decides whether a candidate passes: a pure function of two rows, the rules, and the look of a series."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from blurb import learners
from blurb.messages import count_noun, format_p
from blurb.regression.decision import CHECKPOINTS, DatasetDecision, Decision, Outcome, Turn
from blurb.regression.rules import Limit, Rules
from blurb.regression.variances import series_variances
from blurb.results import comparability, predictions
from blurb.results.comparison import LARGE, ScoreComparison, compare_rows, has_paired, seen_alone
from blurb.results.row import Row
from blurb.results.score import SCORE, DatasetScores, dataset_weights, in_order
from blurb.statistics.bootstrap import RESAMPLES
from blurb.statistics.pooled import RunVariance
from blurb.statistics.welch import LEVEL, WelchComparison, holm
from blurb.tasks import Split

ROUNDING = 1e-4
"""Tolerance in points: a `results.csv` is rounded, the numbers of a store are not."""
FINE, MOST_DRAWS = 10, 1_000_000
"""Draws of a paired test for each draw that the smallest p-value needs, and at most; a million take seconds."""


def decide_check(candidate: Row, baseline: Row, rules: Rules, turn: Turn | None = None) -> Decision:
    """Judges every required dataset, and the score if both rows have it.

    A dataset is a regression if its mean dropped by more than `max_drop`, is below `min_score`, or dropped by more than
    runs of one encoder differ: at the level of the rules, corrected over all required datasets and the score (Holm), so
    that the level holds for the whole check. (Both rows have the same test examples, which are no source of chance
    under this null hypothesis.) `Rules.rule` asks for both of drop and noise, or for noise alone. It cannot be judged
    if it is missing or incomplete, if the two rows are not comparable (`blurb.results.comparability`), or if the
    variance between runs is unknown and no `max_drop` is set. Two probes have no runs; a paired test over test examples
    compares them. The score cannot be judged if one of its datasets cannot.

    :param turn: in a series: the level is that of the look, and the variance is pooled over the checkpoints
    """
    required = required_of(baseline, rules)
    only = compared_of(baseline, rules)
    known = series_variances(candidate, baseline, only, rules, turn)
    level = rules.level if turn is None else turn.level
    lines = _compare_datasets(candidate, baseline, rules, only, known.known, level)
    unfit = {
        name: _why_unfit(lines.get(name), name, candidate, baseline, rules, turn)
        for name in {*required, *dataset_weights()}
    }
    if SCORE in lines:
        required.insert(0, SCORE)
        refused = "" if turn is None else turn.refused  # the same for all
        unfit[SCORE] = refused or next(
            (f"{name}: {unfit[name]}" for name in dataset_weights() if unfit[name]), ""
        )
    # A dataset that is fit has a line.
    drops = holm([None if unfit[name] else lines[name].comparison.p_drop for name in required])
    case = _Judged(candidate, baseline, rules, turn, level, len(required))
    findings = [
        _make_finding(name, lines.get(name), unfit[name], p, case)
        for name, p in zip(required, drops, strict=True)
    ]
    if SCORE not in required and rules.overall != Limit():
        findings.insert(
            0,
            DatasetDecision(
                _empty_comparison(SCORE),
                Outcome.CANNOT_JUDGE,
                reasons=("the score needs all thirteen datasets in both rows",),
            ),
        )
    remarks = tuple(comparability.remarks(candidate, baseline)) if findings else ()
    return Decision(
        candidate.name, baseline.name, rules, tuple(findings), remarks, bool(candidate.records and baseline.records),
        turn, known.text, _describe_scope(candidate, baseline, findings),
        _constant_row(candidate, baseline, required, rules.split),
        tuple(f"{row.name}: {said}." for row in (candidate, baseline) if not row.published for said in row.remarks),
    )  # fmt: skip


def _constant_row(candidate: Row, baseline: Row, names: Collection[str], split: Split) -> str:
    """Which row has the score of a constant answer, and on which datasets: a pass says little there."""
    said = []
    for row in (candidate, baseline):
        alike = [
            name
            for name in names
            if name != SCORE and predictions.equals_a_constant(row, name, split)
        ]
        said += [f"{row.name} on {', '.join(alike)}"] if alike else []
    return f"The score of a constant answer: {'; '.join(said)}." if said else ""


def required_of(baseline: Row, rules: Rules) -> list[str]:
    """The datasets that the rules ask for: by default all that the baseline planned or has."""
    requested = rules.required
    if requested is None:
        scored = baseline.means(rules.split) or baseline.means()  # numbers without runs are of test
        requested = tuple(
            name for name, one in in_order(baseline.datasets) if one.planned or name in scored
        )
    return list(dict.fromkeys([*requested, *rules.limits]))


def compared_of(baseline: Row, rules: Rules) -> list[str]:
    """The datasets to compare: the required ones, and with a limit of the score all of its datasets."""
    required = required_of(baseline, rules)
    return (
        required
        if rules.overall == Limit()
        else list({**dict.fromkeys(required), **dataset_weights()})
    )


def _compare_datasets(
    candidate: Row, baseline: Row, rules: Rules, only: Collection[str],
    known: Mapping[str, RunVariance], level: float,
) -> dict[str, ScoreComparison]:  # fmt: skip
    """The comparisons by name; paired ones with as many draws as the level needs, where it could be reached.

    The usual draws come first. Only if one of their p-values is near the level, more are drawn and decide alone: a
    test that also asks for the first ones rejects no more often than its level.
    """

    def compared(draws: int) -> dict[str, ScoreComparison]:
        lines = compare_rows(
            candidate, baseline, rules.split, with_units=False, only=only, across=rules.across, variances=known,
            draws=draws,
        )  # fmt: skip
        return {line.name: line for line in lines}

    lines = compared(RESAMPLES)
    tests = sum(name == SCORE or name in only for name in lines)
    # Enough for a p-value that is below the level after the correction over the tests.
    draws = min(MOST_DRAWS, math.ceil(FINE * tests / level)) if level else 0
    if not has_paired(lines.values()) or draws <= RESAMPLES:
        return lines
    near = max(FINE * level, FINE / RESAMPLES)
    p_drops = [line.comparison.p_drop for line in lines.values()]
    return compared(draws) if any(p is not None and p <= near for p in p_drops) else lines


def _describe_scope(candidate: Row, baseline: Row, findings: Sequence[DatasetDecision]) -> str:
    """The scope of a decision in words; "" where probes name it themselves, or there are no two checkpoints."""
    judged = [finding for finding in findings if finding.outcome is not Outcome.CANNOT_JUDGE]
    weights = candidate.weights, baseline.weights
    apart = all(weights) and weights[0] != weights[1] and not any(map(learners.is_named, weights))
    return (
        CHECKPOINTS
        if apart and judged and not has_paired(finding.line for finding in judged)
        else ""
    )


def _empty_comparison(name: str) -> ScoreComparison:
    return ScoreComparison(name, None, None, (0, 0), WelchComparison(None))


def _why_unfit(
    line: ScoreComparison | None,
    name: str,
    candidate: Row,
    baseline: Row,
    rules: Rules,
    turn: Turn | None,
) -> str:
    """Why no rule can be applied to a dataset; "" if one can."""
    if turn is not None and turn.refused:
        return turn.refused
    if line is None or line.first is None:
        on_test = rules.split != "test" and candidate.means().get(name) is not None
        hint = (
            f"; it has no predictions on {rules.split}, --split test compares those that it has"
            if on_test
            else ""
        )
        return f"missing in the candidate{hint}"
    for row, what in ((candidate, "the candidate"), (baseline, "the baseline")):
        dataset = row.datasets.get(name, DatasetScores(name))
        there = len(dataset.scores(rules.split)) if dataset.runs else dataset.count
        if there < dataset.planned:
            return f"{what} has {there} of {dataset.planned} seeds"
    if line.other is None:
        return ""
    for one in comparability.find_obstacles(
        candidate, baseline, comparability.Use.CHECK, name, rules.split
    ):
        if not comparability.is_passed(one, rules.across):
            return one.text("the candidate", "the baseline") + one.hint
    return ""


@dataclass(frozen=True)
class _Judged:
    """Two rows and the rules by which they are judged."""

    candidate: Row
    baseline: Row
    rules: Rules
    turn: Turn | None
    level: float
    tests: int

    def too_fine(self, line: ScoreComparison) -> bool:
        """Whether the paired test has too few draws for the level."""
        return line.comparison.paired and self.level * MOST_DRAWS <= self.tests


def _make_finding(
    name: str, line: ScoreComparison | None, unfit: str, p_drop: float | None, judged: _Judged
) -> DatasetDecision:
    candidate, baseline, rules = judged.candidate, judged.baseline, judged.rules
    if unfit or line is None or line.first is None:
        return DatasetDecision(
            line or _empty_comparison(name), Outcome.CANNOT_JUDGE, reasons=(unfit or "missing",)
        )
    limit = rules.limit(name)
    broken = _broken_rules(line, limit, p_drop, judged)
    if broken:
        worse, better = flips(baseline, candidate, name, rules.split)
        return DatasetDecision(line, Outcome.REGRESSION, p_drop, tuple(broken), worse, better)
    if line.other is None and limit.min_score is None:
        return DatasetDecision(line, Outcome.CANNOT_JUDGE, reasons=("missing in the baseline",))
    if line.other is not None and (unknown := _why_unknown(line, limit, p_drop, judged)):
        return DatasetDecision(line, Outcome.CANNOT_JUDGE, p_drop, (unknown,))
    two_sided = 2 * judged.level or LEVEL
    hint = (
        hint_of_pass(line, limit, candidate, rules.split, two_sided) if rules.rule == "or" else ""
    )
    return DatasetDecision(line, Outcome.PASS, p_drop, hint=hint)


def _broken_rules(
    line: ScoreComparison, limit: Limit, p_drop: float | None, judged: _Judged
) -> list[str]:
    """The rules that a dataset or the score breaks, in words."""
    rules, first = judged.rules, line.first or 0.0
    low = limit.min_score is not None and first < limit.min_score
    broken = [f"{first:.2f} is below the minimum of {limit.min_score:g}"] if low else []
    if line.other is None:
        return broken
    drop = line.other - first
    beyond = limit.max_drop is not None and drop > limit.max_drop + ROUNDING
    noise = p_drop is not None and p_drop < judged.level and not judged.too_fine(line)
    tolerance = f"more than {limit.max_drop:g}" if beyond else ""
    why = (
        "more than chance explains in a paired test"
        if line.comparison.paired
        else "more than seeds explain"
        if rules.across
        else "more than runs of one encoder differ"
    )
    level = "" if judged.turn is None else f", level {judged.level:.2g}"
    chance = f"{why} (p {format_p(p_drop)}{level})"
    if rules.rule == "and":
        return (
            [*broken, f"dropped by {drop:.2f} points, {tolerance}, and {chance}"]
            if beyond and noise
            else broken
        )
    if beyond and rules.rule == "or":
        broken.append(f"dropped by {drop:.2f} points, {tolerance}")
    return [*broken, f"dropped by {drop:.2f} points, {chance}"] if noise else broken


def _why_unknown(line: ScoreComparison, limit: Limit, p_drop: float | None, judged: _Judged) -> str:
    """Why a dataset that breaks no rule does not pass either; "" if it passes."""
    if judged.rules.rule == "and" and limit.max_drop is None:
        return "rule and needs a tolerance, and no max_drop is set"
    if (
        min(line.runs) > 1
        and line.comparison.standard_error == 0
        and (line.difference or 0.0) >= -ROUNDING
    ):
        return ""  # several runs without any variance, and no drop
    within = (
        limit.max_drop is not None
        and (line.other or 0.0) - (line.first or 0.0) <= limit.max_drop + ROUNDING
    )
    if within and judged.rules.rule != "noise":
        return ""
    if judged.level and judged.too_fine(line):
        return (
            f"a paired test of {MOST_DRAWS:,} draws shows no p-value below the level of this look, {judged.level:.2g}; "
            "a new state file with a stated number of looks has larger levels"
        )
    if p_drop is not None and judged.level:
        return ""
    why = line.reason if p_drop is None else "the significance test is off (level 0)"
    stated = (
        ", no sd is stated"
        if line.runs == (1, 1) and p_drop is None and not line.comparison.paired
        else ""
    )
    return f"{why}{stated}" + (
        "" if judged.rules.rule == "noise" or within else ", and no max_drop is set"
    )


USUAL = 5.0
"""The limit that the guide recommends, in points."""


def hint_of_pass(
    line: ScoreComparison, limit: Limit, candidate: Row, split: Split, level: float = LEVEL
) -> str:
    """The hint on a dataset that passes; "" unless it dropped by much and no `max_drop` judged that.

    :param level: two-sided, at which the hint says what the test could have seen
    """
    drop = -(line.difference or 0.0)
    detectable = line.comparison.detectable_at(level)
    if limit.max_drop is not None or drop < LARGE or detectable is None:
        return ""
    one_run = dict(list(candidate.records_of(line.name).items())[:1])
    count = len(predictions.mistakes(one_run, split)) if one_run else 0
    beside = f" and {count_noun(count, 'example')}" if count else ""
    # The usual limit, or the next lower one of whole or half points.
    broken = min(USUAL, math.floor(drop * 2 - 1e-9) / 2)
    return (
        f"passes with a drop of {drop:.2f} points, which the test cannot tell from chance: with "
        f"{line.runs[1]} / {line.runs[0]} runs{beside} {seen_alone(detectable)}; "
        f"--max-drop {broken:g} judges it"
    )


FLIP = 0.5
"""Least change in mistakes per run of an example that counts as changed."""


def flips(
    first: Row, other: Row, name: str, split: Split
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Examples that became worse, and better, with the change in mistakes per run; the largest changes first.

    An example counts if it changed by at least `FLIP` mistakes per run; the mistake of a similarity is its distance.
    """
    records = first.records_of(name), other.records_of(name)
    if not records[0] or not records[1]:
        return [], []
    before, after = predictions.mistakes(records[0], split), predictions.mistakes(records[1], split)
    changes = [(unit, after[unit] - before[unit]) for unit in before if unit in after]
    order = sorted(changes, key=lambda change: (-abs(change[1]), change[0]))
    return (
        [change for change in order if change[1] >= FLIP],
        [change for change in order if change[1] <= -FLIP],
    )

"""Decides whether a candidate passes: a pure function of two rows and the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from html import escape

from blurb.messages.text import probability
from blurb.regression import hints
from blurb.regression.rules import Limit, Rules
from blurb.results import comparability
from blurb.results.comparability import Use
from blurb.results.comparison import SCORE, ScoreComparison, compare_rows, flips, has_paired
from blurb.results.dataset_scores import DatasetScores, in_order
from blurb.results.row_scores import RowScores
from blurb.results.score import dataset_weights
from blurb.statistics.holm import holm
from blurb.statistics.welch import Comparison
from blurb.tasks import Split

ROUNDING = 1e-4
"""Tolerance in points: a `results.csv` is rounded, the numbers of a store are not."""


class Outcome(IntEnum):
    """The exit code of the check."""

    PASS = 0
    REGRESSION = 1
    CANNOT_JUDGE = 2

    @property
    def words(self) -> str:
        """The outcome as text."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True)
class DatasetDecision:
    """The decision on one dataset or the score.

    :param p_drop: one-sided p-value of a drop, corrected over all comparisons; None if unknown
    :param reasons: why it is not a pass
    :param worse: examples with more mistakes than before and the change per run, for regressions with predictions
    :param better: the same for examples with fewer mistakes
    :param hint: what to know of a pass
    """

    line: ScoreComparison
    outcome: Outcome
    p_drop: float | None = None
    reasons: tuple[str, ...] = ()
    worse: Sequence[tuple[str, float]] = ()
    better: Sequence[tuple[str, float]] = ()
    hint: str = ""

    @property
    def name(self) -> str:
        """The dataset, or `score`."""
        return self.line.name


@dataclass(frozen=True, repr=False)
class Decision:
    """The result of the check: all findings, the score first.

    :param remarks: what differs between the two rows
    :param with_examples: whether both rows have predictions; a table alone has none
    """

    candidate: str
    baseline: str
    rules: Rules
    findings: tuple[DatasetDecision, ...]
    remarks: tuple[str, ...] = ()
    with_examples: bool = True

    @property
    def paired(self) -> bool:
        """Whether these are probes, compared by a paired test over test examples."""
        return has_paired(finding.line for finding in self.findings)

    @property
    def outcome(self) -> Outcome:
        """Any regression is a regression; a pass needs at least one finding, and a pass on each."""
        found = {finding.outcome for finding in self.findings}
        if Outcome.REGRESSION in found:
            return Outcome.REGRESSION
        return Outcome.PASS if found == {Outcome.PASS} else Outcome.CANNOT_JUDGE

    @property
    def passed(self) -> bool:
        """Whether nothing is worse, and everything could be judged."""
        return self.outcome is Outcome.PASS

    @property
    def exit_code(self) -> int:
        """That of `blurb check`: 0 pass, 1 regression, 2 cannot judge."""
        return int(self.outcome)

    def __repr__(self) -> str:
        return f"<Decision on {self.candidate} compared with {self.baseline}, {self.rules.split}: {self.outcome.words}>"

    def _repr_html_(self) -> str:
        """In a notebook: the findings as a table."""
        from pandas import DataFrame

        from blurb.regression import table

        rows = [table.cells(finding) for finding in self.findings]
        return (
            f"<p>{escape(repr(self)[1:-1])}</p>{DataFrame(rows, columns=table.COLUMNS).to_html(index=False, border=0)}"
        )

    def to_junit(self) -> bytes:
        """The decision as JUnit XML, a test case a finding."""
        from blurb.regression import junit

        return junit.write(self)


def decide(candidate: RowScores, baseline: RowScores, rules: Rules) -> Decision:
    """Judges every required dataset, and the score if both rows have it.

    A dataset is a regression if its mean dropped by more than `max_drop`, is below `min_score`, or dropped by more than
    runs of one encoder differ: at the level of the rules, corrected over all required datasets and the score (Holm), so
    that the level holds for the whole check. (Both rows have the same test examples, which are no source of chance
    under this null hypothesis.) It cannot be judged if it is missing or incomplete, if the two rows are not
    comparable (`blurb.results.comparability`), or if the variance between runs is unknown and no `max_drop` is set. Two
    probes have no runs; a paired test over test examples compares them. The score cannot be judged if one of its
    datasets cannot.
    """
    wanted = _planned(baseline, rules.split) if rules.required is None else rules.required
    required = list(dict.fromkeys([*wanted, *rules.limits]))
    # A limit of the score asks for the score, whatever datasets are asked for besides.
    only = required if rules.overall == Limit() else {*required, *dataset_weights()}
    compared = compare_rows(candidate, baseline, rules.split, with_units=False, only=only, across=rules.across)
    lines = {line.name: line for line in compared}
    unfit = {
        name: _unfit(lines.get(name), name, candidate, baseline, rules) for name in {*required, *dataset_weights()}
    }
    if SCORE in lines:
        required.insert(0, SCORE)
        unfit[SCORE] = next((f"{name}: {unfit[name]}" for name in dataset_weights() if unfit[name]), "")
    p_drops = holm([None if unfit[name] else lines[name].comparison.p_drop for name in required])  # fit: a line
    findings = [
        _finding(name, lines.get(name), unfit[name], p, candidate, baseline, rules)
        for name, p in zip(required, p_drops, strict=True)
    ]
    if SCORE not in required and rules.overall != Limit():
        why = "the score needs all thirteen datasets in both rows"
        findings.insert(0, DatasetDecision(_nothing(SCORE), Outcome.CANNOT_JUDGE, reasons=(why,)))
    remarks = tuple(comparability.remarks(candidate, baseline)) if findings else ()
    with_examples = bool(candidate.records and baseline.records)
    return Decision(candidate.name, baseline.name, rules, tuple(findings), remarks, with_examples)


def _planned(baseline: RowScores, split: Split) -> list[str]:
    """The datasets that the baseline planned, also those that have no run any more, and those that it has."""
    there = baseline.means(split) or baseline.means()  # numbers without runs are of test
    return [name for name, one in in_order(baseline.datasets) if one.planned or name in there]


def _nothing(name: str) -> ScoreComparison:
    return ScoreComparison(name, None, None, (0, 0), Comparison(None))


def _unfit(line: ScoreComparison | None, name: str, candidate: RowScores, baseline: RowScores, rules: Rules) -> str:
    """Why no rule can be applied to a dataset; "" if one can."""
    if line is None or line.first is None:
        on_test = rules.split != "test" and candidate.means().get(name) is not None
        hint = f"; it has no predictions on {rules.split}, --split test compares those that it has" if on_test else ""
        return f"missing in the candidate{hint}"
    for row, what in ((candidate, "the candidate"), (baseline, "the baseline")):
        dataset = row.datasets.get(name, DatasetScores(name))
        there = len(dataset.scores(rules.split)) if dataset.runs else dataset.count
        if there < dataset.planned:
            return f"{what} has {there} of {dataset.planned} seeds"
    if line.other is None:
        return ""
    for one in comparability.obstacles(candidate, baseline, Use.CHECK, name, rules.split):
        if not comparability.is_passed(one, rules.across):
            return one.text("the candidate", "the baseline") + one.hint
    return ""


def _finding(
    name: str,
    line: ScoreComparison | None,
    unfit: str,
    p_drop: float | None,
    candidate: RowScores,
    baseline: RowScores,
    rules: Rules,
) -> DatasetDecision:
    if unfit or line is None or line.first is None:
        return DatasetDecision(line or _nothing(name), Outcome.CANNOT_JUDGE, reasons=(unfit or "missing",))
    limit = rules.limit(name)
    broken = []
    if limit.min_score is not None and line.first < limit.min_score:
        broken.append(f"{line.first:.2f} is below the minimum of {limit.min_score:g}")
    drop = None if line.other is None else line.other - line.first
    if drop is not None and limit.max_drop is not None and drop > limit.max_drop + ROUNDING:
        broken.append(f"dropped by {drop:.2f} points, more than {limit.max_drop:g}")
    if drop is not None and rules.level and p_drop is not None and p_drop < rules.level:
        why = (
            "more than chance explains in a paired test"
            if line.comparison.paired
            else "more than seeds explain"
            if rules.across
            else "more than runs of one encoder differ"
        )
        broken.append(f"dropped by {drop:.2f} points, {why} (p {probability(p_drop)})")
    if broken:
        worse, better = flips(baseline, candidate, name, rules.split)
        return DatasetDecision(line, Outcome.REGRESSION, p_drop, tuple(broken), worse, better)
    if drop is None and limit.min_score is None:
        return DatasetDecision(line, Outcome.CANNOT_JUDGE, reasons=("missing in the baseline",))
    if drop is not None and limit.max_drop is None and (p_drop is None or not rules.level) and not _same(line):
        why = line.reason if p_drop is None else "the significance test is off (level 0)"
        return DatasetDecision(line, Outcome.CANNOT_JUDGE, p_drop, (f"{why}, and no max_drop is set",))
    return DatasetDecision(line, Outcome.PASS, p_drop, hint=hints.of_pass(line, limit, candidate, rules.split))


def _same(line: ScoreComparison) -> bool:
    """Whether both rows have several runs without any variance, and the score did not drop."""
    return min(line.runs) > 1 and line.comparison.standard_error == 0 and (line.difference or 0.0) >= -ROUNDING

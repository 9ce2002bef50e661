"""The decision as a record for JSON (docs/json.md)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from blurb.records import Count, Probability, Rule
from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.results.comparability import ACROSS
from blurb.tasks import SCORED

Words = Annotated[str, "outcome", Rule("enum", [one.words for one in Outcome])]


class Change(TypedDict):
    """An example with more or fewer mistakes than before."""

    id: Annotated[str, "id of the example"]
    mistakes: Annotated[float, "change in mistakes per run"]


class Finding(TypedDict):
    """The decision on a task or the score."""

    name: Annotated[str, "task or `score`"]
    outcome: Words
    reasons: Annotated[list[str], "why it is no pass"]
    hint: Annotated[str, "what to know of a pass: a large drop that the test cannot tell from chance"]
    baseline_score: Annotated[float | None, "mean of the baseline, times 100, rounded to six digits"]
    candidate_score: Annotated[float | None, "mean of the candidate"]
    difference: Annotated[float | None, "candidate minus baseline, in points"]
    p_drop: Annotated[Probability | None, "one-sided p of a drop, corrected over all comparisons; null if unknown"]
    baseline_runs: Annotated[Count, "runs of the baseline"]
    candidate_runs: Annotated[Count, "runs of the candidate"]
    worse: Annotated[list[Change], "of a regression: examples with more mistakes than before"]
    better: Annotated[list[Change], "of a regression: examples with fewer mistakes"]


class Check(TypedDict):
    """The decision of the regression check."""

    outcome: Words
    exit_code: Annotated[int, "exit code of the command", Rule("enum", [one.value for one in Outcome])]
    candidate: Annotated[str, "the row that is checked"]
    baseline: Annotated[str, "the row that it is compared with"]
    split: Annotated[str, "split", Rule("enum", SCORED)]
    level: Annotated[float, "significance level; 0 turns the test off", Rule("minimum", 0), Rule("exclusiveMaximum", 1)]
    paired: Annotated[bool, "a paired test over test examples, of two probes"]
    across: Annotated[
        list[Annotated[str, Rule("enum", ACROSS)]], "what may differ between the rows, as asked for (`--across`)"
    ]
    remarks: Annotated[list[str], "what differs between the rows, or is unknown"]
    findings: Annotated[list[Finding], "the score first, if there is one, then each task"]


def records(decision: Decision) -> Check:
    """The whole decision, for JSON."""
    return {
        "outcome": decision.outcome.words,
        "exit_code": decision.exit_code,
        "candidate": decision.candidate,
        "baseline": decision.baseline,
        "split": decision.rules.split,
        "level": decision.rules.level,
        "paired": decision.paired,
        "across": list(decision.rules.across),
        "remarks": list(decision.remarks),
        "findings": [_of_finding(finding) for finding in decision.findings],
    }


def _of_finding(finding: DatasetDecision) -> Finding:
    line = finding.line
    return {
        "name": finding.name,
        "outcome": finding.outcome.words,
        "reasons": list(finding.reasons),
        "hint": finding.hint,
        "baseline_score": _rounded(line.other),
        "candidate_score": _rounded(line.first),
        "difference": _rounded(line.difference),
        "p_drop": finding.p_drop,
        "baseline_runs": line.runs[1],
        "candidate_runs": line.runs[0],
        "worse": [{"id": unit, "mistakes": change} for unit, change in finding.worse],
        "better": [{"id": unit, "mistakes": change} for unit, change in finding.better],
    }


def _rounded(value: float | None) -> float | None:
    """A score without the noise of sums of floats: 76.6894 and not 76.68939999999999."""
    return None if value is None else round(value, 6)

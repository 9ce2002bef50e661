"""The decision as a record for JSON (docs/json.md)."""

from __future__ import annotations

import math
from typing import Annotated, TypedDict

from blurb.records import Count, From, Probability, Rule
from blurb.regression.decision import DatasetDecision, Outcome
from blurb.regression.rules import RULES
from blurb.results import ACROSS
from blurb.tasks import SCORED

Words = Annotated[str, "outcome", Rule("enum", [one.words for one in Outcome]), From("outcome.words")]


def _degrees(finding: DatasetDecision) -> float | None:
    degrees = finding.line.comparison.degrees_of_freedom
    return None if degrees is None or math.isinf(degrees) else round(degrees, 6)


class Change(TypedDict):
    """An example with more or fewer mistakes than before."""

    id: Annotated[str, "id of the example", From("0")]
    mistakes: Annotated[float, "change in mistakes per run", From("1")]


class FindingRecord(TypedDict):
    """The decision on a task or the score."""

    name: Annotated[str, "task or `score`"]
    outcome: Words
    reasons: Annotated[list[str], "why it is no pass"]
    hint: Annotated[str, "what to know of a pass: a large drop that the test cannot tell from chance"]
    baseline_score: Annotated[
        float | None, "mean of the baseline, times 100, rounded to six digits", From("line.other", 6)
    ]
    candidate_score: Annotated[float | None, "mean of the candidate", From("line.first", 6)]
    difference: Annotated[float | None, "candidate minus baseline, in points", From("line.difference", 6)]
    standard_error: Annotated[
        float | None, "of the difference, in points; null if unknown", From("line.comparison.standard_error", 6)
    ]
    degrees_of_freedom: Annotated[
        float | None, "of that error; null if unknown, or if the variance is stated", From(_degrees)
    ]
    p_drop: Annotated[Probability | None, "one-sided p of a drop, corrected over all comparisons; null if unknown"]
    baseline_runs: Annotated[Count, "runs of the baseline", From("line.runs.1")]
    candidate_runs: Annotated[Count, "runs of the candidate", From("line.runs.0")]
    worse: Annotated[list[Change], "of a regression: examples worse by half a mistake a run or more"]
    better: Annotated[list[Change], "of a regression: examples better by as much"]


class TurnRecord(TypedDict):
    """The look of a series (docs/extensions/series-gate.md)."""

    number: Annotated[Count, "which look it is, from 1"]
    looks: Annotated[Count | None, "how many are planned; null for any number"]
    level: Annotated[float, "level of this look; 0 after the last one"]
    spent: Annotated[float, "of the level of the series, with this look"]
    repeated: Annotated[bool, "the same candidate was judged before, and nothing is spent"]
    refused: Annotated[str, "why nothing could be judged"]


class Check(TypedDict):
    """The decision of the regression check."""

    outcome: Words
    exit_code: Annotated[int, "exit code of the command", Rule("enum", [one.value for one in Outcome])]
    candidate: Annotated[str, "the row that is checked"]
    baseline: Annotated[str, "the row that it is compared with"]
    split: Annotated[str, "split", Rule("enum", SCORED), From("rules.split")]
    rule: Annotated[str, "what makes a drop a regression", Rule("enum", RULES), From("rules.rule")]
    level: Annotated[
        float,
        "significance level, of a series as a whole; 0 turns the test off",
        Rule("minimum", 0),
        Rule("exclusiveMaximum", 1),
        From("rules.level"),
    ]
    paired: Annotated[bool, "a paired test over test examples, of two probes"]
    across: Annotated[
        list[Annotated[str, Rule("enum", ACROSS)]],
        "what may differ between the rows, as asked for (`--across`)",
        From("rules.across"),
    ]
    remarks: Annotated[list[str], "what differs between the rows, or is unknown"]
    look: Annotated[TurnRecord | None, "null without a state file, and if no test decided anything", From("turn")]
    variance: Annotated[str, "where the variance between runs is from, if not from these two rows alone"]
    scope: Annotated[str, "what the decision is on, if that needs a word"]
    constant: Annotated[str, "on which datasets a row has the score of a constant answer; empty if on none"]
    findings: Annotated[list[FindingRecord], "the score first, if there is one, then each task"]

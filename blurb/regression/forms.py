"""The decision in the forms that people and machines read: a table, Markdown and annotations of GitHub, JSON,
and JUnit XML, which the pages of CI services read.
"""

from __future__ import annotations

import math
import re
from datetime import UTC
from typing import Annotated, Any, TypedDict
from xml.etree import ElementTree

from blurb import records
from blurb.messages import (
    count_noun,
    format_number,
    format_p,
    format_signed,
    group_reasons,
    in_markdown,
)
from blurb.records import Count, From, Probability, Rule
from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.regression.rules import RULES
from blurb.results.across import ACROSS
from blurb.results.comparison import PAIRED
from blurb.tasks import SCORED

MARKS = {
    Outcome.PASS: "pass",
    Outcome.REGRESSION: "REGRESSION",
    Outcome.CANNOT_JUDGE: "cannot judge",
}
COLUMNS = ("dataset", "baseline", "candidate", "difference", "runs", "p (drop)", "outcome", "why")
SHOWN = 10
"""Maximum number of examples to list; JSON has all."""


def cells(finding: DatasetDecision) -> tuple[str, ...]:
    """A table row: name, baseline, candidate, difference, runs, p, outcome and reasons."""
    line = finding.line

    return (
        finding.name,
        format_number(line.other),
        format_number(line.first),
        format_number(line.difference, format_signed),
        f"{line.runs[1]} / {line.runs[0]}",
        format_p(finding.p_drop),
        MARKS[finding.outcome],
        "; ".join(finding.reasons),
    )


def changed(finding: DatasetDecision) -> str:
    """How many examples became worse and better, and by how much at least: a smaller change is in neither number."""
    return (
        f"{count_noun(len(finding.worse), 'example')} worse by half a mistake a run or more, "
        f"{len(finding.better):,} better by as much"
    )


def describe_flips(finding: DatasetDecision) -> str:
    """How many examples changed, and the worst of them."""
    listed = ", ".join(f"`{unit}` {change:+.1f}" for unit, change in finding.worse[:SHOWN])
    rest = f" and {len(finding.worse) - SHOWN} more" if len(finding.worse) > SHOWN else ""
    return changed(finding) + (f"; worst: {listed}{rest}" if finding.worse else "") + "."


def describe_figures(finding: DatasetDecision) -> str:
    """The table row in one line, also for passes, so that a report shows how close they were."""
    return ", ".join(
        f"{name} {cell}"
        for name, cell in zip(COLUMNS[1:6], cells(finding)[1:6], strict=True)
        if cell
    )


def job_summary(decision: Decision) -> str:
    """The text: a heading, the table, and what changed most in each dataset."""
    hints = group_reasons((finding.name, finding.hint) for finding in decision.findings)
    lines = [
        f"## blurb check: {decision.outcome.words}",
        "",
        f"{_escape_markdown(decision.candidate)} minus {_escape_markdown(decision.baseline)}, {decision.rules.split}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---" + "|---:" * 5 + "|---|---|",
        *(
            "| " + " | ".join(_escape_markdown(cell) for cell in cells(finding)) + " |"
            for finding in decision.findings
        ),
        *(["", PAIRED] if decision.paired else []),
        *(["", decision.scope] if decision.scope else []),
        *(line for note in decision.notes for line in ("", _escape_markdown(note))),
        *(
            ["", f"Judged across {', '.join(decision.rules.across)}, as asked for."]
            if decision.rules.across
            else []
        ),
        *(
            line
            for remark in decision.remarks
            for line in ("", f"The rows differ: {_escape_markdown(remark)}.")
        ),
        *(line for text in hints for line in ("", _escape_markdown(text))),
    ]
    for finding in decision.findings:
        if finding.worse or finding.better:
            lines += ["", f"**{finding.name}**: {describe_flips(finding)}"]
    return "\n".join(lines) + "\n"


def _escape_markdown(text: str) -> str:
    # Also shown as it is where the text is pasted into HTML.
    return in_markdown(text).replace(r"\<", "&lt;")


def workflow_commands(decision: Decision) -> list[str]:
    """Workflow commands of GitHub Actions: an error per regression, a warning if something cannot be judged.

    And a warning if a row has the score of a constant answer, as a pass says little there.
    """
    kinds = {Outcome.REGRESSION: "error", Outcome.CANNOT_JUDGE: "warning"}
    warned = (
        [f"::warning title=blurb::{_escape_command(decision.constant)}"]
        if decision.constant
        else []
    )
    return warned + [
        f"::{kinds[finding.outcome]} title={_escape_command(f'blurb {finding.name}', True)}::"
        f"{_escape_command('; '.join(finding.reasons))}"
        for finding in decision.findings
        if finding.outcome in kinds
    ]


def _escape_command(text: str, is_property: bool = False) -> str:
    """Escapes text for a workflow command, or for a property of one."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text


Words = Annotated[
    str, "outcome", Rule("enum", [one.words for one in Outcome]), From("outcome.words")
]


def _degrees_of(finding: DatasetDecision) -> float | None:
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
    hint: Annotated[
        str, "what to know of a pass: a large drop that the test cannot tell from chance"
    ]
    baseline_score: Annotated[
        float | None,
        "mean of the baseline, times 100, rounded to six digits",
        From("line.other", 6),
    ]
    candidate_score: Annotated[float | None, "mean of the candidate", From("line.first", 6)]
    difference: Annotated[
        float | None, "candidate minus baseline, in points", From("line.difference", 6)
    ]
    standard_error: Annotated[
        float | None,
        "of the difference, in points; null if unknown",
        From("line.comparison.standard_error", 6),
    ]
    degrees_of_freedom: Annotated[
        float | None,
        "of that error; null if unknown, or if the variance is stated",
        From(_degrees_of),
    ]
    p_drop: Annotated[
        Probability | None, "one-sided p of a drop, corrected over all comparisons; null if unknown"
    ]
    baseline_runs: Annotated[Count, "runs of the baseline", From("line.runs.1")]
    candidate_runs: Annotated[Count, "runs of the candidate", From("line.runs.0")]
    worse: Annotated[
        list[Change], "of a regression: examples worse by half a mistake a run or more"
    ]
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
    exit_code: Annotated[
        int, "exit code of the command", Rule("enum", [one.value for one in Outcome])
    ]
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
    look: Annotated[
        TurnRecord | None,
        "null without a state file, and if no test decided anything",
        From("turn"),
    ]
    variance: Annotated[
        str, "where the variance between runs is from, if not from these two rows alone"
    ]
    scope: Annotated[str, "what the decision is on, if that needs a word"]
    constant: Annotated[
        str, "on which datasets a row has the score of a constant answer; empty if on none"
    ]
    row_remarks: Annotated[
        list[str], "on how the seeds of a row were planned, and on its learning rates"
    ]
    findings: Annotated[list[FindingRecord], "the score first, if there is one, then each task"]


NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FIGURES = (
    "baseline_score",
    "candidate_score",
    "difference",
    "standard_error",
    "degrees_of_freedom",
    "p_drop",
    "baseline_runs",
    "candidate_runs",
)
"""Keys of a finding in JSON that are properties of its test case, where they are known."""


def junit_document(decision: Decision) -> bytes:
    """A test case per dataset: a failure is a regression, an error means that it cannot be judged.

    Figures are properties, of a test case those of its dataset. Time stamps are in UTC without a zone, as the schemas
    of JUnit want them.
    """
    outcomes = [finding.outcome for finding in decision.findings]
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(Outcome.REGRESSION)),
        "errors": str(outcomes.count(Outcome.CANNOT_JUDGE)),
    }
    if decision.seconds is not None:
        counts["time"] = f"{decision.seconds:.3f}"
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "blurb check", **counts})
    if decision.checked_at is not None:
        suite.set("timestamp", decision.checked_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    _add_properties(suite, _suite_properties(decision))
    for finding in decision.findings:
        _add_case(suite, decision, finding)
    if not decision.findings:  # an empty suite would be green
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "blurb", "name": "anything to compare"}
        )
        ElementTree.SubElement(
            case, "error", {"message": "nothing to compare", "type": "cannot judge"}
        )
        for node in (root, suite):
            node.set("tests", "1")
            node.set("errors", "1")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _suite_properties(decision: Decision) -> dict[str, Any]:
    """The properties of the whole suite."""
    rules, turn = decision.rules, decision.turn
    known: dict[str, Any] = {
        "test": "paired over test units" if decision.paired else "runs",
        "baseline": decision.baseline,
        "split": rules.split,
        "rule": rules.rule,
        "level": decision.level,
        "across": ", ".join(rules.across),
        "variance": decision.variance,
        "scope": decision.scope,
        "constant": decision.constant,
    }
    if turn is not None:
        known |= {
            "look": turn.number,
            "looks": turn.looks,
            "level_of_series": turn.total,
            "spent": turn.spent,
        }
    return {name: value for name, value in known.items() if value not in ("", None)}


def _add_case(suite: ElementTree.Element, decision: Decision, finding: DatasetDecision) -> None:
    names = {"classname": _valid_xml(decision.candidate), "name": _valid_xml(finding.name)}
    case = ElementTree.SubElement(suite, "testcase", names)
    known = records.of(FindingRecord, finding)
    _add_properties(case, {name: known[name] for name in FIGURES if known[name] is not None})
    ElementTree.SubElement(case, "system-out").text = _valid_xml(describe_figures(finding))
    kind = {Outcome.REGRESSION: "failure", Outcome.CANNOT_JUDGE: "error"}.get(finding.outcome)
    if kind:
        message = _valid_xml("; ".join(finding.reasons))
        entry = ElementTree.SubElement(
            case, kind, {"message": message, "type": finding.outcome.words}
        )
        entry.text = (
            _valid_xml(describe_flips(finding)) if finding.worse or finding.better else message
        )


def _add_properties(parent: ElementTree.Element, values: dict[str, Any]) -> None:
    properties = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(
            properties, "property", {"name": name, "value": _valid_xml(str(value))}
        )


def _valid_xml(text: str) -> str:
    """Removes control characters that are invalid in XML."""
    return NO_XML.sub("", text)

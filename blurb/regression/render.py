"""The decision of the check in machine-readable formats: JUnit, GitHub annotations and summary, JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.results.comparison import PAIRED
from blurb.wording import plural, probability, signed

MARKS = {Outcome.PASS: "pass", Outcome.REGRESSION: "REGRESSION", Outcome.CANNOT_JUDGE: "cannot judge"}
TESTS = {False: "runs", True: "paired over test units"}
"""The unit of the test in JSON, by whether it is paired."""
NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SHOWN = 10
"""Maximum number of examples to list; JSON has all."""


def records(decision: Decision) -> dict[str, Any]:
    """The whole decision, for JSON."""
    return {
        "outcome": decision.outcome.words,
        "exit_code": int(decision.outcome),
        "candidate": decision.candidate,
        "baseline": decision.baseline,
        "split": decision.rules.split,
        "level": decision.rules.level,
        "test": TESTS[decision.paired],
        "findings": [
            {
                "name": finding.name,
                "outcome": finding.outcome.words,
                "reasons": list(finding.reasons),
                "baseline": finding.line.before,
                "candidate": finding.line.after,
                "difference": finding.line.difference,
                "p_drop": finding.p_drop,
                "runs": list(finding.line.runs),
                "worse": [{"unit": unit, "mistakes": change} for unit, change in finding.worse],
                "better": [{"unit": unit, "mistakes": change} for unit, change in finding.better],
            }
            for finding in decision.findings
        ],
    }


def cells(finding: DatasetDecision) -> tuple[str, ...]:
    """A table row: name, baseline, candidate, difference, runs, p, outcome and reasons."""
    line = finding.line

    def number(value: float | None, write: Callable[[float], str] = "{:.2f}".format) -> str:
        return "" if value is None else write(value)

    return (
        finding.name, number(line.before), number(line.after), number(line.difference, signed),
        f"{line.runs[0]} / {line.runs[1]}", probability(finding.p_drop), MARKS[finding.outcome],
        "; ".join(finding.reasons),
    )  # fmt: skip


COLUMNS = ("dataset", "baseline", "candidate", "difference", "runs", "p (drop)", "outcome", "why")


def markdown(decision: Decision) -> str:
    """The decision as Markdown, for the summary of a GitHub job or a comment."""
    lines = [
        f"## blurb check: {decision.outcome.words}",
        "",
        f"{_escape(decision.candidate)} compared with {_escape(decision.baseline)}, {decision.rules.split}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---" + "|---:" * 5 + "|---|---|",
        *("| " + " | ".join(_escape(cell) for cell in cells(finding)) + " |" for finding in decision.findings),
        *(["", PAIRED] if decision.paired else []),
    ]
    for finding in decision.findings:
        if finding.worse or finding.better:
            lines += ["", f"**{finding.name}**: {_flipped(finding)}"]
    return "\n".join(lines) + "\n"


def _flipped(finding: DatasetDecision) -> str:
    listed = ", ".join(f"`{unit}` {change:+.1f}" for unit, change in finding.worse[:SHOWN])
    rest = f" and {len(finding.worse) - SHOWN} more" if len(finding.worse) > SHOWN else ""
    return (
        f"{plural(len(finding.worse), 'example')} with more mistakes than before, {len(finding.better)} with fewer"
        + (f"; worst: {listed}{rest}" if finding.worse else "")
        + "."
    )


def _escape(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return text.replace("\r", " ").replace("\n", " ")


def github(decision: Decision) -> list[str]:
    """Workflow commands of GitHub Actions: an error per regression, a warning if something cannot be judged."""
    kinds = {Outcome.REGRESSION: "error", Outcome.CANNOT_JUDGE: "warning"}
    return [
        f"::{kinds[finding.outcome]} title={_command(f'blurb {finding.name}', True)}::"
        f"{_command('; '.join(finding.reasons))}"
        for finding in decision.findings
        if finding.outcome in kinds
    ]


def _command(text: str, is_property: bool = False) -> str:
    """Escapes text for a workflow command, or for a property of one."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text


def junit(decision: Decision) -> bytes:
    """JUnit XML with a test case per dataset: a failure is a regression, an error means that it cannot be judged."""
    found = [finding.outcome for finding in decision.findings]
    counts = {
        "tests": str(len(found)),
        "failures": str(found.count(Outcome.REGRESSION)),
        "errors": str(found.count(Outcome.CANNOT_JUDGE)),
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "blurb check", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "test", "value": TESTS[decision.paired]})
    for finding in decision.findings:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(decision.candidate), "name": _xml(finding.name)}
        )
        ElementTree.SubElement(case, "system-out").text = _xml(_figures(finding))
        kind = {Outcome.REGRESSION: "failure", Outcome.CANNOT_JUDGE: "error"}.get(finding.outcome)
        if kind:
            message = _xml("; ".join(finding.reasons))
            entry = ElementTree.SubElement(case, kind, {"message": message, "type": finding.outcome.words})
            entry.text = _xml(_flipped(finding)) if finding.worse or finding.better else message
    if not decision.findings:  # an empty suite would be green
        case = ElementTree.SubElement(suite, "testcase", {"classname": "blurb", "name": "anything to compare"})
        ElementTree.SubElement(case, "error", {"message": "nothing to compare", "type": "cannot judge"})
        for node in (root, suite):
            node.set("tests", "1")
            node.set("errors", "1")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _figures(finding: DatasetDecision) -> str:
    """The table row in one line, also for passes, so that a report shows how close they were."""
    return ", ".join(f"{name} {cell}" for name, cell in zip(COLUMNS[1:6], cells(finding)[1:6], strict=True) if cell)


def _xml(text: str) -> str:
    """Removes control characters that are invalid in XML."""
    return NO_XML.sub("", text)

"""The decision as JUnit XML, which the pages of CI services read."""

from __future__ import annotations

import re
from datetime import UTC
from typing import Any
from xml.etree import ElementTree

from blurb import records
from blurb.regression.decision import DatasetDecision, Decision, Outcome
from blurb.regression.forms import TESTS, FindingRecord, describe_figures, describe_flips

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
    known = {
        "test": TESTS[decision.paired],
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

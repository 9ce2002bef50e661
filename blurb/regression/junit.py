"""The decision as JUnit XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from blurb.regression.decision import Decision, Outcome
from blurb.regression.table import figures, flipped

TESTS = {False: "runs", True: "paired over test units"}
"""The unit of the test, by whether it is paired."""
NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(decision: Decision) -> bytes:
    """A test case per dataset: a failure is a regression, an error means that it cannot be judged."""
    outcomes = [finding.outcome for finding in decision.findings]
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(Outcome.REGRESSION)),
        "errors": str(outcomes.count(Outcome.CANNOT_JUDGE)),
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "blurb check", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "test", "value": TESTS[decision.paired]})
    if decision.rules.across:
        across = {"name": "across", "value": ", ".join(decision.rules.across)}
        ElementTree.SubElement(properties, "property", across)
    for finding in decision.findings:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(decision.candidate), "name": _xml(finding.name)}
        )
        ElementTree.SubElement(case, "system-out").text = _xml(figures(finding))
        kind = {Outcome.REGRESSION: "failure", Outcome.CANNOT_JUDGE: "error"}.get(finding.outcome)
        if kind:
            message = _xml("; ".join(finding.reasons))
            entry = ElementTree.SubElement(case, kind, {"message": message, "type": finding.outcome.words})
            entry.text = _xml(flipped(finding)) if finding.worse or finding.better else message
    if not decision.findings:  # an empty suite would be green
        case = ElementTree.SubElement(suite, "testcase", {"classname": "blurb", "name": "anything to compare"})
        ElementTree.SubElement(case, "error", {"message": "nothing to compare", "type": "cannot judge"})
        for node in (root, suite):
            node.set("tests", "1")
            node.set("errors", "1")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content


def _xml(text: str) -> str:
    """Removes control characters that are invalid in XML."""
    return NO_XML.sub("", text)

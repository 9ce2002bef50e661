"""The decision as a record for JSON."""

from __future__ import annotations

from typing import Any

from blurb.regression.decision import Decision

TESTS = {False: "runs", True: "paired over test units"}
"""The unit of the test, by whether it is paired."""


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

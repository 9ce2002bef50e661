"""The decision as a record for JSON (docs/json.md)."""

from __future__ import annotations

from typing import Any

from blurb.regression.decision import DatasetDecision, Decision


def records(decision: Decision) -> dict[str, Any]:
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


def _of_finding(finding: DatasetDecision) -> dict[str, Any]:
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

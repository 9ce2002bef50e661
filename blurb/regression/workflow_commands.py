"""The decision as workflow commands of GitHub Actions, which become annotations."""

from __future__ import annotations

from blurb.regression.decision import Decision, Outcome


def write(decision: Decision) -> list[str]:
    """Workflow commands of GitHub Actions: an error per regression, a warning if something cannot be judged.

    And a warning of scores that a constant answer has, as a pass says little there.
    """
    kinds = {Outcome.REGRESSION: "error", Outcome.CANNOT_JUDGE: "warning"}
    warned = [f"::warning title=blurb::{_command(decision.constant)}"] if decision.constant else []
    return warned + [
        f"::{kinds[finding.outcome]} title={_command(f'blurb {finding.name}', True)}::"
        f"{_command('; '.join(finding.reasons))}"
        for finding in decision.findings
        if finding.outcome in kinds
    ]


def _command(text: str, is_property: bool = False) -> str:
    """Escapes text for a workflow command, or for a property of one."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text

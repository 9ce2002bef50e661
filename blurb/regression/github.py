"""The decision for GitHub: a summary of a job in Markdown, and workflow commands that become annotations."""

from __future__ import annotations

from blurb.messages.text import grouped, in_markdown
from blurb.regression.decision import Decision, Outcome
from blurb.regression.table import COLUMNS, cells, flipped
from blurb.results.comparison import PAIRED


def summary(decision: Decision) -> str:
    """The text: a heading, the table, and what changed most in each dataset."""
    hints = grouped((finding.name, finding.hint) for finding in decision.findings)
    lines = [
        f"## blurb check: {decision.outcome.words}",
        "",
        f"{_escape(decision.candidate)} minus {_escape(decision.baseline)}, {decision.rules.split}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---" + "|---:" * 5 + "|---|---|",
        *("| " + " | ".join(_escape(cell) for cell in cells(finding)) + " |" for finding in decision.findings),
        *(["", PAIRED] if decision.paired else []),
        *(["", decision.scope] if decision.scope else []),
        *(line for note in decision.notes for line in ("", _escape(note))),
        *(["", f"Judged across {', '.join(decision.rules.across)}, as asked for."] if decision.rules.across else []),
        *(line for remark in decision.remarks for line in ("", f"The rows differ: {_escape(remark)}.")),
        *(line for text in hints for line in ("", _escape(text))),
    ]
    for finding in decision.findings:
        if finding.worse or finding.better:
            lines += ["", f"**{finding.name}**: {flipped(finding)}"]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return in_markdown(text).replace(r"\<", "&lt;")  # as a page shows it even where it is pasted into HTML


def workflow_commands(decision: Decision) -> list[str]:
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

"""The decision as Markdown, for the summary of a GitHub job or a comment."""

from __future__ import annotations

from blurb.regression.decision import Decision
from blurb.regression.table import COLUMNS, cells, flipped
from blurb.results.comparison import PAIRED


def write(decision: Decision) -> str:
    """The text: a heading, the table, and what changed most in each dataset."""
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
            lines += ["", f"**{finding.name}**: {flipped(finding)}"]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return text.replace("\r", " ").replace("\n", " ")

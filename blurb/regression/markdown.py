"""The decision as Markdown, for the summary of a GitHub job or a comment."""

from __future__ import annotations

from blurb.messages.text import grouped, in_markdown
from blurb.regression.decision import Decision
from blurb.regression.table import COLUMNS, cells, flipped
from blurb.results.comparison import PAIRED


def write(decision: Decision) -> str:
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

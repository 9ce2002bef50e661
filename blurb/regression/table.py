"""The decision as a table: the terminal shows it, and the other formats quote its cells."""

from __future__ import annotations

from collections.abc import Callable

from blurb.messages.text import plural, probability, signed
from blurb.regression.decision import DatasetDecision, Outcome

MARKS = {Outcome.PASS: "pass", Outcome.REGRESSION: "REGRESSION", Outcome.CANNOT_JUDGE: "cannot judge"}
COLUMNS = ("dataset", "baseline", "candidate", "difference", "runs", "p (drop)", "outcome", "why")
SHOWN = 10
"""Maximum number of examples to list; JSON has all."""


def cells(finding: DatasetDecision) -> tuple[str, ...]:
    """A table row: name, baseline, candidate, difference, runs, p, outcome and reasons."""
    line = finding.line

    def number(value: float | None, write: Callable[[float], str] = "{:.2f}".format) -> str:
        return "" if value is None else write(value)

    return (
        finding.name,
        number(line.other),
        number(line.first),
        number(line.difference, signed),
        f"{line.runs[1]} / {line.runs[0]}",
        probability(finding.p_drop),
        MARKS[finding.outcome],
        "; ".join(finding.reasons),
    )


def changed(finding: DatasetDecision) -> str:
    """How many examples became worse and better, and by how much at least: a smaller change is in neither number."""
    return (
        f"{plural(len(finding.worse), 'example')} worse by half a mistake a run or more, "
        f"{len(finding.better):,} better by as much"
    )


def flipped(finding: DatasetDecision) -> str:
    """How many examples changed, and the worst of them."""
    listed = ", ".join(f"`{unit}` {change:+.1f}" for unit, change in finding.worse[:SHOWN])
    rest = f" and {len(finding.worse) - SHOWN} more" if len(finding.worse) > SHOWN else ""
    return changed(finding) + (f"; worst: {listed}{rest}" if finding.worse else "") + "."


def figures(finding: DatasetDecision) -> str:
    """The table row in one line, also for passes, so that a report shows how close they were."""
    return ", ".join(f"{name} {cell}" for name, cell in zip(COLUMNS[1:6], cells(finding)[1:6], strict=True) if cell)

"""The decision of a check: an outcome for every dataset and the score, and for the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from html import escape

from blurb.records import make_frame
from blurb.regression.rules import Rules
from blurb.results.comparison import ScoreComparison, has_paired
from blurb.statistics.pooled import Squares

CHECKPOINTS = (
    "Each side rests on one pretraining: this judges these checkpoints, and not the recipes that they "
    "were made by."
)
"""Note below a check of two checkpoints whose weights differ."""


class Outcome(IntEnum):
    """The exit code of the check."""

    PASS = 0
    REGRESSION = 1
    CANNOT_JUDGE = 2

    @property
    def words(self) -> str:
        """The outcome as text."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True)
class DatasetDecision:
    """The decision on one dataset or the score.

    :param p_drop: one-sided p-value of a drop, corrected over all comparisons; None if unknown
    :param reasons: why it is not a pass
    :param worse: examples worse by half a mistake a run or more, with the change, for regressions with predictions
    :param better: the same for examples with fewer mistakes
    :param hint: what to know of a pass
    """

    line: ScoreComparison
    outcome: Outcome
    p_drop: float | None = None
    reasons: tuple[str, ...] = ()
    worse: Sequence[tuple[str, float]] = ()
    better: Sequence[tuple[str, float]] = ()
    hint: str = ""

    @property
    def name(self) -> str:
        """The dataset, or `score`."""
        return self.line.name


@dataclass(frozen=True, repr=False)
class Decision:
    """The result of the check: all findings, the score first.

    :param remarks: what differs between the two rows
    :param with_examples: whether both rows have predictions; a table alone has none
    :param turn: the look of a series at which it was judged; None without a state file
    :param variance: a sentence on the variance between runs that the tests rest on, if that is not of these rows alone
    :param scope: a sentence on what is judged; "" if there is nothing to add
    :param row_remarks: on how the seeds of a row were planned, and on its learning rates
    :param constant: the datasets on which a row has the score of a constant answer: nothing there can become worse
    :param checked_at: when, with the time zone; None if nobody looked at the clock
    :param seconds: that the check took
    """

    candidate: str
    baseline: str
    rules: Rules
    findings: tuple[DatasetDecision, ...]
    remarks: tuple[str, ...] = ()
    with_examples: bool = True
    turn: Turn | None = None
    variance: str = ""
    scope: str = ""
    constant: str = ""
    row_remarks: tuple[str, ...] = ()
    checked_at: datetime | None = None
    seconds: float | None = None

    @property
    def level(self) -> float:
        """The level of the tests: that of the look, or that of the rules."""
        return self.rules.level if self.turn is None else self.turn.level

    @property
    def paired(self) -> bool:
        """Whether these are probes, compared by a paired test over test examples."""
        return has_paired(finding.line for finding in self.findings)

    @property
    def tested(self) -> bool:
        """Whether a test decided anything."""
        return any(
            finding.p_drop is not None and finding.outcome is not Outcome.CANNOT_JUDGE
            for finding in self.findings
        )

    @property
    def outcome(self) -> Outcome:
        """Any regression is a regression; a pass needs at least one finding, and a pass on each."""
        found = {finding.outcome for finding in self.findings}
        if Outcome.REGRESSION in found:
            return Outcome.REGRESSION
        return Outcome.PASS if found == {Outcome.PASS} else Outcome.CANNOT_JUDGE

    @property
    def passed(self) -> bool:
        """Whether nothing is worse, and everything could be judged."""
        return self.outcome is Outcome.PASS

    @property
    def exit_code(self) -> int:
        """The exit code of `blurb check`: 0 pass, 1 regression, 2 cannot judge."""
        return int(self.outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """The head of a report: the look, the variance between runs, constant answers, remarks on a row."""
        return tuple(
            filter(
                None,
                (
                    "" if self.turn is None else self.turn.text,
                    self.variance,
                    self.constant,
                    *self.row_remarks,
                ),
            )
        )

    def __repr__(self) -> str:
        return f"<Decision on {self.candidate} compared with {self.baseline}, {self.rules.split}: {self.outcome.words}>"

    def _repr_html_(self) -> str:
        """In a notebook: the findings as a table."""
        from blurb.regression import forms

        rows = [forms.cells(finding) for finding in self.findings]
        table = make_frame(rows, forms.COLUMNS).to_html(index=False, border=0)
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"

    def to_junit(self) -> bytes:
        """The decision as JUnit XML, one test case per finding."""
        from blurb.regression.forms import junit_document

        return junit_document(self)


@dataclass(frozen=True)
class Turn:
    """A look of a series.

    :param number: from 1
    :param looks: how many are planned; None for any number
    :param level: its part of `total`; 0 after the last planned look
    :param spent: of `total`, with this look
    :param repeated: whether the same candidate was judged before, at this number; that spends nothing
    :param series: for each look before this one, by name: dataset -> what its runs say of their variance
    :param refused: why nothing can be judged; "" if it can
    :param where: the state file
    """

    number: int
    looks: int | None
    level: float
    total: float
    spent: float
    repeated: bool = False
    series: Mapping[str, Mapping[str, Squares]] = field(default_factory=dict, repr=False)
    refused: str = ""
    where: str = ""

    @property
    def text(self) -> str:
        """The look in words, for reports; "" if nothing could be judged."""
        if self.refused:
            return ""
        number = f"Look {self.number}" + (f" of {self.looks}" if self.looks else "")
        again = ", seen before: nothing is spent again" if self.repeated else ""
        return f"{number}{again}. Its level is {self.level:.3g}; {self.spent:.3g} of {self.total:g} is spent."

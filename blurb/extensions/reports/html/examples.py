"""Pages of examples, of `blurb errors` and `blurb diff`: files for their user alone, as they have text of a corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from blurb.extensions.reports.differences import Difference, Differences, grouped
from blurb.extensions.reports.errors import Mistake, Report, Table
from blurb.extensions.reports.html import templating

PLACE = re.compile(r" \d+-\d+$")
"""Ends the name of an entity's type."""


@dataclass(frozen=True)
class DifferencesPage:
    """The page of `blurb diff`.

    :param dataset: the dataset and the split
    :param sides: what A and B are
    :param found: all counts
    :param examples: the differences to list
    """

    dataset: str
    sides: tuple[str, str]
    found: Differences
    examples: Sequence[Difference]
    command = "diff"
    noun = "Differences"
    facets = ("Outcome", "Mistake of A", "Mistake of B", "Gold", "Answer of A", "Answer of B")

    @property
    def tables(self) -> Sequence[Table]:
        """All counts."""
        return self.found.tables

    def facets_of(self, one: Difference) -> tuple[str, ...]:
        """The values of `facets`."""
        answers = map(_name, (one.gold, one.first.answer, one.other.answer))
        return one.outcome, one.first.kind, one.other.kind, *answers

    @property
    def groups(self) -> dict[str, list[Difference]]:
        """The listed differences by outcome and kinds of mistakes."""
        return grouped(self.examples)

    @property
    def left_out(self) -> int:
        """The number of differences that are not listed."""
        return len(self.found.examples) - len(self.examples)

    @property
    def has_text(self) -> bool:
        """Whether there is text of the corpus in it."""
        return any(example.texts for example in self.examples)


@dataclass(frozen=True)
class MistakesPage:
    """The page of `blurb errors`.

    :param dataset: the dataset and the split
    :param row: what made the mistakes
    :param report: all counts
    :param examples: the mistakes to list
    """

    dataset: str
    row: str
    report: Report
    examples: Sequence[Mistake]
    command = "errors"
    noun = "Mistakes"
    facets = ("Kind", "Gold", "Answer")

    @property
    def tables(self) -> Sequence[Table]:
        """All counts."""
        return self.report.tables

    def facets_of(self, one: Mistake) -> tuple[str, ...]:
        """The values of `facets`."""
        return one.kind, _name(one.gold), _name(one.predicted)

    @property
    def groups(self) -> dict[str, list[Mistake]]:
        """The listed mistakes by kind."""
        groups: dict[str, list[Mistake]] = {}
        for example in self.examples:
            groups.setdefault(example.kind, []).append(example)
        return groups

    @property
    def left_out(self) -> int:
        """The number of mistakes that are not listed."""
        return len(self.report.examples) - len(self.examples)

    @property
    def has_text(self) -> bool:
        """Whether there is text of the corpus in it."""
        return any(example.text for example in self.examples)


def _name(answer: str | float) -> str:
    """What an answer is chosen by: a label, or the type of an entity without its place; numbers by the whole one."""
    return f"{answer:.0f}" if isinstance(answer, float) else PLACE.sub("", answer) or "none"


def render(page: DifferencesPage | MistakesPage) -> str:
    """One HTML file, which sends no requests: its policy allows its own style and script, and text is escaped."""
    environment = templating.environment()
    style = templating.source(environment, "palette.css", "examples.css")
    script = templating.source(environment, "filter.js")
    name = "differences.html" if isinstance(page, DifferencesPage) else "mistakes.html"
    return environment.get_template(name).render(
        page=page,
        style=Markup(style),
        style_hash=templating.policy_hash(style),
        script=Markup(script),
        script_hash=templating.policy_hash(script),
    )

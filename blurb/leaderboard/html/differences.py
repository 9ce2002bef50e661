"""The page of `blurb diff`: a file for its user alone, as it has text of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from blurb.analysis.differences import Difference, Differences, grouped
from blurb.leaderboard.html import templating


@dataclass(frozen=True)
class DifferencesPage:
    """What the page shows.

    :param dataset: the dataset and the split
    :param sides: what A and B are
    :param found: all counts
    :param examples: the differences to list
    """

    dataset: str
    sides: tuple[str, str]
    found: Differences
    examples: Sequence[Difference]

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


def render(page: DifferencesPage) -> str:
    """One HTML file, without a script: it sends no requests, and text of the corpus is escaped."""
    environment = templating.environment()
    style = templating.source(environment, "palette.css", "differences.css")
    return environment.get_template("differences.html").render(
        page=page, style=Markup(style), style_hash=templating.policy_hash(style)
    )

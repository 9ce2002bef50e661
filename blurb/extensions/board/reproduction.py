"""Whether another party's run of the same recipe reproduces a row: equivalence of the scores within a stated margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Annotated, NotRequired, TypedDict, cast

from blurb import learners
from blurb.extensions.board import copies
from blurb.extensions.board.verification import Level, RowVerification, VerificationRecord
from blurb.messages.text import plural
from blurb.results.score import shares_of
from blurb.statistics.holm import holm
from blurb.statistics.welch import LEVEL, WelchComparison, combined, compare, p_beyond, within

MARGIN = 1.0
"""Points of the score: less than what separates neighbours of the published table (docs/extensions/board.md)."""
RECIPE = ("suite", "weights", "tokenizer", "learner", "recipe", "protocol_hash", "overrides")
"""What two runs of one recipe have in common. Precision is left out: machines differ in what they compute fast."""


class RerunScore(TypedDict):
    """A dataset of a row and of its rerun; times 100."""

    task: Annotated[str, "name of the dataset"]
    difference: Annotated[float, "mean of the row minus mean of the rerun, on test"]
    within: Annotated[float | None, "the smallest margin within which both are equivalent; null if it is unknown"]


class Reproduced(TypedDict):
    """What a rerun says of a row."""

    margin: Annotated[float, "the margin that was asked for, in points of the score"]
    difference: Annotated[float | None, "of the means over the datasets, weighted as in the score"]
    within: Annotated[float | None, "the smallest margin within which the means are equivalent"]
    datasets: Annotated[list[RerunScore], "each dataset"]
    objections: Annotated[list[str], "why the row is not reproduced; empty if it is"]


class VerifiedRow(VerificationRecord):
    """What `blurb leaderboard verify` found of a row and its rerun."""

    rerun: NotRequired[Annotated[Reproduced, "what the rerun says of it"]]


@dataclass(frozen=True)
class Reproduction:
    """The rerun of a row beside it.

    :param data: the verifier's data folder
    """

    row: RowVerification
    rerun: RowVerification
    margin: float = MARGIN
    data: Path | None = None

    @property
    def level(self) -> Level:
        """Of the row, with what the rerun adds."""
        return self.row.level if self.content["objections"] else Level.REPRODUCED

    @cached_property
    def content(self) -> Reproduced:
        """As it is printed."""
        parts = {task: self._compared(*sides) for task, sides in self._scores().items()}
        mean = combined([(share, parts[task]) for task, share in shares_of(parts).items()])
        scores = [
            RerunScore(task=task, difference=part.difference or 0.0, within=within(part))
            for task, part in parts.items()
        ]
        return Reproduced(
            margin=self.margin,
            difference=mean.difference,
            within=within(mean),
            datasets=scores,
            objections=[*self._of_recipe(), *self._of_runs(), *self._of_scores(parts, mean)],
        )

    def _compared(self, mine: Sequence[float], others: Sequence[float]) -> WelchComparison:
        if self.row.row.varies:
            return compare(mine, others)
        return WelchComparison(fmean(mine) - fmean(others), 0.0)

    def _scores(self) -> dict[str, tuple[list[float], list[float]]]:
        """Recomputed scores of the runs on test, of the row and of the rerun, of the datasets that both have."""
        mine, others = (_by_dataset(side) for side in (self.row, self.rerun))
        return {task: (mine[task], others[task]) for task in mine if task in others}

    def _of_recipe(self) -> Iterator[str]:
        about, other = self.row.row.about, self.rerun.row.about
        for side, name in ((self.row, "row"), (self.rerun, "rerun")):
            if side.level is Level.CLAIMED:
                yield f"the {name} is only claimed"
        if about["learner"] == learners.EXTERNAL.name:
            yield "nobody here knows how its predictions were made, so that nobody can make them again"
        differing = [name for name in RECIPE if dict(about)[name] != dict(other)[name]]
        if differing:
            yield f"another recipe: {', '.join(differing)}"
        parties = [" ".join(side["measured_by"].casefold().split()) for side in (about, other)]
        if not all(parties):
            yield "a row does not say by which party it was measured"
        elif parties[0] == parties[1]:
            yield f"measured by the same party ({about['measured_by']})"
        missing = _by_dataset(self.row).keys() - _by_dataset(self.rerun).keys()
        if missing:
            yield f"not run again: {', '.join(sorted(missing))}"

    def _of_runs(self) -> Iterator[str]:
        """Of kinds whose runs vary: too few of them, and runs that are copies."""
        if not self.row.row.varies:
            return
        single = [task for task, sides in self._scores().items() if min(map(len, sides)) < 2]
        if single:
            yield f"fewer than two runs a side, so that their variance is unknown: {', '.join(single)}"
        shares = {task: copies.of_rows(self.row.row, self.rerun.row, task, self.data) for task in self._scores()}
        copied = [task for task, share in shares.items() if share]
        if copied:
            yield (
                f"{copies.shown(min(shares[task] for task in copied))} as in the row: {', '.join(copied)}; a copy, or "
                "the same seeds in the same environment. Run it with other seeds"
            )

    def _of_scores(self, parts: Mapping[str, WelchComparison], mean: WelchComparison) -> Iterator[str]:
        reached = within(mean)
        if not parts:
            yield "no dataset in common"
        elif reached is None or reached >= self.margin:
            known = "" if reached is None else f"; they are within {reached:.2f}"
            yield f"the means are not equivalent within {self.margin:g} points{known}"
        beyond = holm([p_beyond(part, self.margin) for part in parts.values()])
        for task, p in zip(parts, beyond, strict=True):
            if p is not None and p < LEVEL:
                yield f"{task} differs by {parts[task].difference:+.2f}, beyond the margin (p = {p:.3f})"


def _by_dataset(side: RowVerification) -> dict[str, list[float]]:
    """The recomputed scores on test by dataset, one a run."""
    scores: dict[str, list[float]] = {}
    for figure in side.figures:
        if figure["split"] == "test" and figure["recomputed"] is not None:
            scores.setdefault(figure["task"], []).append(figure["recomputed"])
    return scores


def sentences(rerun: Reproduced) -> Iterator[str]:
    """The means in a sentence, then each objection."""
    if rerun["difference"] is not None and rerun["within"] is not None:
        yield (
            f"Row minus rerun, over {plural(len(rerun['datasets']), 'dataset')}: {rerun['difference']:+.2f}, "
            f"equivalent within {rerun['within']:.2f} points (margin {rerun['margin']:g})."
        )
    for objection in rerun["objections"]:
        yield f"Not reproduced: {objection}."


def printed(row: RowVerification, again: Reproduction | None) -> VerifiedRow:
    """A row, and what its rerun says of it, as they are printed."""
    content = cast(VerifiedRow, row.content)
    return content if again is None else {**content, "level": again.level, "rerun": again.content}

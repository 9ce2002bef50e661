"""Recomputes every figure of a row from its predictions and the verifier's own data, and tells what is odd about it.

Three levels (docs/extensions/board.md): *claimed*, as somebody says; *recomputed*, from the predictions; *reproduced*,
by another party's run of the same recipe: equivalence of the scores within a stated margin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Annotated, NotRequired, TypedDict

from blurb import formulations, learners, metrics, tasks
from blurb.corpora.releases import MissingRelease
from blurb.data.loading import TaskData
from blurb.execution.data_sources import DataSource, load_data
from blurb.extensions.board import consistency, plausibility
from blurb.extensions.board.consistency import FATAL, Signal, SignalKind, name_run
from blurb.grouping import by_key
from blurb.messages import DataError, count_noun, group_reasons, opt
from blurb.records import From
from blurb.results.row import DEMO
from blurb.results.score import shares_of
from blurb.row_files.reading import RowFiles, read_row_files, rows_in
from blurb.row_files.scores import figures_of
from blurb.row_files.writing import RunRecord
from blurb.scoring import matching
from blurb.statistics.welch import (
    LEVEL,
    WelchComparison,
    combine_tests,
    equivalence_margin,
    holm,
    p_beyond,
    welch_test,
)

SAME = 1e-9
"""Difference of two fractions that come from one computation on two machines."""


class Level(StrEnum):
    """How far the figures of a row are believed."""

    CLAIMED = "claimed"
    RECOMPUTED = "recomputed"
    REPRODUCED = "reproduced"


class CheckedFigure(TypedDict):
    """A score of a run, as claimed and as computed; times 100."""

    task: Annotated[str, "name of the dataset"]
    seed: Annotated[int, "seed of the run"]
    split: Annotated[str, "dev or test"]
    claimed: Annotated[float, "score in the row"]
    recomputed: Annotated[
        float | None, "score of the predictions on your data; null if it cannot be computed"
    ]


class VerificationRecord(TypedDict):
    """The result of `blurb leaderboard verify`."""

    model: Annotated[str, "name of the model", From(lambda found: found.row.about["model"])]
    level: Annotated[Level, "how far the figures are believed"]
    unseen: Annotated[
        list[str], "datasets that you have no data of, if the other figures of the row are right"
    ]
    figures: Annotated[list[CheckedFigure], "a score for each run and split"]
    signals: Annotated[
        list[str],
        "what is odd about the row, with figures",
        From(lambda found: map(str, found.signals)),
    ]


@dataclass(frozen=True)
class RowVerification:
    """The result for a row."""

    row: RowFiles
    figures: Sequence[CheckedFigure]
    signals: Sequence[Signal]

    @property
    def level(self) -> Level:
        """Recomputed if every figure of every run was."""
        fatal = any(signal.kind in FATAL for signal in self.signals)
        return Level.CLAIMED if fatal or not self.figures else Level.RECOMPUTED

    @property
    def unseen(self) -> list[str]:
        """The datasets of which the verifier has no data, if nothing else keeps the row from being recomputed."""
        fatal = [signal for signal in self.signals if signal.kind in FATAL]
        known = any(signal.kind is not SignalKind.UNSEEN for signal in fatal)
        return [] if known else [signal.where for signal in fatal]


def verify(
    folder: Path, data: Path, beside: Path | None = None, raw: Path | None = None
) -> RowVerification:
    """Recomputes the figures of the row in a folder.

    :param data: the verifier's own data folder
    :param raw: their folder of the original releases, which the inputs of some runs need
    :param beside: a folder of rows that the row is looked at beside, which may have the row among them
    :raises DataError: if the files are not those of a row, or the data is missing
    """
    row = read_row_files(folder)
    alone = verify_row(row, data, raw)
    demand_figures([alone], data)
    others = rows_in(beside) if beside else []
    verified = [verify_row(each, data, raw) for each in others if each.about != row.about]
    return beside_others(alone, verified, data)


def demand_figures(found: Sequence[RowVerification], data: Path) -> None:
    """:raises DataError: if nothing of these rows was looked at, for want of data"""
    if found and not any(each.figures for each in found):
        odd = [signal for each in found for signal in each.signals]
        lacking = [(each.where, each.what) for each in odd if each.kind is SignalKind.UNSEEN]
        raise DataError(" ".join(["has no dataset of the row.", *group_reasons(lacking)]), data)


def verify_row(row: RowFiles, data: Path, raw: Path | None = None) -> RowVerification:
    """Recomputes the figures of a row that was read, by itself; parameters as of `verify`."""
    figures: list[CheckedFigure] = []
    signals: list[Signal] = []
    for run in row.about["runs"]:
        try:
            signals += _data_signals(row, run, own_data(run, data, raw))
        except MissingRelease as error:
            signals.append(Signal(SignalKind.UNSEEN, run["task"], str(error)))
            continue
        for split in tasks.SCORED:
            if run[split]:
                checked, found = _checked_split(row, run, split, data)
                figures.append(checked)
                signals += found
    caps = by_key((run["settings"].get("max_eval"), run["task"]) for run in row.about["runs"])
    signals += [
        Signal(SignalKind.CAPPED, ", ".join(dict.fromkeys(names)), f"at most {cap} of dev and test")
        for cap, names in caps.items()
        if cap
    ]
    signals += consistency.signals(row)
    by_task = row.by_task if row.varies else {}
    signals += [
        Signal(
            SignalKind.SAME_RUNS,
            name,
            f"seeds {first} and {second} have {plausibility.shown(share)}",
        )
        for name, runs in by_task.items()
        for first, second, share in plausibility.equal_seed_pairs(row, runs, data)
    ]
    return RowVerification(row, figures, list(dict.fromkeys(signals)))


def beside_others(
    found: RowVerification, others: Sequence[RowVerification], data: Path
) -> RowVerification:
    """The verification of a row, with its oddities beside other rows; those only claimed are no measure."""
    rows = [other.row for other in others if other.level is not Level.CLAIMED or other.unseen]
    odd = plausibility.Beside(
        found.row, rows, data=data, leaked=lambda each: plausibility.added(each, data)
    ).signals()
    return replace(found, signals=list(dict.fromkeys([*found.signals, *odd])))


def own_data(run: RunRecord, data: Path, raw: Path | None) -> matching.DataFacts | TaskData:
    """The verifier's data of a run, with hash and verdict; parameters as of `verify`.

    :raises MissingRelease: if the verifier lacks a part of it
    :raises DataError: (file, line) for files that cannot be read
    """
    task = tasks.get(run["task"])
    known = matching.facts(task, data)
    if known.missing:
        raise MissingRelease(f"your data folder lacks its {' and '.join(known.missing)}")
    if not formulations.bind(task, run["settings"]).needs_original:
        return known
    if raw is None:
        raise MissingRelease(
            f"its inputs are of the original release; {opt('raw', 'RAW')} gives it"
        )
    return load_data(DataSource(task.file or task.name, raw, original=True))


def _data_signals(
    row: RowFiles, run: RunRecord, own: matching.DataFacts | TaskData
) -> Iterator[Signal]:
    """The oddities of the data of a run, beside the verifier's own."""
    if own.hash != run["data"]:
        yield Signal(
            SignalKind.DATA,
            name_run(run),
            f"its data hash is {run['data'][:12]}, yours {own.hash[:12]}",
        )
    elif row.about["suite"] != DEMO and run["verdict"] != own.verdict:
        yield Signal(
            SignalKind.DATA,
            run["task"],
            f"it says that its data are {run['verdict'] or 'not known'}, and they are {own.verdict}",
        )
    elif row.about["suite"] != DEMO and own.verdict == "differs":
        yield Signal(
            SignalKind.SUBSTITUTE, run["task"], "your data and its are the same, and not BLURB's"
        )
    if run["metrics_version"] != metrics.VERSION:
        yield Signal(
            SignalKind.METRICS,
            name_run(run),
            f"{run['metrics_version']}, this blurb has {metrics.VERSION}",
        )


def _checked_split(
    row: RowFiles, run: RunRecord, split: tasks.ScoredSplit, data: Path
) -> tuple[CheckedFigure, list[Signal]]:
    """The score of a run on a split, and every figure of it that is not what the predictions give."""
    claimed = run[split]
    checked = CheckedFigure(
        task=run["task"],
        seed=run["seed"],
        split=split,
        claimed=100 * claimed[run["metric"]],
        recomputed=None,
    )
    try:
        figures = figures_of(row, run, split, data)
    except DataError as error:
        return checked, [Signal(SignalKind.EXAMPLES, name_run(run), error.what)]
    checked["recomputed"] = 100 * figures[run["metric"]] if run["metric"] in figures else None
    return checked, [
        Signal(
            SignalKind.FIGURE,
            f"{name_run(run)}, {name} on {split}",
            f"claimed {_shown(claimed, name)}, its predictions give {_shown(figures, name)}",
        )
        for name in {*figures, *claimed}
        if not math.isclose(
            figures.get(name, math.nan), claimed.get(name, math.nan), rel_tol=SAME, abs_tol=SAME
        )
    ]


def _shown(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.6g}" if name in figures else "nothing"


MARGIN = 1.0
"""Points of the score: less than what separates neighbours of the published table (docs/extensions/board.md)."""
RECIPE = ("suite", *plausibility.RUNS)
"""Fields that two runs of one recipe share. Precision is left out: machines differ in what they compute fast."""


class RerunScore(TypedDict):
    """A dataset of a row and of its rerun; times 100."""

    task: Annotated[str, "name of the dataset"]
    difference: Annotated[float, "mean of the row minus mean of the rerun, on test"]
    within: Annotated[
        float | None, "the smallest margin within which both are equivalent; null if it is unknown"
    ]


class Reproduced(TypedDict):
    """The result of a rerun of a row."""

    margin: Annotated[float, "the margin that was asked for, in points of the score"]
    difference: Annotated[float | None, "of the means over the datasets, weighted as in the score"]
    within: Annotated[float | None, "the smallest margin within which the means are equivalent"]
    datasets: Annotated[list[RerunScore], "each dataset"]
    objections: Annotated[list[str], "why the row is not reproduced; empty if it is"]


class VerifiedRow(VerificationRecord):
    """The result of `blurb leaderboard verify` for a row and its rerun."""

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
        parts = {
            task: welch_test(mine, others)
            if self.row.row.varies
            else WelchComparison(fmean(mine) - fmean(others), 0.0)
            for task, (mine, others) in self._scores().items()
        }
        mean = combine_tests([(share, parts[task]) for task, share in shares_of(parts).items()])
        return Reproduced(
            margin=self.margin,
            difference=mean.difference,
            within=equivalence_margin(mean),
            datasets=[
                RerunScore(
                    task=task, difference=part.difference or 0.0, within=equivalence_margin(part)
                )
                for task, part in parts.items()
            ],
            objections=[*self._recipe_doubts(), *self._score_doubts(parts, mean)],
        )

    def _scores(self) -> dict[str, tuple[list[float], list[float]]]:
        """Recomputed scores of the runs on test, of the row and of the rerun, of the datasets that both have."""
        mine, others = (_by_dataset(side) for side in (self.row, self.rerun))
        return {task: (mine[task], others[task]) for task in mine if task in others}

    def _recipe_doubts(self) -> Iterator[str]:
        about, other = self.row.row.about, self.rerun.row.about
        for side, name in ((self.row, "row"), (self.rerun, "rerun")):
            if side.level is Level.CLAIMED:
                yield f"the {name} is only claimed"
        if learners.row_kind(about["learner"]).claimed:
            yield "nobody here knows how its predictions were made, so that nobody can make them again"
        if differing := plausibility.differing(about, other, RECIPE):
            yield f"another recipe: {', '.join(differing)}"
        parties = [" ".join(side["measured_by"].casefold().split()) for side in (about, other)]
        if not all(parties):
            yield "a row does not say by which party it was measured"
        elif parties[0] == parties[1]:
            yield f"measured by the same party ({about['measured_by']})"
        if missing := _by_dataset(self.row).keys() - _by_dataset(self.rerun).keys():
            yield f"not run again: {', '.join(sorted(missing))}"

    def _score_doubts(
        self, parts: Mapping[str, WelchComparison], mean: WelchComparison
    ) -> Iterator[str]:
        """Of kinds whose runs vary too few of them, and runs that are copies; and what is not equivalent."""
        there = self._scores() if self.row.row.varies else {}
        if single := [task for task, sides in there.items() if min(map(len, sides)) < 2]:
            yield f"fewer than two runs a side, so that their variance is unknown: {', '.join(single)}"
        copied = {
            task: share
            for task in there
            if (share := plausibility.equal_share(self.row.row, self.rerun.row, task, self.data))
        }
        if copied:
            yield (
                f"{plausibility.shown(min(copied.values()))} as in the row: {', '.join(copied)}; "
                "a copy, or the same seeds in the same environment. Run it with other seeds"
            )
        reached = equivalence_margin(mean)
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
    return by_key(
        (figure["task"], figure["recomputed"])
        for figure in side.figures
        if figure["split"] == "test" and figure["recomputed"] is not None
    )


def sentences(rerun: Reproduced) -> Iterator[str]:
    """The means in a sentence, then each objection."""
    if rerun["difference"] is not None and rerun["within"] is not None:
        yield (
            f"Row minus rerun, over {count_noun(len(rerun['datasets']), 'dataset')}: {rerun['difference']:+.2f}, "
            f"equivalent within {rerun['within']:.2f} points (margin {rerun['margin']:g})."
        )
    for objection in rerun["objections"]:
        yield f"Not reproduced: {objection}."

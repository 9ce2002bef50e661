"""Recomputes every figure of a row from its predictions and the verifier's own data, and tells what is odd about it.

Three levels (docs/extensions/board.md): *claimed*, as somebody says; *recomputed*, from the predictions;
*reproduced*, by a run of another party (`blurb.extensions.board.reproduction`). This module tells the first two apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypedDict, cast

from blurb import metrics, records, tasks
from blurb.data.loading import path_of
from blurb.extensions.board import consistency, copies, plausibility
from blurb.extensions.board.signals import FATAL, Signal, SignalKind
from blurb.messages.errors import DataError
from blurb.records import From
from blurb.results.row import DEMO
from blurb.row_files.reading import RowFiles, read, rows_in
from blurb.row_files.scores import figures_of
from blurb.row_files.writing import RunRecord
from blurb.scoring import gold
from blurb.tasks import SCORED, SPLITS, ScoredSplit

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
    recomputed: Annotated[float | None, "score of the predictions on your data; null if it cannot be computed"]


class VerificationRecord(TypedDict):
    """What `blurb leaderboard verify` found."""

    model: Annotated[str, "name of the model", From(lambda found: found.row.about["model"])]
    level: Annotated[Level, "how far the figures are believed"]
    unseen: Annotated[list[str], "datasets that you have no data of, if the other figures of the row are right"]
    figures: Annotated[list[CheckedFigure], "a score for each run and split"]
    signals: Annotated[
        list[str], "what is odd about the row, with figures", From(lambda found: map(str, found.signals))
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
        only = all(signal.kind is SignalKind.UNSEEN for signal in fatal)
        return [signal.where for signal in fatal] if only else []

    @property
    def content(self) -> VerificationRecord:
        """As it is printed."""
        return cast(VerificationRecord, records.of(VerificationRecord, self))


def verify(folder: Path, data: Path, beside: Path | None = None) -> RowVerification:
    """Recomputes the figures of the row in a folder.

    :param data: the verifier's own data folder
    :param beside: a folder of rows that the row is looked at beside, which may have the row among them
    :raises DataError: if the files are not those of a row, or the data is missing
    """
    row = read(folder)
    alone = verify_row(row, data)
    if not alone.figures:
        raise DataError("has no dataset of the row.", data)
    others = [] if beside is None else [other for other in rows_in(beside) if other.about != row.about]
    return beside_others(alone, [verify_row(other, data) for other in others], data)


def verify_row(row: RowFiles, data: Path) -> RowVerification:
    """Recomputes the figures of a row that was read, by itself; parameters as of `verify`."""
    figures: list[CheckedFigure] = []
    signals: list[Signal] = []
    for run in row.about["runs"]:
        lacking = _lacking(run["task"], data)
        if lacking:
            signals.append(Signal(SignalKind.UNSEEN, run["task"], f"your data folder lacks its {lacking}"))
            continue
        signals += _of_data(row, run, data)
        for split in SCORED:
            if run[split]:
                checked, found = _of_split(row, run, split, data)
                figures.append(checked)
                signals += found
    signals += [*_of_caps(row), *consistency.signals(row), *_of_copies(row, data)]
    return RowVerification(row, figures, list(dict.fromkeys(signals)))


def beside_others(found: RowVerification, others: Sequence[RowVerification], data: Path) -> RowVerification:
    """What was found of a row, and what is odd about it beside others; those that are only claimed are no measure."""
    rows = [other.row for other in others if other.level is not Level.CLAIMED or other.unseen]
    beside = plausibility.Beside(found.row, rows, data=data, leaked=lambda each: plausibility.added(each, data))
    return replace(found, signals=list(dict.fromkeys([*found.signals, *beside.signals()])))


def _name(run: RunRecord) -> str:
    return f"{run['task']}, seed {run['seed']}"


def _lacking(task: str, data: Path) -> str:
    """The splits of a dataset that a folder lacks; empty if it has them all."""
    missing = [split for split in SPLITS if not path_of(tasks.get(task), data, split).exists()]
    return " and ".join(missing)


def _of_data(row: RowFiles, run: RunRecord, data: Path) -> Iterator[Signal]:
    """What is odd about the data of a run."""
    known = gold.facts(tasks.get(run["task"]), data)
    if known.hash != run["data"]:
        yield Signal(SignalKind.DATA, _name(run), f"its data hash is {run['data'][:12]}, yours {known.hash[:12]}")
    elif row.about["suite"] != DEMO and run["verdict"] != known.verdict:
        told = f"it says that its data are {run['verdict'] or 'not known'}, and they are {known.verdict}"
        yield Signal(SignalKind.DATA, run["task"], told)
    elif row.about["suite"] != DEMO and known.verdict == "differs":
        yield Signal(SignalKind.SUBSTITUTE, run["task"], "your data and its are the same, and not BLURB's")
    if run["metrics_version"] != metrics.VERSION:
        version = f"{run['metrics_version']}, this blurb has {metrics.VERSION}"
        yield Signal(SignalKind.METRICS, _name(run), version)


def _of_split(row: RowFiles, run: RunRecord, split: ScoredSplit, data: Path) -> tuple[CheckedFigure, list[Signal]]:
    """The score of a run on a split, and every figure of it that is not what the predictions give."""
    claimed = run[split]
    checked = CheckedFigure(
        task=run["task"], seed=run["seed"], split=split, claimed=100 * claimed[run["metric"]], recomputed=None
    )
    signals: list[Signal] = []
    try:
        figures = figures_of(row, run, split, data)
    except DataError as error:
        return checked, [*signals, Signal(SignalKind.EXAMPLES, _name(run), error.what)]
    checked["recomputed"] = 100 * figures[run["metric"]] if run["metric"] in figures else None
    for name in {*figures, *claimed}:
        if not math.isclose(figures.get(name, math.nan), claimed.get(name, math.nan), rel_tol=SAME, abs_tol=SAME):
            told = f"claimed {_shown(claimed, name)}, its predictions give {_shown(figures, name)}"
            signals.append(Signal(SignalKind.FIGURE, f"{_name(run)}, {name} on {split}", told))
    return checked, signals


def _shown(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.6g}" if name in figures else "nothing"


def _of_caps(row: RowFiles) -> Iterator[Signal]:
    """The datasets of which a part of the examples was scored."""
    caps = {run["task"]: cap for run in row.about["runs"] if (cap := run["settings"].get("max_eval"))}
    for cap in dict.fromkeys(caps.values()):
        names = ", ".join(task for task, of_task in caps.items() if of_task == cap)
        yield Signal(SignalKind.CAPPED, names, f"at most {cap} of dev and test")


def _of_copies(row: RowFiles, data: Path) -> Iterator[Signal]:
    """Runs that are one run, of kinds whose runs vary."""
    if not row.varies:
        return
    for task in dict.fromkeys(run["task"] for run in row.about["runs"]):
        runs = [run for run in row.about["runs"] if run["task"] == task]
        for first, second, share in copies.of_seeds(row, runs, data):
            yield Signal(SignalKind.SAME_RUNS, task, f"seeds {first} and {second} have {copies.shown(share)}")

"""The rows of a board as rows of a leaderboard, with what the ledger says of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from blurb import metrics, tasks
from blurb.board import ledger
from blurb.board.ledger import Entry, Event
from blurb.board.reading import Row, rows_on
from blurb.board.verification import Level
from blurb.export.row_files import RowFile, RunFile
from blurb.messages.text import plural
from blurb.results.dataset_scores import LIMITS, PLUGINS, SETTINGS, DatasetScores, Figure, Run, plugins_text
from blurb.results.row_scores import Origin, RowScores, labelled
from blurb.store.trial import Configuration
from blurb.tasks import SCORED


@dataclass(frozen=True)
class BoardListing:
    """A row of a board.

    :param manifest: SHA-256 of its `MANIFEST.json`
    :param history: its entries in the ledger, earliest first
    """

    scores: RowScores
    about: RowFile
    manifest: str
    history: Sequence[Entry]

    @property
    def verified(self) -> Entry | None:
        """Its last verification, if it was of these files, since they were put on the board."""
        last = self.history[-1] if self.history else None
        return last if last is not None and (last.event, last.manifest) == (Event.VERIFIED, self.manifest) else None

    @property
    def added(self) -> str:
        """The day on which it was added last."""
        return next((entry.date for entry in reversed(self.history) if entry.event is Event.ADDED), "")

    @property
    def level(self) -> Level:
        """How far its figures are believed, as the ledger says."""
        known = "" if self.verified is None else self.verified.level
        return Level(known) if known in list(Level) else Level.CLAIMED


def read(board: Path) -> list[BoardListing]:
    """The rows of a board by the names of their folders.

    :raises DataError: if the ledger or the files of a row cannot be read
    :raises SettingsError: if the folder is no board
    """
    ledger.check(board)
    entries = ledger.read(board / ledger.FILE)
    there = rows_on(board)
    listings = [
        BoardListing(scores(row), row.about, row.manifest, [e for e in entries if e.row == row.folder.name])
        for row in there
    ]
    named = labelled([_with_standing(each) for each in listings])
    return [replace(each, scores=row) for each, row in zip(listings, named, strict=True)]


def _with_standing(listing: BoardListing) -> RowScores:
    claimed = listing.level is Level.CLAIMED
    return replace(listing.scores, claimed=claimed, remarks=(standing(listing),))


def standing(listing: BoardListing) -> str:
    """What the ledger says of a row now, and who measured it.

    `recomputed by The board (2026-11-24, 2 signals); measured by A group (first party)`
    """
    last, about = listing.verified, listing.about
    text = "claimed; nobody recomputed these figures"
    if last is not None:
        what = "claimed; not recomputed" if listing.level is Level.CLAIMED else last.level
        count = f", {plural(len(last.signals), 'signal')}" if last.signals else ""
        text = f"{what} by {last.by} ({last.date}{count})"
    party = f" ({about['party']} party)" if about["party"] else ""
    return f"{text}; measured by {about['measured_by']}{party}" if about["measured_by"] else text


def withdrawn(board: Path) -> list[Entry]:
    """The entries of the rows that were withdrawn, earliest first, also of those that were added again."""
    return [entry for entry in ledger.read(board / ledger.FILE) if entry.event is Event.WITHDRAWN]


def scores(row: Row) -> RowScores:
    """The scores that a row claims."""
    about = row.about
    runs: dict[str, list[RunFile]] = {task: [] for task in about["planned"] if tasks.known(task)}
    for run in about["runs"]:
        runs.setdefault(run["task"], []).append(run)
    return RowScores(
        model=about["model"],
        datasets={task: _dataset(task, its, len(about["planned"].get(task, its))) for task, its in runs.items()},
        origin=Origin.BOARD,
        configuration=Configuration(
            about["protocol"], about["protocol_hash"], about["overrides"], about["precision"], about["suite"]
        ),
        weights=about["weights"],
        tokenizer=about["tokenizer"],
        learner=about["learner"],
        recipe=about["recipe"],
        key=row.folder.name,
        planned_seeds={task: tuple(seeds) for task, seeds in about["planned"].items()},
    )


def _dataset(name: str, runs: Sequence[RunFile], planned: int) -> DatasetScores:
    task = tasks.get(name)
    metric = metrics.get(task.metric)
    return DatasetScores(
        name,
        type=task.type,
        metric=metric.main,
        runs={run["seed"]: _run(run, metric.unscaled) for run in runs},
        planned=planned,
    )


def _run(run: RunFile, unscaled: frozenset[str]) -> Run:
    settings = run["settings"]
    shown = {name: str(settings.get(name, "")) for name in SETTINGS}
    limits = {name: str(settings.get(name) or "") for name in LIMITS}
    return Run(
        figures={
            split: {name: Figure(value if name in unscaled else 100 * value) for name, value in run[split].items()}
            for split in SCORED
            if run[split]
        },
        verdict=run["verdict"],
        data_hash=run["data"][:12],
        metrics_version=str(run["metrics_version"]),
        settings={**shown, **limits, PLUGINS: plugins_text(run["plugins"])},
        trial=run["trial"],
    )


def sentence(entry: Entry) -> str:
    """What happened to a row, when, and who did it."""
    what = {
        Event.ADDED: "added",
        Event.VERIFIED: "looked at, and not recomputed" if entry.level == Level.CLAIMED else entry.level,
        Event.RESCORED: f"scored again: {entry.old or 0:.2f} to {entry.new or 0:.2f}",
        Event.WITHDRAWN: f"withdrawn: {entry.reason}",
    }[entry.event]
    return f"{entry.date}, {entry.by}: {what}"

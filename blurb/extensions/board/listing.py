"""The rows of a board as rows of a leaderboard, with what the ledger says of each.

What a page says of a row of a board beside its figures: facts of its files, and how to cite it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from blurb.extensions.board import ledger
from blurb.extensions.board.ledger import Event, LedgerEntry
from blurb.extensions.board.verification import Level
from blurb.extensions.reports.html.provenance import public
from blurb.messages import count_noun
from blurb.results.row import Row, label_rows
from blurb.row_files.reading import rows_on
from blurb.row_files.scores import claimed_scores
from blurb.row_files.writing import RowRecord

PARTIES = {"first": "first: made the model", "third": "third: did not make the model"}


def _plain(text: str) -> str:
    """Without what TeX reads as a command."""
    return re.sub(r"[\\{}%#$^~&]", " ", text).replace("_", r"\_")


@dataclass(frozen=True)
class BoardListing:
    """A row of a board.

    :param manifest: SHA-256 of its `MANIFEST.json`
    :param history: its entries in the ledger, earliest first
    """

    scores: Row
    about: RowRecord
    manifest: str
    history: Sequence[LedgerEntry]

    @property
    def verified(self) -> LedgerEntry | None:
        """Its last verification, if it was of these files, since they were put on the board."""
        last = self.history[-1] if self.history else None
        if last and (last.event, last.manifest) == (Event.VERIFIED, self.manifest):
            return last
        return None

    @property
    def verifier(self) -> str:
        """Who recomputed its figures; "" if nobody did."""
        return "" if self.verified is None or self.level is Level.CLAIMED else self.verified.by

    @property
    def sentences(self) -> list[str]:
        """Its history, earliest first."""
        return [sentence(entry) for entry in self.history]

    @property
    def signals(self) -> Sequence[str]:
        """Oddities that its verification found."""
        return self.verified.signals if self.verified else ()

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Name and value of what its files say, but for those that say nothing."""
        about = self.about
        texts = {
            "Folder": self.scores.key,
            "Measured by": about["measured_by"],
            "Party": PARTIES.get(about["party"], ""),
            # Of predictions from elsewhere nobody has seen the weights.
            "Weights and configuration": "" if self.scores.kind.joins else about["weights"],
            "Tokenizer": about["tokenizer"],
            "Protocol": f"{about['protocol']} ({about['protocol_hash'][:12]})",
            "blurb": about["blurb"],
            "Manifest": self.manifest,
        }
        return [(name, public(value)) for name, value in texts.items() if value]

    def citation(self, title: str) -> str:
        """An entry for BibTeX, with the hash by which all files of the row are known.

        :param title: of the page
        """
        about, key = self.about, self.scores.key
        added = [entry.date for entry in self.history if entry.event is Event.ADDED]
        fields = {
            "title": f"{{{_plain(about['model'])} under {_plain(about['protocol'])}: a row of predictions on BLURB}}",
            "author": f"{{{_plain(about['measured_by'])}}}" if about["measured_by"] else "",
            "howpublished": f"{_plain(title)}, row {_plain(key)}",
            "year": added[-1][:4] if added else "",
            "note": f"{self.level}; SHA-256 of its manifest {self.manifest[:16]}",
        }
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{key},", ",\n".join(lines), "}"])

    @property
    def level(self) -> Level:
        """How far its figures are believed, as the ledger says."""
        return Level(self.verified.level) if self.verified else Level.CLAIMED


@dataclass(frozen=True)
class BoardFolder:
    """A board, as tables and the page take it (`blurb.leaderboard.ranking.Board`)."""

    folder: Path

    @cached_property
    def listings(self) -> list[BoardListing]:
        """Its rows with their history; errors as of `read`."""
        return read(self.folder)

    def rows(self) -> list[Row]:
        """Its rows; errors as of `read`."""
        return [each.scores for each in self.listings]

    def is_claimed(self, row: Row) -> bool:
        """Whether nobody recomputed the figures of one of its rows."""
        return any(
            each.scores.key == row.key and each.level is Level.CLAIMED for each in self.listings
        )

    def withdrawn(self) -> list[str]:
        """The rows that were taken from it, a sentence each, earliest first; also those that were added again."""
        return [
            f"{entry.row}: {sentence(entry)}"
            for entry in ledger.read(self.folder / ledger.FILE)
            if entry.event is Event.WITHDRAWN
        ]


def read(board: Path) -> list[BoardListing]:
    """The rows of a board by the names of their folders.

    :raises DataError: if the ledger or the files of a row cannot be read
    :raises SettingsError: if the folder is no board
    """
    ledger.check(board)
    entries = ledger.read(board / ledger.FILE)
    listings = [
        BoardListing(
            claimed_scores(row),
            row.about,
            row.manifest,
            [each for each in entries if each.row == row.folder.name],
        )
        for row in rows_on(board)
    ]
    named = label_rows([replace(each.scores, remarks=(standing(each),)) for each in listings])
    return [replace(each, scores=row) for each, row in zip(listings, named, strict=True)]


def standing(listing: BoardListing) -> str:
    """The state of a row by its ledger, and who measured it.

    `recomputed by The board (2026-11-24, 2 signals); measured by A group (first party)`
    """
    last, about = listing.verified, listing.about
    text = "claimed; nobody recomputed these figures"
    if last is not None:
        what = "claimed; not recomputed" if listing.level is Level.CLAIMED else last.level
        count = f", {count_noun(len(last.signals), 'signal')}" if last.signals else ""
        text = f"{what} by {last.by} ({last.date}{count})"
    party = f" ({about['party']} party)" if about["party"] else ""
    return f"{text}; measured by {about['measured_by']}{party}" if about["measured_by"] else text


def sentence(entry: LedgerEntry) -> str:
    """The events of a row, with date and author."""
    what = {
        Event.ADDED: "added",
        Event.VERIFIED: "looked at, and not recomputed"
        if entry.level == Level.CLAIMED
        else entry.level,
        Event.RESCORED: f"scored again: {entry.old or 0:.2f} to {entry.new or 0:.2f}",
        Event.WITHDRAWN: f"withdrawn: {entry.reason}",
    }[entry.event]
    return f"{entry.date}, {entry.by}: {what}"

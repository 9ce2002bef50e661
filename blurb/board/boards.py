"""A board: a folder of rows and the ledger of what happened to them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, TypedDict

from blurb.board import ledger
from blurb.board.ledger import FOLDER, ROWS, Entry, Event, append, manifest_of
from blurb.board.reading import read, rows_in
from blurb.board.verification import Level, verify_row
from blurb.messages.errors import SettingsError
from blurb.system.files import ordinary


class BoardRow(TypedDict):
    """A row of a board."""

    row: Annotated[str, "name of its folder"]
    model: Annotated[str, "name of the model"]
    level: Annotated[Level, "how far its figures are believed now"]
    recorded: Annotated[str, "level of its last verification in the ledger; empty if it has none"]
    signals: Annotated[list[str], "what is odd about it, also beside the other rows"]


class VerifiedBoard(TypedDict):
    """What `blurb leaderboard verify` found of a board."""

    rows: Annotated[list[BoardRow], "the rows by name"]
    problems: Annotated[list[str], "what does not fit between rows and ledger, or was changed since"]


def is_board(folder: Path) -> bool:
    """Whether a folder has a ledger."""
    return (folder / ledger.FILE).is_file()


def verify_board(board: Path, data: Path, since: Path | None = None) -> VerifiedBoard:
    """Recomputes the figures of every row, beside all others, and looks whether rows and ledger fit.

    :param data: the verifier's own data folder
    :param since: the ledger of an earlier release
    :raises DataError: if a ledger or the files of a row cannot be read, or the data is missing
    """
    problems = list(ledger.problems(board, since))
    # An entry that gives a row other files leaves it without a level.
    recorded = {entry.row: entry.level for entry in ledger.read(board / ledger.FILE)}
    rows = []
    there = rows_in(board / ROWS) if (board / ROWS).is_dir() else []
    for each in there:
        name, checked = each.folder.name, verify_row(each, data, there)
        row = BoardRow(
            row=name,
            model=checked.row.about["model"],
            level=checked.level,
            recorded=recorded.get(name, ""),
            signals=list(map(str, checked.signals)),
        )
        rows.append(row)
        if checked.level is Level.CLAIMED and row["recorded"] in (Level.RECOMPUTED, Level.REPRODUCED):
            problems.append(f"{name}: was {row['recorded']} when it was verified, and is only claimed now")
    return VerifiedBoard(rows=rows, problems=problems)


def submit(board: Path, row: Path, name: str, by: str, date: str) -> Path:
    """Puts the files of a row on a board and says so in its ledger; returns the new folder.

    :param name: of its folder, which must be new
    :raises SettingsError: for another name
    :raises DataError: if these are not the files of a row, or the ledger cannot be read
    """
    place = board / ROWS / name
    if not FOLDER.fullmatch(name) or place.exists():
        why = "is on the board already" if place.exists() else "must be letters, digits, '.', '_' and '-'"
        raise SettingsError(f"the name {why} (got '{name[:40]}').", where=place)
    _check(board)
    names = [path.name for path in sorted(row.iterdir())] if read(row) else []
    aside = board / ROWS / f".{name}"
    shutil.rmtree(aside, ignore_errors=True)  # of a submission that was killed
    aside.mkdir(parents=True)
    try:
        for each in names:
            with open(row / each, "rb", opener=ordinary) as source:
                (aside / each).write_bytes(source.read())
        append(board, Entry(date, Event.ADDED, name, by, manifest_of(aside)))
        aside.rename(place)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return place


def withdraw(board: Path, name: str, by: str, reason: str, date: str) -> None:
    """Takes a row from a board; the ledger keeps who did so and why.

    :raises SettingsError: if there is no such row
    """
    _check(board)
    if not FOLDER.fullmatch(name) or not (board / ROWS / name).is_dir():
        raise SettingsError(f"there is no row '{name[:40]}'.", where=board / ROWS)
    append(board, Entry(date, Event.WITHDRAWN, name, by, reason=reason))
    shutil.rmtree(board / ROWS / name)


def record(board: Path, verified: VerifiedBoard, by: str, date: str) -> int:
    """Writes the levels into the ledger that are not what it says; returns their number."""
    new = [row for row in verified["rows"] if row["level"] != row["recorded"]]
    for row in new:
        manifest = manifest_of(board / ROWS / row["row"])
        append(board, Entry(date, Event.VERIFIED, row["row"], by, manifest, level=row["level"]))
    return len(new)


def _check(board: Path) -> None:
    if not is_board(board):
        raise SettingsError(f"is no board, as it has no {ledger.FILE}.", where=board)

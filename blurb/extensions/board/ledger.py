"""The ledger of a board: one line of JSON an event, of which none is ever changed or taken away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from blurb.extensions.board.verification import Level
from blurb.grouping import by_key
from blurb.messages import DataError, SettingsError
from blurb.row_files.reading import MOST_BYTES, ROWS, manifest_of
from blurb.system import leases
from blurb.system.files import check_types, read_bytes, unique_keys, write_whole

FILE, KEEP = "ledger.jsonl", ".gitkeep"
BEFORE = ".before"
"""End of the name of the hidden folder that a row has while it is replaced."""
MOST_SIGNALS, MOST_TEXT = 1000, 2000
TEXT = re.compile(rf"[^\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]{{0,{MOST_TEXT}}}")
"""Texts of an entry: none moves the cursor or turns the direction of what follows."""
DATE = re.compile(r"20\d\d-[01]\d-[0-3]\d")
FOLDER = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9_-])?",
    re.IGNORECASE | re.ASCII,
)
"""Names of a row's folder that every system takes: Windows has no `con`, and no name that ends with a dot."""


class Event(StrEnum):
    """Events of a row."""

    ADDED = "added"
    VERIFIED = "verified"
    RESCORED = "rescored"
    WITHDRAWN = "withdrawn"


WANTED: Mapping[Event, Sequence[str]] = {
    Event.ADDED: ("manifest",),
    Event.VERIFIED: ("manifest", "level"),
    Event.RESCORED: ("manifest", "old", "new"),
    Event.WITHDRAWN: ("reason",),
}
"""Required fields of each kind of entry, beside date, row and author; a verification may have signals."""


@dataclass(frozen=True)
class LedgerEntry:
    """An event of a row.

    :param date: year-month-day
    :param row: name of its folder in `rows`
    :param by: who did it
    :param manifest: SHA-256 of its `MANIFEST.json`, by which all its files are known
    :param level: of a verification
    :param signals: what was odd about the row, as a verification told it
    :param old: score before it was scored again, times 100; `new` after
    :param reason: why it was withdrawn
    """

    date: str
    event: Event
    row: str
    by: str
    manifest: str = ""
    level: str = ""
    old: float | None = None
    new: float | None = None
    reason: str = ""
    signals: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """As it stands in the file."""
        there = {name: value for name, value in asdict(self).items() if value not in ("", None, ())}
        return json.dumps(there, allow_nan=False)


TYPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("date", "event", "row", "by", "manifest", "level", "reason"), str),
    **dict.fromkeys(("old", "new"), (int, float)),
    "signals": list,
}


def today() -> str:
    """The date of an entry that is written now, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def is_board(folder: Path) -> bool:
    """Whether a folder has a ledger."""
    return (folder / FILE).is_file()


def check(board: Path) -> None:
    """Raises a SettingsError for a folder that is no board."""
    if not is_board(board):
        raise SettingsError(
            f"is no board, as it has no {FILE}",
            where=board,
            fix="blurb leaderboard init makes one.",
        )


def read(path: Path) -> list[LedgerEntry]:
    """The entries of a ledger; none if there is no file, as on a new board.

    :raises DataError: (file, line) if a line is no entry, or is earlier than the one before
    """
    entries: list[LedgerEntry] = []
    if path.is_symlink() or (path.exists() and path.stat().st_size > MOST_BYTES):
        raise DataError("is a link, or larger than a ledger can be.", path)
    lines = read_bytes(path).decode(errors="replace").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        entry = _entry(line, path, number)
        if entries and entry.date < entries[-1].date:
            raise DataError(f"is of {entry.date}, earlier than the line before.", path, number)
        entries.append(entry)
    return entries


def _entry(line: str, path: Path, number: int) -> LedgerEntry:
    try:
        content = json.loads(line, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise DataError(f"is no JSON: {error}", path, number) from None
    if not isinstance(content, dict) or not content.keys() <= TYPES.keys():
        raise DataError(f"expected an object of {', '.join(TYPES)}.", path, number)
    check_types(content, TYPES, path)
    if content.get("event") not in list(Event):
        raise DataError(f"event must be one of {', '.join(Event)}.", path, number)
    event = Event(content["event"])
    required = ("date", "row", "by", *WANTED[event])
    if missing := [name for name in required if content.get(name) in ("", None)]:
        raise DataError(f"{event}: {missing[0]} is missing.", path, number)
    optional = ["signals"] if event is Event.VERIFIED else []
    if odd := sorted(content.keys() - {"event", *required, *optional}):
        raise DataError(f"{event}: an entry of this kind has no {odd[0]}.", path, number)
    if event is Event.VERIFIED and content["level"] not in list(Level):
        raise DataError(f"level must be one of {', '.join(Level)}.", path, number)
    if not DATE.fullmatch(content["date"]) or not FOLDER.fullmatch(content["row"]):
        raise DataError("date must be year-month-day, and row the name of a folder.", path, number)
    signals = tuple(content.get("signals", ()))
    texts = (*signals, *(value for value in content.values() if isinstance(value, str)))
    if len(signals) > MOST_SIGNALS or not all(
        isinstance(text, str) and TEXT.fullmatch(text) for text in texts
    ):
        raise DataError(
            "has a text that is too long or has control characters, or too many signals.",
            path,
            number,
        )
    if not all(-100 <= content.get(name, 0) <= 100 for name in ("old", "new")):
        raise DataError("old and new must be scores.", path, number)
    return LedgerEntry(**{**content, "event": event, "signals": signals})


def append(board: Path, entry: LedgerEntry) -> None:
    """Adds an entry at the end of a board's ledger; DataError if the ledger cannot be read or is later, or for a text
    that would make it unreadable."""
    path = board / FILE
    before = read(path)
    if before and entry.date < before[-1].date:
        raise DataError(f"the last entry is of {before[-1].date}, later than {entry.date}.", path)
    _entry(entry.line, path, len(before) + 1)
    there = read_bytes(path) if path.exists() else b""
    if there and not there.endswith(b"\n"):  # an editor or a merge may have taken the last line end
        there += b"\n"
    write_whole(path, there + f"{entry.line}\n".encode())


@contextmanager
def changing(board: Path) -> Iterator[None]:
    """Within it nobody else changes the board: an entry and the folder that it is about are two steps.

    :raises SettingsError: if the folder is no board
    """
    check(board)
    with leases.held(board / f".{FILE}.lease"):
        yield


def entries_on(board: Path) -> dict[str, LedgerEntry]:
    """The last entry of each row that is on a board by its ledger."""
    last = {entry.row: entry for entry in read(board / FILE)}
    return {name: entry for name, entry in last.items() if entry.event is not Event.WITHDRAWN}


def same_folders(names: Iterable[str]) -> list[list[str]]:
    """The names that differ by case alone, which are one folder on some systems."""
    folded = by_key((name.casefold(), name) for name in sorted(names))
    return [alike for alike in folded.values() if len(alike) > 1]


def problems(board: Path, since: Path | None = None) -> Iterator[str]:
    """Contradictions between the rows of a board and its ledger, and changes of the ledger.

    :param since: the ledger of an earlier release, whose lines must all be there, first and unchanged
    :raises DataError: (file, line) if a ledger cannot be read
    """
    entries = read(board / FILE)
    for number, earlier in enumerate(read(since) if since else (), 1):
        if entries[number - 1 : number] != [earlier]:
            named = f"{earlier.row} ({earlier.event}, {earlier.date})"
            yield f"{FILE}:{number}: the entry of {named} is gone or was changed"
            break
    hashes: dict[str, str] = {}
    for entry in entries:
        if entry.date > today():  # no entry could follow it
            yield f"{entry.row}: {entry.event} on {entry.date}, which is still to come"
        if (entry.event is Event.ADDED) == (entry.row in hashes):
            state = "there already" if entry.row in hashes else "not on the board"
            yield f"{entry.row}: {entry.event} on {entry.date}, when it was {state}"
        if entry.event is Event.WITHDRAWN:
            hashes.pop(entry.row, None)
        elif entry.event is Event.VERIFIED and hashes.get(entry.row) != entry.manifest:
            yield f"{entry.row}: verified on {entry.date} with files that were never added"
        else:
            hashes[entry.row] = entry.manifest
    folder = board / ROWS
    listed = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    hidden = {name for name in listed if name.startswith(".")}
    for name in sorted(hidden - {KEEP}):
        yield f"{ROWS}/{name}: is hidden, and no row; remove it"
    present = listed - hidden
    for names in same_folders(hashes.keys() | present):
        yield f"{' and '.join(names)}: are one folder on macOS and Windows; withdraw all but one"
    for name in sorted(hashes.keys() - present):
        yield f"{name}: the row is gone, and no entry says that it was withdrawn"
    for name in sorted(present):
        if name not in hashes:
            yield f"{name}: no entry says that the row was added"
        elif not (folder / name).is_dir():
            yield f"{name}: is no folder"
        elif manifest_of(folder / name) != hashes[name]:
            yield f"{name}: its files are not those of its last entry"

"""`results.csv` and `leaderboard.csv` of a store, rebuilt from the store and `external.csv`; by default in its folder.

Numbers are times 100 with two decimals (four in `results.csv`); a missing value is an empty cell. The tables do not
depend on when or where a trial ran, so an interrupted and an uninterrupted run give identical files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from blurb.messages.errors import DataError, StoreError, Tell, tell_damage
from blurb.messages.spelling import opt
from blurb.results import from_store, leaderboard_csv, published, results_csv, table_owners
from blurb.results.row import Published, Row
from blurb.results.schema import SCHEMA, remedy
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.files import remove_forgotten
from blurb.system.leases import Lease, Lost
from blurb.table_files import head_of

DEFAULT = "leaderboard.csv"


def place(store: Path | str, leaderboard: Path | str | None) -> Path:
    """The wide table that a command writes: in the store, unless one is named."""
    return Path(store) / DEFAULT if leaderboard is None else Path(leaderboard)


def check_places(store: Path | str, leaderboard: Path | str | None) -> None:
    """Raises a StoreError or DataError for a store of another schema, and for tables that could not be written."""
    check(Store(Path(store)), place(store, leaderboard))


def results_beside(leaderboard: Path) -> Path:
    """The long table of a wide one: `results.csv` for `leaderboard.csv`, `mine-results.csv` for `mine.csv`."""
    if leaderboard.name == DEFAULT:
        return leaderboard.with_name("results.csv")
    return leaderboard.with_name(f"{leaderboard.stem}-results.csv")


def rebuild(store: Store, leaderboard: Path, tell: Tell = tell_damage) -> list[Row]:
    """Writes `leaderboard` and its long table in the same folder; returns the rows of the store.

    :param tell: receives messages about damage in the store; damaged trials are left out
    :raises StoreError: if a file has another schema version or belongs to another store; then nothing is written
    """
    folder = leaderboard.parent
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        with writing(folder) as lease, suppress(Lost):  # of a process that slept: what it has read may be old
            others = check(store, leaderboard)
            rows = from_store.read(store, tell)
            lease.check()
            results_csv.write(results_beside(leaderboard), rows)
            leaderboard_csv.write(leaderboard, [*rows, *others])
            table_owners.note(store, leaderboard)
            return rows


@contextmanager
def writing(folder: Path) -> Iterator[Lease]:
    """The lease to hold while tables are made and put into a folder.

    Each file is replaced atomically, so that none is ever half there. The lease puts reading and writing of several
    processes one after the other: the last tables have all that was finished before them, and both are of one state.
    """
    path = folder / ".blurb-tables.lease"
    with leases.held(path) as lease:
        with suppress(OSError):  # the note is rarely written anew, which would remove what kills left of it
            remove_forgotten(folder / table_owners.NOTE, path.stat().st_mtime)
        yield lease


def check(store: Store, leaderboard: Path) -> list[Published]:
    """The rows of `external.csv`; StoreError or DataError if the tables could not be written.

    Does not write anything.
    """
    if leaderboard.name in ("results.csv", "external.csv"):
        raise StoreError(
            f"{opt('leaderboard')} cannot be {leaderboard.name}, a name that blurb uses itself", fix="choose another."
        )
    results = results_beside(leaderboard)
    check_schema(leaderboard, leaderboard_csv.COLUMNS)
    check_schema(results, results_csv.COLUMNS)
    table_owners.check(store, leaderboard, results)
    return external(leaderboard)


def external(leaderboard: Path) -> list[Published]:
    """The rows of `external.csv` in the folder of a leaderboard; DataError (file, line) if it is invalid."""
    path = leaderboard.with_name("external.csv")
    return published.read(path) if path.exists() else []


def check_schema(path: Path, columns: Sequence[str], option: str = opt("leaderboard")) -> None:
    """Raises a StoreError if the file exists but has another schema version, or is the other of the two tables.

    :param option: option to choose another place, for the message
    """
    if not path.exists():
        return
    if not path.is_file():
        raise StoreError(f"{path} is a folder, a pipe or a device and no table", fix=f"choose another {option}.")
    try:
        there, line = head_of(path)
        version = ((line.get("schema") if line else SCHEMA) or "") if "schema" in there else ""
    except DataError:
        there, version = (), ""
    if version != SCHEMA:
        raise StoreError(
            f"{path} has schema version {version or 'none'}, but this version of blurb writes {SCHEMA}. "
            "It was not changed",
            fix=remedy(version) or f"choose another {option}, or move it away.",
        )
    if ("metric" in there) != ("metric" in columns):
        kind = "a table of runs" if "metric" in there else "a leaderboard"
        raise StoreError(f"{path} is {kind} and was not changed", fix=f"choose another {option}.")

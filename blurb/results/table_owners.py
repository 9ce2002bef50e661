"""Records which store a pair of tables belongs to, so that tables of another store are never overwritten.

Those in the folder of a store are its own. Of others the record is a file in their folder; without a record, because
they were moved, they belong to a store if it has all their rows and trials.
"""

from __future__ import annotations

import os
from pathlib import Path

from blurb.messages.errors import StoreError
from blurb.messages.spelling import opt
from blurb.results.schema import original
from blurb.store import row_trials
from blurb.store.store import Store
from blurb.store.trial import short_weights
from blurb.system.files import read_json, write_json
from blurb.table_files import table_of

NOTE = ".blurb-tables.json"
"""File with leaderboard -> store, both as paths relative to the folder of the tables."""
HERE = "."
"""The place of a store that has the tables in its folder."""


def check(store: Store, leaderboard: Path, results: Path) -> None:
    """Raises a StoreError if the tables belong to another store, whose rows would be lost."""
    noted = _noted(leaderboard.parent).get(leaderboard.name)
    if _place(store, leaderboard) in (HERE, noted):
        return
    other = leaderboard.parent / noted if noted else None
    if other is not None and any(other.glob("*/*/*/spec.json")) and (leaderboard.exists() or results.exists()):
        reason = f"they belong to the store {other}"
    elif foreign := _foreign(store, leaderboard, results):
        reason = f"they have {foreign}, which is not in {store.root}"
    else:
        return
    raise StoreError(
        f"{leaderboard} and {results.name} do not belong to the store {store.root}: {reason}. They were not changed",
        fix=f"choose another {opt('leaderboard')}, or move them away.",
    )


def note(store: Store, leaderboard: Path) -> None:
    """Records that the tables belong to a store; the caller holds the lease of the tables."""
    noted = _noted(leaderboard.parent)
    place = _place(store, leaderboard)
    if place not in (HERE, noted.get(leaderboard.name)):
        write_json(leaderboard.parent / NOTE, {**noted, leaderboard.name: place})


def forget(leaderboard: Path) -> None:
    """Removes the record of the tables, which then belong to a store only if it has all their rows and trials.

    The caller holds the lease of the tables.
    """
    noted = _noted(leaderboard.parent)
    if noted.pop(leaderboard.name, None) is not None:
        write_json(leaderboard.parent / NOTE, noted)


def _noted(folder: Path) -> dict[str, str]:
    try:
        return {str(name): str(place) for name, place in read_json(folder / NOTE).items()}
    except StoreError:  # not there, or damaged: as if nothing were known
        return {}


def _place(store: Store, leaderboard: Path) -> str:
    return os.path.relpath(store.root.resolve(), leaderboard.parent.resolve())


def _foreign(store: Store, leaderboard: Path, results: Path) -> str:
    """The first row or trial of the tables that is not in the store; "" if all are."""
    rows = row_trials.read(store, lambda text: None)
    trials = {(row.model, hash_) for row in rows for seeds in row.trials.values() for hash_ in seeds.values()}
    models = {(row.model, short_weights(row.weights)) for row in rows}
    for line in _lines(results, "model", "task", "seed", "trial"):
        here = store.path(line["model"], line["task"], line["trial"])
        if (line["model"], line["trial"]) not in trials and not here.exists():
            return f"{line['model']} on {line['task']}, seed {line['seed']}"
    for line in _lines(leaderboard, "model", "weights", "source"):
        if not line["source"] and (line["model"], line["weights"]) not in models:
            return f"the row {line['model']}"
    return ""


def _lines(path: Path, *columns: str) -> list[dict[str, str]]:
    """These columns of a table; no lines if the file does not exist."""
    if not path.exists():
        return []
    lines = table_of(path, needed=columns).rows
    return [{column: original(line[column]) for column in columns} for _, line in lines]

"""The rows of a store as files: their trials and sizes, renaming and removing them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from blurb.execution import row_edits
from blurb.learners import saved_models
from blurb.messages import BlurbError, SettingsError, StoreError, Tell, tell_damage
from blurb.names import by_number
from blurb.results import tables
from blurb.results.row import Row, label_rows
from blurb.row_files.references import RowName, file_rows, pick_row, unknown_row
from blurb.store import row_contents, row_trials
from blurb.store.store import Store


@dataclass(frozen=True)
class StoredRow:
    """A row of a store, finished or not.

    :param name: model and configuration, as in tables
    """

    name: str
    planned: row_trials.RowTrials
    store: Store

    @cached_property
    def trials(self) -> Sequence[row_contents.TrialState]:
        """Its trials, by task and seed."""
        return row_contents.trials(self.store, self.planned)

    def count(self, state: row_contents.State) -> int:
        """The number of trials in a state."""
        return sum(trial.state == state for trial in self.trials)

    @property
    def size(self) -> int:
        """Bytes of its trials; those that it shares with other rows count for each of them."""
        return sum(trial.size for trial in self.trials)

    @property
    def last(self) -> str:
        """When the last of its finished trials began, in UTC; "" without any."""
        return max(
            (trial.record.provenance.started for trial in self.trials if trial.record), default=""
        )


def stored_rows(store: Store, tell: Tell = tell_damage) -> list[StoredRow]:
    """All rows of a store by suite, model and configuration.

    :raises StoreError: if there is no such folder
    """
    store.check_exists()
    there = row_trials.read(store, tell)
    named = label_rows([Row.of_store(row, {}) for row in there])
    return sorted(
        [StoredRow(row.name, planned, store) for row, planned in zip(named, there, strict=True)],
        key=lambda row: (row.planned.configuration.suite, by_number(row.planned.model), row.name),
    )


def find_row(store: Path, reference: str) -> StoredRow:
    """The one row of a store that a name means (`RowName`); SettingsError or UnknownName if there is none, or several.

    :param store: of the command; the name may state another one
    """
    name = RowName.parse(reference)
    if name.published or (name.place or store).is_file():
        raise SettingsError(
            f"{reference} is no row of a store", fix="name one of a store: ROW or FOLDER:ROW."
        )
    present = stored_rows(Store(name.place or store))
    rows = label_rows([Row.of_store(row.planned, {}) for row in present])
    # A row to delete must be named itself: a run or a folder is not taken for its last row.
    if rows and not any(name.row in (row.name, row.model) for row in rows):
        raise unknown_row(rows, name.row, f"row (in {name.where(store)})")
    wanted = pick_row(rows, name.row, name.where(store))
    return next(row for row in present if row.planned.key == wanted.key)


def verify_trials(store: Store, reference: str | None = None) -> tuple[int, dict[Path, list[str]]]:
    """Hashes every file of the finished trials; returns their number, and the damaged files by trial.

    :param reference: a row; None for all trials of the store
    :raises StoreError: if there is no such folder
    """
    if reference is None:
        store.check_exists()
        paths = store.hash_folders()
    else:
        row = find_row(store.root, reference)
        paths = [path for path in row_contents.paths(row.store, row.planned) if path.exists()]
    damage_by_path = {path: store.damage(path) for path in paths}
    for path, files in damage_by_path.items():
        if (path / saved_models.FOLDER).is_dir() and not saved_models.is_kept(path):
            files.append(saved_models.FOLDER)
        if files:
            with contextlib.suppress(OSError):
                # The index trusts sizes and times; a new time makes it read this trial again.
                os.utime(path)
    return len(paths), {path: files for path, files in damage_by_path.items() if files}


def remove_row(row: StoredRow, leaderboard: Path) -> tuple[row_edits.Removal, str]:
    """Deletes a row with the trials that no other row has; returns these, and a message on the tables."""
    return row_edits.remove(row.store, row.planned), _rebuild_tables(row.store, leaderboard)


def rename_row(row: StoredRow, name: str, leaderboard: Path) -> str:
    """Gives a row another model name; returns a message on the tables."""
    row_edits.rename(row.store, row.planned, name)
    return _rebuild_tables(row.store, leaderboard)


def edit_row(row: StoredRow, trained_on: str, leaderboard: Path) -> str:
    """Changes a remark on a row, which is part of no identity; returns a message on the tables.

    :param trained_on: a key of `TRAINED_ON`
    """
    with row.store.locked():
        present = row_trials.read(row.store, near=row.planned.model)
        same = next((each for each in present if each.key == row.planned.key), None)
        if same is None:
            raise StoreError(f"{row.name} was removed meanwhile", fix="see blurb runs.")
        row_trials.write(row.store, replace(same, trained_on=trained_on))
    return _rebuild_tables(row.store, leaderboard)


def finish_edit(
    store: Store, reference: str, leaderboard: Path, name: str | None = None
) -> str | None:
    """Completes a removal or renaming that was killed after the row was gone: rebuilds the tables that still have it.

    :param name: the new name of a row that was renamed
    :returns: a message on the tables; None if nothing of that kind was begun
    """
    if not leaderboard.exists():
        return None
    try:
        tables.check(store, leaderboard)
        present = stored_rows(store, lambda text: None)
        known = {(row.planned.model, row.planned.configuration.text) for row in present}
        own = [
            row
            for row in file_rows(leaderboard)
            if not row.published and reference in (row.name, row.model)
        ]
        rows = [row for row in own if (row.model, row.configuration.text) not in known]
    except BlurbError:
        return None
    if len(rows) != 1 or (
        name is not None and not any(row.planned.model == name for row in present)
    ):
        return None
    row_edits.disown(store, rows[0].model)
    return _rebuild_tables(store, leaderboard)


def _rebuild_tables(store: Store, leaderboard: Path) -> str:
    """Rebuilds the tables if they are those of the store; returns a message on them."""
    elsewhere = "Other tables of this store have the row as it was; blurb rescore --leaderboard FILE rebuilds them."
    if not leaderboard.exists():
        return elsewhere
    try:
        tables.rebuild(Store(store.root), leaderboard)
    except (BlurbError, OSError) as error:
        return f"{leaderboard} was left as it was: {error} {elsewhere}"
    return f"Rebuilt {leaderboard}. {elsewhere}"

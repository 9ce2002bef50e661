"""Removes and renames rows of a store, without touching what other rows have.

Rows of one model share trials, so only trials that no other row has are deleted. After a kill the store can be read,
and the same command finishes: trials are copied whole before their row is written, and deleted before their row is.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from blurb import names
from blurb.execution import sweeps
from blurb.learners import saved_models
from blurb.messages import BlurbError, SettingsError, StoreError, with_effect
from blurb.store import row_contents, row_trials as rows, trial_checkpoints as checkpoints
from blurb.store.record import read_spec
from blurb.store.row_trials import RowTrials
from blurb.store.store import LEASE, OLD, OWNERS, Store, leftover_folders
from blurb.store.trial import PROVENANCE, read_provenance
from blurb.system import leases
from blurb.system.files import copy_file, hidden_name, read_json, size_of, write_json


@dataclass(frozen=True)
class Removal:
    """The files and trials that belong to a row.

    :param trials: its trials that no other row has
    :param shared: its trials that stay, as another row has them
    :param unlisted: trials that no row has, which go with the last row of their model
    :param size: bytes of all that is deleted
    """

    trials: tuple[Path, ...]
    shared: tuple[Path, ...]
    unlisted: tuple[Path, ...]
    size: int


def removal(store: Store, row: RowTrials) -> Removal:
    """The trials and files that `remove` would delete; reads only."""
    others = _rows_beside(store, row)
    own = _own_places(store, row, others)
    present = [path for path in row_contents.paths(store, row) if path.exists()]
    going = tuple(path for path in present if path in own)
    last = all(other.key == row.key for other in others) and store.owners(row.model) <= {row.model}
    folder = store.root / store.folder(row.model)
    unlisted = (
        tuple(path for path in row_contents.unlisted(store, others) if folder in path.parents)
        if last
        else ()
    )
    begun = [each for path in own for each in checkpoints.all_of(path)]
    size = sum(size_of(path) for path in (*going, *unlisted, *begun))
    return Removal(going, tuple(path for path in present if path not in own), unlisted, size)


def remove(store: Store, row: RowTrials) -> Removal:
    """Deletes a row and the trials that no other row has.

    :raises StoreError: if a trial of the model is running, or a row beside it cannot be read; then nothing is deleted
    """
    with store.locked():
        _check_free(store, row.model)
        doomed = removal(store, row)
        _remove_row(store, row)
    return doomed


def rename(store: Store, row: RowTrials, name: str) -> RowTrials:
    """Gives a row another model name, and returns it. Trials that other rows have are copied.

    :raises SettingsError: if the name is not valid, or its model has such a row with other trials
    :raises StoreError: if a trial of either model is running, or something of the row is damaged; then nothing changes
    """
    names.check(name, "The new name", "NEWNAME")
    renamed = replace(row, model=name)
    if name == row.model:
        raise SettingsError(f"The row has the name '{name}' already.")
    with store.locked():
        for model in (row.model, name):
            _check_free(store, model)
            _check_readable(store, model)
        going = removal(store, row)
        there = next(
            (other for other in rows.read(store, _ignore_damage) if other.key == renamed.key), None
        )
        if there is not None and there.trials != row.trials:
            raise SettingsError(
                f"{name} has a row of this configuration with other trials",
                fix="choose another name, or remove one of them with blurb runs rm.",
            )
        damaged = [path for path in (*going.trials, *going.shared) if store.damage(path)]
        if damaged:
            raise StoreError(
                f"Nothing was renamed, as trials are damaged: {', '.join(map(str, damaged))}.",
                fix="Repair the row with its blurb run command first.",
            )
        store.claim(name)
        for path in (*row_contents.paths(store, row), *_search_trials(store, row)):
            _copy_trial(store, path, store.path(name, path.parent.name, path.name), name)
        rows.write(store, renamed)
        _remove_row(store, row)
    return renamed


def _rows_beside(store: Store, row: RowTrials) -> list[RowTrials]:
    """All rows whose trials are in the folder of this row's model; StoreError if one of them cannot be read."""
    _check_readable(store, row.model)
    rows_beside = rows.read(store, _ignore_damage)
    folder = store.folder(row.model)
    if not any(other.key == row.key for other in rows_beside):
        raise StoreError(
            f"the row of {row.model} is gone; another process has removed or renamed it.",
            where=store.root,
        )
    return [other for other in rows_beside if store.folder(other.model) == folder]


def _own_places(store: Store, row: RowTrials, beside: Iterable[RowTrials]) -> list[Path]:
    """The places of the trials that no other row has, including those that never ran."""
    others = {
        path
        for other in beside
        if other.key != row.key
        for path in row_contents.paths(store, other)
    }
    return [path for path in row_contents.paths(store, row) if path not in others]


def _check_readable(store: Store, model: str) -> None:
    """Raises a StoreError if a row of the model's folder cannot be read, as its trials are then not known."""
    told: list[BlurbError] = []
    rows.read(store, told.append)
    folder = store.root / store.folder(model) / rows.FOLDER
    if wrong := [error for error in told if folder in Path(error.where or "").parents]:
        raise with_effect(wrong[0], "Nothing was changed, as trials may belong to it")


def _ignore_damage(damage: BlurbError) -> None:
    """Ignores damage elsewhere in the store."""


def _check_free(store: Store, model: str) -> None:
    """Raises a StoreError if a trial of the model is running."""
    for lease in sorted((store.root / store.folder(model)).glob(f"*/.*{LEASE}")):
        path = lease.with_name(lease.name[1:].removesuffix(LEASE))
        if row_contents.is_running(store, path):
            raise StoreError(
                f"A trial of {model} is running ({path}, {leases.who(lease)}), and nothing was changed",
                fix="wait until it is done, or stop its blurb run.",
            )


def _search_trials(store: Store, row: RowTrials) -> Iterator[Path]:
    """The trials that ran for a row and are not in it: points of a search, seeds that newer ones replaced."""
    listed = set(row_contents.paths(store, row))
    for spec in sorted((store.root / store.folder(row.model)).glob("*/*/spec.json")):
        path = spec.parent
        if path in listed or path.name.startswith("."):
            continue
        with contextlib.suppress(StoreError):
            if store.damage(path):
                continue
            if row.is_of(read_spec(path), read_provenance(path)):
                yield path


def _copy_trial(store: Store, path: Path, target: Path, model: str) -> None:
    """Copies a trial with its kept model, or the reason why it failed, to another model; existing ones stay."""
    failure, copied = row_contents.failure_of(path), row_contents.failure_of(target)
    if failure.exists() and not copied.exists():
        with contextlib.suppress(StoreError):  # an unreadable reason is left out
            write_json(copied, read_json(failure))
    if not path.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with leases.held(store.lease(target), wait=False) as lease:
        store.recover(target)
        if store.is_done(target):
            if saved_models.is_kept(path) and not saved_models.is_kept(target):
                with store.aside(target) as aside:
                    saved_models.copy_as(
                        model, path / saved_models.FOLDER, aside / saved_models.FOLDER
                    )
                    # The model is damaged or missing.
                    shutil.rmtree(target / saved_models.FOLDER, ignore_errors=True)
                    (aside / saved_models.FOLDER).rename(target / saved_models.FOLDER)
            return
        with store.writing(target, lease) as aside:
            shutil.copytree(
                path,
                aside,
                ignore=shutil.ignore_patterns("DONE.json", saved_models.FOLDER),
                dirs_exist_ok=True,
                copy_function=copy_file,
            )
            if (path / saved_models.FOLDER).is_dir():
                saved_models.copy_as(model, path / saved_models.FOLDER, aside / saved_models.FOLDER)
            write_json(aside / PROVENANCE, {**read_json(aside / PROVENANCE), "model": model})


def _remove_row(store: Store, row: RowTrials) -> None:
    beside = _rows_beside(store, row)
    unlisted = removal(store, row).unlisted
    own = _own_places(store, row, beside)
    for path in (*own, *unlisted):
        if not path.parent.is_dir():
            continue
        # A trial, or the reason why it failed, is there whole, or not at all.
        with leases.held(store.lease(path), wait=False):
            if path.exists():
                path.rename(hidden_name(path, OLD))
            for left in leftover_folders(path):
                shutil.rmtree(left)
            for file in path.parent.glob(f".{path.name}{LEASE}.*"):
                file.unlink(missing_ok=True)
            checkpoints.remove(path)
            row_contents.failure_of(path).unlink(missing_ok=True)
    sweeps.drop(store, set(own))  # or a worker would run them, for no row
    rows.remove(store, row)
    disown(store, row.model)


def disown(store: Store, model: str) -> None:
    """Gives the folder of a model up after its last row; deletes it if no other model has it."""
    folder = store.root / store.folder(model)
    if not folder.is_dir() or any(row.model == model for row in rows.read(store, _ignore_damage)):
        return
    if others := store.owners(model) - {model}:
        write_json(folder / OWNERS, {"models": sorted(others)})
    elif all(path.parent.name.startswith(".") for path in folder.glob("*/*/spec.json")):
        shutil.rmtree(folder, ignore_errors=True)

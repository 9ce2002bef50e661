"""Facts of finished trials for tables, kept in the user's cache so that their files are not read and hashed again.

One SQLite table per store, filled by every reader of trials. The folders stay the truth: an entry counts only while
size and time of every file are unchanged. An index that is locked, read-only, damaged or of another version is
ignored: nobody waits for it, and all trials are read from their folders.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.messages import BlurbError, StoreError, Tell, with_effect
from blurb.store.record import Figures, Record, SplitFigures, admits_figure
from blurb.store.store import FILES, LEFT_OUT, Store, left_out
from blurb.store.trial import Provenance
from blurb.system import cache
from blurb.tasks import SCORED, Task

EXACT = 2**53
"""Whole numbers up to this are exact as floating-point numbers."""
# The version is in the name of the table: another version of blurb keeps its own beside it. Blobs, not text: a
# damaged text would raise while it is decoded, a damaged blob does not fit its stamp.
MAKE = "CREATE TABLE IF NOT EXISTS trials_1 (trial TEXT PRIMARY KEY, stamp BLOB, facts BLOB)"
FIND = "SELECT CAST(stamp AS BLOB), CAST(facts AS BLOB) FROM trials_1 WHERE trial = ?"
KEEP = "INSERT OR REPLACE INTO trials_1 VALUES (?, ?, ?)"


@dataclass(frozen=True)
class TrialFacts:
    """The facts of a finished trial for tables.

    :param stamp: changes with every file of the trial
    :param metrics: as in `metrics.json`, all figures as floating-point numbers
    :param data: hash of the data, and `verdict` on it
    :param declaration: of the task, if that came from a file
    """

    stamp: bytes
    metrics: Figures
    data: str
    verdict: str
    settings: Mapping[str, Any]
    declaration: Mapping[str, Any] | None

    def task(self, name: str) -> Task:
        """The task of that name; of a task file, as it was declared when the trial ran."""
        return Provenance(declaration=self.declaration).task(name)


def key_of(path: Path) -> str:
    """The name of a trial in its store: folder of the model, task and hash, with slashes."""
    return "/".join(path.parts[-3:])


def find_facts(store: Store, keys: Iterable[str]) -> dict[str, TrialFacts]:
    """The facts of the trials that have not changed since they were read; no file of a trial is opened."""
    stored: list[tuple[str, Any]] = []
    # Another process writes, the file is damaged or missing, or there is no cache folder: the folders have it all.
    with (
        contextlib.suppress(sqlite3.Error, OSError, BlurbError),
        contextlib.closing(sqlite3.connect(_file_of(store), timeout=0)) as table,
    ):
        table.execute("BEGIN")  # one lock for all: one a query takes as long as the query
        stored = [(key, table.execute(FIND, (key,)).fetchone()) for key in keys]
    return {
        key: TrialFacts(entry[0], *json.loads(entry[1]))
        for key, entry in stored
        if entry and entry[0] == _stamp(_state(f"{store.root}/{key}"), entry[1] or b"")
    }


def read_facts(store: Store, keys: Iterable[str], tell: Tell) -> dict[str, TrialFacts]:
    """The facts of the finished ones of some trials; facts that the index lacks are read and added to it.

    :param tell: receives messages about damaged trials
    """
    keys = list(keys)
    known = find_facts(store, keys)
    read = {key: read_folder(store, key, tell) for key in keys if key not in known}
    entries = [(key, *entry) for key, entry in read.items() if entry is not None]
    if entries:
        _keep_entries(store, entries)
    known |= {key: TrialFacts(stamp, *json.loads(facts)) for key, stamp, facts in entries}
    return {key: known[key] for key in keys if key in known}


def _keep_entries(store: Store, entries: list[tuple[str, bytes, bytes]]) -> None:
    """Writes entries; does nothing if that fails."""
    with contextlib.suppress(OSError, BlurbError):
        file = _file_of(store)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with contextlib.closing(sqlite3.connect(file, timeout=0)) as table, table:
                table.execute("PRAGMA synchronous = OFF")  # what a power cut spoils is read again
                table.execute(MAKE)
                table.executemany(KEEP, entries)
        except sqlite3.OperationalError:  # locked or read-only: the next reader may have more luck
            pass
        except sqlite3.Error:  # damaged: the next reader begins a new one
            file.unlink()


def _file_of(store: Store) -> Path:
    """The file of a store's index; BlurbError if there is no cache folder."""
    digest = hashlib.sha256(os.path.abspath(store.root).encode(errors="surrogateescape"))
    return cache.cache_home() / "trials" / f"{digest.hexdigest()[:16]}.sqlite"


def _state(folder: str) -> bytes:
    """Size and time of a trial's folder and of every file in it; nothing for a missing file."""
    parts = []
    for name in ("", *FILES, "DONE.json"):
        try:
            found = os.stat(f"{folder}/{name}")
            parts.append(f"{found.st_size} {found.st_mtime_ns}")
        except OSError:
            parts.append("")
    return ",".join(parts).encode()


def _stamp(state: bytes, facts: bytes) -> bytes:
    """A hash of the state of the files and of what was read, so that a damaged entry fits no trial."""
    return hashlib.blake2b(state + facts, digest_size=16).digest()


def read_folder(store: Store, key: str, tell: Tell) -> tuple[bytes, bytes] | None:
    """Stamp and facts of a trial; None if it is not finished, or damaged."""
    path = store.root / key
    if not path.exists():  # planned, and not run yet
        return None
    # Taken before the files are read: if they change meanwhile, it does not fit them.
    state = _state(str(path))
    try:
        if damage := store.damage(path):
            tell(left_out(path, damage))
            return None
        record = Record(str(path))
        trial, provenance, metrics = record.trial, record.provenance, record.metrics
        # Sums of seconds rely on them: a stranger's file may have 10**400.
        _ = provenance.train_seconds, provenance.predict_seconds
        figures = {
            **metrics,
            **_check_figures(trial.task, metrics),
            "majority": _check_figures(trial.task, metrics["majority"]),
            "metric": str(metrics["metric"]),
        }
        settings, declaration = dict(trial.settings), provenance.declaration
        facts = json.dumps(
            [figures, trial.data, provenance.data_verdict, settings, declaration]
        ).encode()
    except StoreError as error:
        tell(with_effect(error, LEFT_OUT))
        return None
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        what = f"{path} cannot be understood ({type(error).__name__}: {error})."
        tell(with_effect(StoreError(what), LEFT_OUT))
        return None
    return _stamp(state, facts), facts


def _check_figures(task: str, figures: SplitFigures) -> dict[str, dict[str, float]]:
    """The figures of a trial by split; ValueError for a value that is no number or that its metric cannot give."""
    checked: dict[str, dict[str, float]] = {split: {} for split in SCORED}
    for split in SCORED:
        for name, value in figures[split].items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not abs(value) <= EXACT or not admits_figure(task, name, value):
                raise ValueError(f"{name} of {task} cannot be {value!r}")
            checked[split][name] = float(value)
    return checked

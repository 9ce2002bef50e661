"""Leftovers of killed processes in a store: found, and removed."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from blurb.execution import engines, sweeps
from blurb.messages import TEMPORARY, BlurbError
from blurb.store import row_contents, row_trials as rows, trial_checkpoints as checkpoints
from blurb.store.store import LEASE, QUEUE, ROWS_LEASE, Store, leftover_folders
from blurb.system import leases
from blurb.system.files import FORGOTTEN, disk_time, size_of

FileKind = Literal[
    "temporary folder",
    "temporary file",
    "stale lease",
    "checkpoint",
    "finished sweep",
    "damaged row file",
    "reason of a failure",
    "checkpoint in a queue",
]
QUEUED = 7 * 86_400
"""Age in seconds from which a checkpoint that a `BlurbCallback` keeps is assumed to be left from a killed training."""
HIDDEN = re.compile(r"\.([0-9a-f]{16})\.")


@dataclass(frozen=True)
class Leftover:
    """A file or folder that can be removed.

    :param trial: folder of its trial, if any
    :param size: bytes
    """

    kind: FileKind
    path: Path
    trial: Path | None = None
    size: int = 0


def find(store: Store) -> list[Leftover]:
    """Files that can be removed now; none of a trial held by a living process."""
    found = [*find_trial_leftovers(store), *_stray_files(store)]
    return [replace(one, size=size_of(one.path)) for one in found]


def remove(store: Store | None, found: Sequence[Leftover]) -> list[Leftover]:
    """Removes leftovers, and returns the removed ones; those that a process has begun to use meanwhile stay.

    :param store: None for leftovers of a data folder
    """
    gone = []
    leases.wait_for_stale(file.path for file in found if file.kind == "stale lease")
    for file in found:
        if file.kind == "stale lease":
            leases.remove_if_stale(file.path)  # removes it
        elif file.trial is None or store is None:
            _delete_path(file.path)
        else:
            with leases.trying(store.lease(file.trial)) as lease:
                if lease is None:
                    continue
                if file.kind == "temporary folder":
                    store.clean(file.trial)  # first restores a trial that was about to be replaced
                else:
                    _delete_path(file.path)
        if not file.path.exists():
            gone.append(file)
    return gone


def waits(found: Sequence[Leftover]) -> bool:
    """Whether leases of other machines are among them: `remove` then watches them until it is sure."""
    holders = [leases.read(one.path) for one in found if one.kind == "stale lease"]
    return any(holder is not None and not holder.is_here for holder in holders)


def find_trial_leftovers(store: Store) -> Iterator[Leftover]:
    """Leftovers of trials from killed processes, without sizes."""
    for folder in sorted(
        path for path in store.root.glob("*/*") if path.is_dir() and path.name != rows.FOLDER
    ):
        hidden = {match[1] for path in folder.glob(".*") if (match := HIDDEN.match(path.name))}
        for name in sorted(
            hidden | {path.name.partition(".")[0] for path in folder.glob("*.failed.json")}
        ):
            path, lease = folder / name, store.lease(folder / name)
            if leases.seems_held(lease) is not False:
                continue
            if lease.exists():
                yield Leftover("stale lease", lease, path)
            for file in leftover_folders(path):
                yield Leftover("temporary folder", file, path)
            done, unfinished = (path / "DONE.json").exists(), checkpoints.folder_of(path)
            for file in checkpoints.all_of(path):
                if done or file != unfinished:  # an unfinished trial goes on from that one
                    yield Leftover("checkpoint", file, path)
            if done and row_contents.failure_of(path).exists():
                yield Leftover("reason of a failure", row_contents.failure_of(path), path)


def _stray_files(store: Store) -> Iterator[Leftover]:
    for folder in sorted((store.root / sweeps.FOLDER).glob("*")):
        over = not (folder / sweeps.JOBS).exists()
        with contextlib.suppress(BlurbError):
            over = over or all(map(sweeps.has_nothing_left, sweeps.read(folder)))
        # A scheduler fails a job whose log it cannot write.
        if over and not engines.is_queued(folder):
            yield Leftover("finished sweep", folder)
    for path in sorted(store.root.glob(f"*/{rows.FOLDER}/*.damaged")):
        yield Leftover("damaged row file", path)
    if (lease := store.root / ROWS_LEASE).exists() and leases.seems_held(lease) is False:
        yield Leftover("stale lease", lease)
    depths = ("", "*/", "*/*/", f"*/{rows.FOLDER}/")
    # Of processes killed while they ended the lease of another killed process, or the right to do so.
    for path in sorted(
        path for depth in depths for path in store.root.glob(f"{depth}.*{LEASE}{leases.END}*")
    ):
        if leases.seems_held(path) is False:
            yield Leftover("stale lease", path)
    for path in _forgotten_files(store.root, depths):
        yield Leftover("temporary file", path)
    with contextlib.suppress(OSError):  # a read-only folder
        now = disk_time(store.root)
        for path in sorted((store.root / QUEUE).glob("*")):
            if now - path.stat().st_mtime > QUEUED:
                yield Leftover("checkpoint in a queue", path)


def find_in_data(folder: Path) -> list[Leftover]:
    """Leftovers of a killed `blurb data prepare` in a data folder: copies of datasets that it had not finished."""
    found = (path for path in _forgotten_files(folder, ("", "*/")) if path.is_dir())
    return [Leftover("temporary folder", path, None, size_of(path)) for path in found]


def _forgotten_files(folder: Path, depths: Sequence[str]) -> Iterator[Path]:
    """The temporary files and folders of blurb at some depths, older than any command needs them."""
    try:
        now = disk_time(folder)
    except OSError:  # a read-only folder
        return
    for depth in depths:
        for path in sorted(folder.glob(f"{depth}.*.tmp")):
            with contextlib.suppress(OSError):
                if TEMPORARY.search(path.name) and now - path.stat().st_mtime > FORGOTTEN:
                    yield path


def _delete_path(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

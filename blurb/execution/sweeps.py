"""Sweeps: the trials of one command in a file, `<store>/.sweeps/<hash>/jobs.json`, so that workers elsewhere can join.

It has all that a worker needs beside the data and the checkpoints, which it finds at the same paths. It is there while
the command runs, and afterwards if trials are left; it ends with the last of its trials.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import blurb
from blurb.checkpoints.source import ModelSource
from blurb.execution import allowed
from blurb.execution.allowed import (
    JOB_FIELDS,
    SHARED,
    NotAllowed,
    check_code,
    check_job,
    read_shared,
)
from blurb.execution.data_sources import DataSource
from blurb.execution.job import Job
from blurb.learners import saved_models
from blurb.messages import SettingsError, StoreError, Tell, tell_damage
from blurb.store import rescore
from blurb.store.plugins import Typed
from blurb.store.store import Store
from blurb.store.trial import Trial, from_json
from blurb.system import leases
from blurb.system.files import check_types, file_hash, read_json, write_json, write_whole

SCHEMA = 1
FOLDER = ".sweeps"
JOBS = "jobs.json"


def write(
    store: Path, jobs: Sequence[Job], about: Mapping[str, Any] | None = None
) -> tuple[Path, str]:
    """Writes the sweep of some jobs of a store; one that is there stays as it is.

    The same trials in the same order at the same places are the same sweep: workers count on its numbers.

    :param about: more that tells sweeps apart
    :returns: its folder, and the hash by which it is allowed, of what was planned and not of what is in the file by now
    """
    shared: dict[str, dict[str, tuple[int, Any]]] = {name: {} for name in SHARED}
    places: dict[str, dict[Any, int]] = {name: {} for name in SHARED}
    lines = []
    for job in jobs:
        line = {name: getattr(job, name) for name in JOB_FIELDS}
        for name in SHARED:
            value, values = getattr(job, name), shared[name]
            if id(value) not in places[name]:  # of which the jobs keep the objects
                content = _json_content(value)
                places[name][id(value)] = values.setdefault(
                    json.dumps(content, sort_keys=True), (len(values), content)
                )[0]
            line[name] = places[name][id(value)]
        lines.append({**line, "trial": job.trial.content})
    # Plug-ins are those of the process, the same for all jobs of a command.
    plugins = {
        kind: {name: path and str(Path(path).absolute()) for name, path in files.items()}
        for kind, files in (jobs[0].plugins if jobs else {}).items()
    }
    paths = {path for named in plugins.values() for path in named.values() if path}
    whole: dict[str, Any] = {
        "schema": SCHEMA,
        "blurb": blurb.__version__,
        "plugins": plugins,
        "code": {path: file_hash(Path(path)) for path in paths if Path(path).is_file()},
        **{name: [content for _, content in values.values()] for name, values in shared.items()},
        "jobs": lines,
    }
    # What is predicted, which changes from run to run, is no part of the name.
    named = [{**line, "predicted": 0.0} for line in lines]
    text = json.dumps({**whole, "jobs": named, "about": about}, sort_keys=True)
    folder = store / FOLDER / hashlib.sha256(text.encode()).hexdigest()[:12]
    try:
        is_whole = None not in read_json(folder / JOBS)["jobs"]  # one that was dropped is run anew
    except (StoreError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        write_whole(folder / JOBS, json.dumps(whole, sort_keys=True).encode())
    code = allowed.hash_of(whole)
    allowed.remember(code)
    return folder, code


def _json_content(value: Any) -> dict[str, Any]:
    """A source, configuration or data source as JSON, with absolute paths."""
    content = dataclasses.asdict(value)
    if isinstance(value, DataSource):
        content["folder"] = str(value.folder.absolute())
        if value.task.endswith(".toml"):
            content["task"] = str(Path(value.task).absolute())
    if isinstance(value, ModelSource) and value.is_checkpoint:
        content["location"] = str(Path(value.location).absolute())
    return content


def read(folder: Path, allow: Collection[str] | None = None) -> list[Job]:
    """The jobs of a sweep.

    :param allow: to run them: hashes that a person typed, beside those that are remembered. None: only to look at them,
        they bring no code
    :raises StoreError: if it is gone, of another version of blurb, or damaged
    :raises NotAllowed: if it may not run here
    """
    return [job for job in numbered(folder, allow) if job is not None]


def numbered(folder: Path, allow: Collection[str] | None = None) -> list[Job | None]:
    """The same by number; None for one that was dropped."""
    content = read_json(folder / JOBS)
    if content.get("schema") != SCHEMA:
        raise StoreError(
            f"{folder / JOBS} has schema version {content.get('schema')}, but this version of blurb reads {SCHEMA}",
            fix=f"use the version that wrote it ({content.get('blurb')}).",
        )
    try:
        shared = read_shared(content, folder / JOBS)  # first: what is asked for depends on it
        if allow is not None:
            allowed.check(folder, content, allow)
            check_code(folder, content)
        plugins: Typed = {
            kind: {name: path and Path(path) for name, path in files.items()}
            for kind, files in content["plugins"].items()
        }
        if allow is None:
            plugins = {}
            shared["source"] = [
                dataclasses.replace(source, remote_code=False) for source in shared["source"]
            ]
        for line in filter(None, content["jobs"]):
            check_types(line, JOB_FIELDS, folder / JOBS)
        jobs = [
            None
            if line is None
            else Job(
                from_json(Trial, line["trial"], folder / JOBS),
                store=folder.parent.parent,
                plugins=plugins,
                **{name: shared[name][line[name]] for name in SHARED},
                **{name: line[name] for name in JOB_FIELDS},
            )
            for line in content["jobs"]
        ]
        for job in filter(None, jobs):
            check_job(job)
        return jobs
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, SettingsError) as error:
        raise StoreError(
            f"{folder / JOBS} is not a valid list of trials ({error})",
            fix="run the command that wrote it again.",
        ) from error


def folders(store: Path) -> list[Path]:
    """The folders of all sweeps of a store that are not over, the oldest first."""
    paths = []
    for path in (store / FOLDER).glob(f"*/{JOBS}"):
        with contextlib.suppress(FileNotFoundError):  # it has just ended
            paths.append((path.stat().st_mtime_ns, path.parent.name, path.parent))
    return [folder for *_, folder in sorted(paths)]


def jobs_of(
    store: Path, tell: Tell = tell_damage, allow: Collection[str] | None = None
) -> list[Job]:
    """The jobs of all sweeps of a store, each trial once, as the newest sweep has it.

    :param tell: receives a message for each sweep that cannot be read, or may not run here; it is left out
    :param allow: as for `read`
    """
    jobs: dict[Path, Job] = {}
    for folder in folders(store):
        try:
            jobs |= {job.path: job for job in read(folder, allow)}
        except (StoreError, NotAllowed) as error:
            if (folder / JOBS).exists():
                tell(error)
    return list(jobs.values())


def end(folder: Path) -> None:
    """Ends a sweep: its trials stay where they are, and so do Slurm's logs, as jobs may still be queued."""
    (folder / JOBS).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def end_if_done(folder: Path) -> bool:
    """Ends a sweep if nothing of it is left to do; returns whether it has ended."""
    try:
        jobs = read(folder)
    except StoreError:
        return not (folder / JOBS).exists()  # another process was quicker
    if all(has_nothing_left(job) for job in jobs):
        end(folder)
        return True
    return False


def has_nothing_left(job: Job) -> bool:
    """Whether nothing is left to do of a job; writes nothing."""
    return rescore.is_current(Store(job.store), job.path) and (
        job.keep == "none" or saved_models.is_kept(job.path)
    )


def is_begun(job: Job) -> bool:
    """Whether a trial is finished, or a living process has it."""
    store = Store(job.store)
    return store.is_done(job.path) or leases.seems_held(store.lease(job.path)) is not False


def drop(store: Store, trials: Collection[Path]) -> None:
    """Takes trials out of all sweeps, whose other trials keep their numbers.

    :param trials: folders
    """
    for folder in folders(store.root):
        with contextlib.suppress(StoreError):
            going = [job is not None and job.path in trials for job in numbered(folder)]
            if any(going):
                content = read_json(folder / JOBS)
                content["jobs"] = [
                    None if gone else line
                    for gone, line in zip(going, content["jobs"], strict=True)
                ]
                write_json(folder / JOBS, content)
                end_if_done(folder)

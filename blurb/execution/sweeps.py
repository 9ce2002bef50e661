"""Sweeps: the trials of one command in a file, `<store>/.sweeps/<hash>/jobs.json`, so that workers elsewhere can join.

The file has all that a worker needs except data and checkpoints, which must be at the same paths. It exists while the
command runs, and longer if trials are left; it is removed with the last of its trials.

A sweep names code (plug-ins, the Python files of a checkpoint) and places (checkpoints, data, task files). Whoever can
write to the store can write a sweep, so that those run here that this user planned, or that a person allowed by their
hash; one from elsewhere is asked for before anything that it names is opened.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import blurb
from blurb import names
from blurb.checkpoints.source import CHECKPOINT, KINDS, ModelSource
from blurb.execution.data_sources import DataSource
from blurb.execution.job import Job
from blurb.execution.options import Keep
from blurb.learners import PREFIX, in_trial, saved_models
from blurb.messages import (
    BlurbError,
    SettingsError,
    StoreError,
    Tell,
    UnknownName,
    opt,
    tell_damage,
)
from blurb.store import rescore
from blurb.store.plugins import Typed
from blurb.store.store import Store
from blurb.store.trial import Configuration, Trial, from_json, stored_types
from blurb.system import cache, leases
from blurb.system.files import check_types, file_hash, json_hash, read_json, write_json, write_whole
from blurb.training import devices, tracking

SCHEMA = 1
FOLDER = ".sweeps"
JOBS = "jobs.json"


def write(
    store: Path, jobs: Sequence[Job], about: Mapping[str, Any] | None = None
) -> tuple[Path, str]:
    """Writes the sweep of some jobs of a store; an existing sweep is kept.

    The same trials in the same order at the same places are the same sweep: workers count on its numbers.

    :param about: more facts that distinguish sweeps
    :returns: its folder, and the hash by which it is allowed: of the planned sweep, not of the file's current content
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
    folder = store / FOLDER / json_hash({**whole, "jobs": named, "about": about})[:12]
    try:
        is_whole = None not in read_json(folder / JOBS)["jobs"]  # one that was dropped is run anew
    except (StoreError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        write_whole(folder / JOBS, json.dumps(whole, sort_keys=True).encode())
    code = hash_of(whole)
    remember(code)
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

    :param allow: hashes a person typed to run them, beside the remembered ones. None: the jobs are only listed and
        load no code
    :raises StoreError: if it is missing, damaged, or of another version of blurb
    :raises NotAllowed: if it may not run here
    """
    return [job for job in numbered(folder, allow) if job is not None]


def numbered(folder: Path, allow: Collection[str] | None = None) -> list[Job | None]:
    """The jobs by number; None for a dropped one."""
    file = folder / JOBS
    content = read_json(file)
    if content.get("schema") != SCHEMA:
        raise StoreError(
            f"{file} has schema version {content.get('schema')!r}, but this version of blurb reads {SCHEMA}",
            fix=f"use the version that wrote it ({content.get('blurb')}).",
        )
    try:
        # First: what is asked for depends on it.
        check_types(content, {**dict.fromkeys([*SHARED, "jobs"], list), "plugins": dict}, file)
        shared: dict[str, list[Any]] = {
            name: [from_json(kind, each, file) for each in content[name]]
            for name, kind in SHARED.items()
        }
        shared["data"] = [
            dataclasses.replace(data, folder=Path(data.folder)) for data in shared["data"]
        ]
        for source in content["source"]:
            names.check(source["name"], "The name of a model")
            if source["kind"] not in KINDS:
                raise ValueError(f"{source['name']} is of the kind {source['kind']!r}")
            if (
                source["kind"] != CHECKPOINT
                and source["weights"] != f"{PREFIX}{source['location']}"
            ):
                raise ValueError(f"the baseline {source['name']} has the weights of another model")
        plugins: Typed = {
            kind: {name: path and Path(path) for name, path in files.items()}
            for kind, files in content["plugins"].items()
        }
        if allow is not None:
            check_allowed(folder, content, allow)
        else:
            plugins = {}
            shared["source"] = [
                dataclasses.replace(source, remote_code=False) for source in shared["source"]
            ]
        for line in filter(None, content["jobs"]):
            check_types(line, JOB_FIELDS, file)
        jobs = [
            None
            if line is None
            else Job(
                from_json(Trial, line["trial"], file),
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
            f"{file} is not a valid list of trials ({error})",
            fix="run the command that wrote it again.",
        ) from error


def folders(store: Path) -> list[Path]:
    """The folders of all unfinished sweeps of a store, oldest first."""
    paths = []
    for path in (store / FOLDER).glob(f"*/{JOBS}"):
        with contextlib.suppress(FileNotFoundError):  # it has just ended
            paths.append((path.stat().st_mtime_ns, path.parent.name, path.parent))
    return [folder for *_, folder in sorted(paths)]


def jobs_of(
    store: Path, tell: Tell = tell_damage, allow: Collection[str] | None = None
) -> list[Job]:
    """The jobs of all sweeps of a store, each trial once, from its newest sweep.

    :param tell: receives a message for each sweep that is left out, since it cannot be read or may not run here
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
    """Ends a sweep. Its trials stay, and so do Slurm's logs, as jobs may still be queued."""
    (folder / JOBS).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()


def end_if_done(folder: Path) -> None:
    """Ends a sweep if all its jobs are done."""
    with contextlib.suppress(StoreError):  # another process was quicker
        if all(map(has_nothing_left, read(folder))):
            end(folder)


def has_nothing_left(job: Job) -> bool:
    """Whether a job is finished. Writes nothing."""
    return rescore.is_current(Store(job.store), job.path) and (
        job.keep == "none" or saved_models.is_kept(job.path)
    )


def is_begun(job: Job) -> bool:
    """Whether a trial is finished or being run by a living process."""
    store = Store(job.store)
    return store.is_done(job.path) or leases.seems_held(store.lease(job.path)) is not False


def drop(store: Store, trials: Collection[Path]) -> None:
    """Removes trials from all sweeps; the other trials keep their numbers.

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


ALLOWED = "allowed"
"""Folder beside the caches with an empty file for each hash; no cache, so that `blurb cache clear` leaves it."""
DIGITS = 32


class NotAllowed(BlurbError):
    """A sweep that this user neither planned nor allowed."""


def hash_of(content: Mapping[str, Any]) -> str:
    """The hash of all code and places that a sweep names; dropping trials does not change it."""
    named = {name: value for name, value in content.items() if name != "jobs"}
    return json_hash(named)[:DIGITS]


def remember(digest: str) -> None:
    """Remembers for this user that a sweep may run; if that cannot be stored, workers will ask."""
    with contextlib.suppress(OSError):
        folder = cache.cache_home() / ALLOWED
        folder.mkdir(parents=True, exist_ok=True)
        (folder / digest).touch()


def check_allowed(folder: Path, content: Mapping[str, Any], given: Collection[str] = ()) -> None:
    """Raises NotAllowed for another user's sweep that names code or places, unless its hash is given.

    Raises StoreError if a plug-in's file has changed since it was allowed.

    :param given: hashes a person typed; that of the sweep is remembered
    """
    digest = hash_of(content)
    note = cache.cache_home() / ALLOWED / digest
    try:  # in a folder that several users share, each has files of its own
        is_remembered = note.stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # no such file; a system without user ids
        is_remembered = note.is_file() and not hasattr(os, "getuid")
    if digest in given:
        remember(digest)
    elif not is_remembered and (named := list(_code_and_places(content, folder.parent.parent))):
        raise NotAllowed(
            f"The sweep {folder} was planned by another user, or on a machine with another home. It names "
            f"{'; '.join(named)}. To run it, and not to be asked again: {opt('allow-code', digest)}"
        )
    for path in {path for files in content["plugins"].values() for path in files.values() if path}:
        if Path(path).is_file() and file_hash(Path(path)) != content.get("code", {}).get(path):
            raise StoreError(
                f"the code of the plug-in {path} has changed since the trials were planned",
                where=folder,
                fix="run the command that planned them again.",
            )


def _code_and_places(content: Mapping[str, Any], store: Path) -> Iterator[str]:
    """The code and the places outside the store that a sweep names."""
    for kind, found in content["plugins"].items():
        for name, path in found.items():
            yield f"code of a {kind}: {shlex.quote(str(path or name))}"
    root = Path(os.path.realpath(store))
    for source in content["source"]:
        if source.get("remote_code"):
            yield f"the Python files of a checkpoint: {shlex.quote(str(source['location']))}"
        elif source["kind"] == CHECKPOINT and _leads_out(source["location"], root):
            yield f"a checkpoint: {shlex.quote(str(source['location']))}"
    for data in content["data"]:
        if data["task"].endswith(".toml"):
            yield f"a task file: {shlex.quote(str(data['task']))}"
        if _leads_out(data["folder"], root):
            yield f"data: {shlex.quote(str(data['folder']))}"


def _leads_out(place: str, root: Path) -> bool:
    """Whether a folder is outside of a store, or a link in it may lead there: one to a folder may meet others."""
    folder = Path(os.path.realpath(place))
    links = (path for path in folder.rglob("*") if path.is_symlink())
    return not folder.is_relative_to(root) or any(
        path.is_dir() or not Path(os.path.realpath(path)).is_relative_to(root) for path in links
    )


JOB_FIELDS = {
    name: stored_types(Job)[name] for name in ("device", "track", "predicted", "keep", "resume")
}
"""Fields that each job has of its own, and their types."""
SHARED: Mapping[str, type] = {
    "source": ModelSource,
    "configuration": Configuration,
    "data": DataSource,
}
"""Fields that many jobs have in common: the file has each value once."""


def check_job(job: Job) -> None:
    """Raises an error for an invalid device, tracker, learner, seed or way to keep a model, and for a trial
    that does not belong to its data or model.
    """
    devices.check_name(job.device)
    if job.track not in ("", *tracking.TRACKERS):
        raise ValueError(f"there is no tracker {job.track!r}")
    if job.keep not in get_args(Keep):
        raise ValueError(f"there is no keep {job.keep!r}")
    try:
        kind = job.learner
    except UnknownName as error:
        raise ValueError(str(error)) from error
    if kind.reads_checkpoint is not job.source.is_checkpoint or in_trial(kind) != job.trial.learner:
        raise ValueError(f"{job.source.name} is not a model for the learner {kind.name!r}")
    if job.trial.seed < 0:
        raise ValueError(f"there is no seed {job.trial.seed}")
    if job.trial.task != job.data.task and not job.data.task.endswith(".toml"):
        raise ValueError(f"a trial of {job.trial.task} has the data of {job.data.task}")
    if job.trial.weights != job.source.weights:
        raise ValueError(f"a trial of {job.source.name} has the weights of another model")

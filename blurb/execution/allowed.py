"""Which sweeps may run here: those that this user planned, and those that a person allowed by their hash.

A sweep names code (plug-ins, the Python files of a checkpoint) and places (checkpoints, data, task files). Whoever can
write to the store can write a sweep, so that one from elsewhere is asked for before anything that it names is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from blurb import names
from blurb.checkpoints.source import CHECKPOINT, KINDS, ModelSource
from blurb.execution.data_sources import DataSource
from blurb.execution.job import Job
from blurb.execution.options import Keep
from blurb.learners import PREFIX, in_trial
from blurb.messages import BlurbError, StoreError, UnknownName, opt
from blurb.store.trial import Configuration, from_json, stored_types
from blurb.system import cache
from blurb.system.files import check_types, file_hash
from blurb.training import devices, tracking

FOLDER = "allowed"
"""Folder beside the caches with an empty file for each hash; no cache, so that `blurb cache clear` leaves it."""
DIGITS = 32


class NotAllowed(BlurbError):
    """A sweep that this user neither planned nor allowed."""


def hash_of(content: Mapping[str, Any]) -> str:
    """The hash of all code and places that a sweep names; trials that are dropped from it do not change it."""
    text = json.dumps(
        {name: value for name, value in content.items() if name != "jobs"}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def remember(digest: str) -> None:
    """Notes for this user that a sweep may run; without a place to note it, workers ask."""
    try:
        (_memory_folder()).mkdir(parents=True, exist_ok=True)
        (_memory_folder() / digest).touch()
    except OSError:
        return


def check(folder: Path, content: Mapping[str, Any], given: Collection[str] = ()) -> None:
    """Raises NotAllowed for a sweep of somebody else that names code or places, unless its hash is given.

    :param given: hashes that a person typed; remembered if it is that of the sweep
    """
    digest = hash_of(content)
    if digest in given:
        remember(digest)
    elif not _is_remembered(digest) and (
        named := list(_code_and_places(content, folder.parent.parent))
    ):
        raise NotAllowed(
            f"The sweep {folder} was planned by another user, or on a machine with another home. It names "
            f"{'; '.join(named)}. To run it, and not to be asked again: {opt('allow-code', digest)}"
        )


def _memory_folder() -> Path:
    return cache.cache_home() / FOLDER


def _is_remembered(digest: str) -> bool:
    """Whether this user noted it: in a folder that several users share, each has files of its own."""
    try:
        return (_memory_folder() / digest).stat().st_uid == os.getuid()
    except (OSError, AttributeError):  # no such file; a system without user ids
        return (_memory_folder() / digest).is_file() and not hasattr(os, "getuid")


def _code_and_places(content: Mapping[str, Any], store: Path) -> Iterator[str]:
    """The code that a sweep names, and its places outside of the store."""
    for kind, found in content["plugins"].items():
        for name, path in found.items():
            yield f"code of a {kind}: {_shown_name(path or name)}"
    root = Path(os.path.realpath(store))
    for source in content["source"]:
        if source.get("remote_code"):
            yield f"the Python files of a checkpoint: {_shown_name(source['location'])}"
        elif source["kind"] == CHECKPOINT and _leads_out(source["location"], root):
            yield f"a checkpoint: {_shown_name(source['location'])}"
    for data in content["data"]:
        if data["task"].endswith(".toml"):
            yield f"a task file: {_shown_name(data['task'])}"
        if _leads_out(data["folder"], root):
            yield f"data: {_shown_name(data['folder'])}"


def _leads_out(place: str, root: Path) -> bool:
    """Whether a folder is outside of a store, or a link in it may lead there: one to a folder may meet others."""
    folder = Path(os.path.realpath(place))
    links = (path for path in folder.rglob("*") if path.is_symlink())
    return not folder.is_relative_to(root) or any(
        path.is_dir() or not Path(os.path.realpath(path)).is_relative_to(root) for path in links
    )


def _shown_name(name: str) -> str:
    return shlex.quote(str(name))


OF_JOB = stored_types(Job)
JOB_FIELDS = {name: OF_JOB[name] for name in ("device", "track", "predicted", "keep", "resume")}
"""Fields that each job has of its own, and their types."""
SHARED: Mapping[str, type] = {
    "source": ModelSource,
    "configuration": Configuration,
    "data": DataSource,
}
"""Fields that many jobs have in common: the file has each value once."""


def read_shared(content: Mapping[str, Any], file: Path) -> dict[str, list[Any]]:
    """The models, configurations and data of a sweep; an error for those that no command has written."""
    check_types(content, {**dict.fromkeys([*SHARED, "jobs"], list), "plugins": dict}, file)
    shared: dict[str, list[Any]] = {
        name: [from_json(kind, each, file) for each in content[name]]
        for name, kind in SHARED.items()
    }
    shared["data"] = [replace(data, folder=Path(data.folder)) for data in shared["data"]]
    for source in content["source"]:
        names.check(source["name"], "The name of a model")
        if source["kind"] not in KINDS:
            raise ValueError(f"{source['name']} is of the kind {source['kind']!r}")
        if source["kind"] != CHECKPOINT and source["weights"] != f"{PREFIX}{source['location']}":
            raise ValueError(f"the baseline {source['name']} has the weights of another model")
    return shared


def check_job(job: Job) -> None:
    """Raises an error for what is no device, tracker, learner, seed or way to keep a model, and for a trial
    that is not of its data or its model.
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


def check_code(folder: Path, content: Mapping[str, Any]) -> None:
    """Raises a StoreError if the file of a plug-in is another than that which was allowed."""
    for path in {path for named in content["plugins"].values() for path in named.values() if path}:
        if Path(path).is_file() and file_hash(Path(path)) != content.get("code", {}).get(path):
            raise StoreError(
                f"the code of the plug-in {path} has changed since the trials were planned",
                where=folder,
                fix="run the command that planned them again.",
            )

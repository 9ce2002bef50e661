"""What a list of trials must be before its trials are run or shown: a file is as anybody left it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from blurb import names
from blurb.checkpoints.source import CHECKPOINT, KINDS
from blurb.execution.job import Job
from blurb.execution.options import Keep
from blurb.learners import PREFIX, in_trial
from blurb.messages.errors import StoreError, UnknownName
from blurb.system.files import check_types, file_hash
from blurb.training import devices, tracking

JOB_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "device": str, "track": str, "predicted": (int, float), "keep": str, "resume": bool
}  # fmt: skip
"""Fields that each job has of its own, and their types."""
TYPES: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "source": {
        "name": str, "kind": str, "location": str, "weights": str, "tokenizer": str, "parameters": int,
        "remote_code": bool, "revision": (str, NoneType), "casing": str,
    },
    "configuration": {
        "protocol": str, "protocol_hash": str, "overrides": dict, "precision": str, "suite": str, "note": str,
    },
    "data": {"task": str, "folder": str, "original": bool},
}  # fmt: skip
"""Types of what jobs share."""


def check_shared(content: Mapping[str, Any], file: Path) -> None:
    """Raises an error for a model, configuration or data that no command has written."""
    for name, types in TYPES.items():
        for each in content[name]:
            check_types(each, types, file)
    for source in content["source"]:
        names.check(source["name"], "The name of a model")
        if source["kind"] not in KINDS:
            raise ValueError(f"{source['name']} is of the kind {source['kind']!r}")
        if source["kind"] != CHECKPOINT and source["weights"] != f"{PREFIX}{source['location']}":
            raise ValueError(f"the baseline {source['name']} has the weights of another model")


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

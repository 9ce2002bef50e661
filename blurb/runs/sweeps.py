"""Sweeps: the trials of one command in a file, `<store>/.sweeps/<hash>/jobs.json`, so that workers elsewhere can join.

It has all that a worker needs beside the data and the checkpoints, which it finds at the same paths. It is there while
the command runs, and afterwards if trials are left; a sweep whose trials are all done is removed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import blurb
from blurb.errors import StoreError
from blurb.files import read_json, write_json
from blurb.models import Source
from blurb.runs.data_sources import DataSource
from blurb.runs.spec import Configuration, Trial
from blurb.runs.worker import Job

SCHEMA = 1
FOLDER = ".sweeps"
JOBS = "jobs.json"
SHARED: Mapping[str, type] = {"source": Source, "configuration": Configuration, "data": DataSource}
"""Fields that many jobs have in common: the file has each value once."""
OWN = ("device", "track", "predicted", "keep", "resume")


def write(store: Path, jobs: Sequence[Job]) -> Path:
    """Writes the sweep of some jobs of a store, and returns its folder; the same trials are the same sweep."""
    hashes = sorted(f"{job.path.relative_to(store)}" for job in jobs)
    folder = store / FOLDER / hashlib.sha256("\n".join(hashes).encode()).hexdigest()[:12]
    shared: dict[str, dict[str, Any]] = {name: {} for name in SHARED}
    lines = []
    for job in jobs:
        line: dict[str, Any] = {"trial": job.trial.content, **{name: getattr(job, name) for name in OWN}}
        for name in SHARED:
            content = _content(getattr(job, name))
            values = shared[name]
            line[name] = values.setdefault(json.dumps(content, sort_keys=True), (len(values), content))[0]
        lines.append(line)
    # Plug-ins are those of the process, the same for all jobs of a command.
    plugins = {kind: {name: str(Path(path).absolute()) for name, path in files.items()}
               for kind, files in (jobs[0].plugins if jobs else {}).items()}  # fmt: skip
    write_json(folder / JOBS, {
        "schema": SCHEMA, "blurb": blurb.__version__, "plugins": plugins, "jobs": lines,
        **{name: [content for _, content in values.values()] for name, values in shared.items()},
    })  # fmt: skip
    return folder


def _content(value: Any) -> dict[str, Any]:
    """A source, configuration or data source as JSON, with absolute paths."""
    found = dataclasses.asdict(value)
    if isinstance(value, DataSource):
        found["folder"] = str(value.folder.absolute())
        if value.task.endswith(".toml"):
            found["task"] = str(Path(value.task).absolute())
    if isinstance(value, Source) and value.kind == "encoder":
        found["location"] = str(Path(value.location).absolute())
    return found


def read(folder: Path) -> list[Job]:
    """The jobs of a sweep.

    :raises StoreError: if it is of another version of blurb, or damaged
    """
    file = folder / JOBS
    content = read_json(file)
    if content.get("schema") != SCHEMA:
        raise StoreError(
            f"{file} has schema version {content.get('schema')}, but this version of blurb reads {SCHEMA}; use the "
            f"version that wrote it ({content.get('blurb')})."
        )
    try:
        content["data"] = [{**each, "folder": Path(each["folder"])} for each in content["data"]]
        shared = {name: [kind(**each) for each in content[name]] for name, kind in SHARED.items()}
        plugins = {kind: {name: Path(path) for name, path in files.items()}
                   for kind, files in content["plugins"].items()}  # fmt: skip
        return [
            Job(
                Trial(**line["trial"]), store=folder.parent.parent, plugins=plugins,
                **{name: shared[name][line[name]] for name in SHARED}, **{name: line[name] for name in OWN},
            )
            for line in content["jobs"]
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise StoreError(
            f"{file} is not a valid list of trials ({error}); run the command that wrote it again."
        ) from error


def folders(store: Path) -> list[Path]:
    """The folders of all sweeps of a store, the oldest first."""
    found = [path.parent for path in (store / FOLDER).glob(f"*/{JOBS}")]
    return sorted(found, key=lambda path: ((path / JOBS).stat().st_mtime_ns, path.name))


def unique(jobs: Iterable[Job]) -> list[Job]:
    """The jobs of several sweeps, each trial once."""
    return list({job.path: job for job in jobs}.values())


def remove(folder: Path) -> None:
    """Removes a sweep; its trials stay where they are."""
    shutil.rmtree(folder, ignore_errors=True)

"""A store with the trials of a plan that nobody ran: files as a worker writes them, with invented answers."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb import formulations
from blurb.execution.job import Job
from blurb.inputs import tagging
from blurb.planning.trials import Planned
from blurb.store import rescore
from blurb.store.record import write_predictions
from blurb.store.store import FILES, SCHEMA, Store
from blurb.store.trial import Provenance
from blurb.tasks import Task

UNITS = 40
"""Predictions of a split."""
LINKED = ("predictions.parquet", "history.csv", "log.txt")
"""Files that all trials of a task share as hard links."""
ENVIRONMENT = {
    "blurb": "0.1.0",
    "python": "3.11",
    "torch": "2.13.0",
    "platform": "Linux",
    "device": "cpu",
    "cpus": 8,
    "threads": 8,
}


def gold(task: Task, rng: random.Random) -> Any:
    """An answer that the task may have."""
    if task.type == "ner":
        return tagging.convert_tags(
            rng.choices([*tagging.labels(task.labels, "bio"), "O"], k=12), "bio", "bio"
        )
    if task.type == "pico":
        return rng.choices([*(f"I-{label}" for label in task.labels), "O"], k=12)
    if task.type == "similarity":
        return rng.uniform(0, 4)
    return [rng.choice(task.labels)] if task.type == "document" else rng.choice(task.labels)


def template(task: Task, folder: Path) -> dict[str, Any]:
    """Predictions, history and log of one trial, which all of the task share as hard links; returns its figures."""
    rng = random.Random(task.name)
    made = [gold(task, rng) for _ in range(2 * UNITS)]
    split = ["dev"] * UNITS + ["test"] * UNITS
    columns = {
        "split": split,
        "id": [f"{name}.{number}" for number, name in enumerate(split)],
        "doc_id": [None] * len(made),
        "gold": made,
        "prediction": [one if rng.random() < 0.7 else gold(task, rng) for one in made],
        "majority": made[:1] * len(made),
        "scores": [None] * len(made),
    }
    folder.mkdir(parents=True)
    write_predictions(folder / "predictions.parquet", columns)
    (folder / "history.csv").write_text("epoch,loss,learning_rate,dev\n1,0.5,0.0001,0.6\n")
    (folder / "log.txt").write_text("a trial\n")
    return rescore.figures(formulations.bind(task, {}), columns)


def moved(figures: Mapping[str, Any], by: float) -> dict[str, Any]:
    """The figures with those of the main metric moved, so that no two trials are alike."""
    main = figures["metric"]
    return {
        **figures,
        **{split: {**figures[split], main: figures[split][main] + by} for split in ("dev", "test")},
    }


def fill(planned: Planned) -> None:
    """Writes all trials of a plan, as fast as the disk allows; their rows are there already."""
    request = planned.request
    store = Store(request.store)
    shared = {task.name: request.store.parent / "shared" / task.name for task in request.tasks}
    figures = {task.name: template(task, shared[task.name]) for task in request.tasks}
    hashes = {
        name: {file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in LINKED}
        for name, folder in shared.items()
    }
    for job in planned.final:
        task = job.trial.task
        by = random.Random(job.trial.hash).gauss(0, 0.02)
        write(store, job, moved(figures[task], by), shared[task], hashes[task])


def write(
    store: Store, job: Job, figures: Mapping[str, Any], shared: Path, hashes: Mapping[str, str]
) -> None:
    """One trial, with the files that say nothing of it as hard links."""
    job.path.mkdir(parents=True)
    made = Provenance(
        "identical",
        job.source.name,
        None,
        110_000_000,
        job.configuration,
        "2026-01-31T12:00:00Z",
        {"train_seconds": 60.0, "predict_seconds": 1.0, "train_units": 100, "features_version": 5},
        ENVIRONMENT,
    )
    sealed = dict(hashes)
    for name, content in (
        ("spec", job.trial.content),
        ("provenance", made.content),
        ("metrics", figures),
    ):
        text = json.dumps(content, indent=1) + "\n"
        (job.path / f"{name}.json").write_text(text)
        sealed[f"{name}.json"] = hashlib.sha256(text.encode()).hexdigest()
    for name in LINKED:
        (job.path / name).hardlink_to(shared / name)
    done = {"schema": SCHEMA, "sha256": {name: sealed[name] for name in FILES}}
    (job.path / "DONE.json").write_text(json.dumps(done, indent=1) + "\n")

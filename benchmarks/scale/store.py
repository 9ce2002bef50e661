"""What a store costs by its size: how long its views take with the index and without, and how much memory.

Run from the root of the repository: `OMP_NUM_THREADS=1 python -m benchmarks.scale [TRIALS] [--folder FOLDER]`. The
trials are invented: of each model thirteen datasets with five seeds. Every view is a process of its own; the first of
them begins the index. Seconds are those of the processor, start-up included, as the disk is in memory by then.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb import formulations, tasks
from blurb.inputs import tagging
from blurb.runs import rescore, rows
from blurb.runs.provenance import Provenance
from blurb.runs.rows import PlannedRow
from blurb.runs.spec import Configuration, Trial
from blurb.runs.store import FILES, SCHEMA, Store, write_predictions
from blurb.tasks import Task

SEEDS = (1, 2, 3, 4, 5)
UNITS = 40
"""Predictions of a split: no view of this benchmark reads them."""
CONFIGURATION = Configuration("quick", "0" * 64, {}, "fp32", "blurb")
SETTINGS = {"head": "linear", "pooling": "cls", "lr": 2e-5, "epochs": 5, "max_train": 0, "max_eval": 0}
ENVIRONMENT = {
    "blurb": "0.1.0", "python": "3.11", "torch": "2.13.0", "platform": "Linux", "device": "cpu", "cpus": 8, "threads": 8
}  # fmt: skip


def gold(task: Task, rng: random.Random) -> Any:
    """An answer that the task may have."""
    if task.type == "ner":
        return tagging.convert(rng.choices([*tagging.labels(task.labels, "bio"), "O"], k=12), "bio", "bio")
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
        "split": split, "id": [f"{name}.{number}" for number, name in enumerate(split)], "doc_id": [None] * len(made),
        "gold": made, "prediction": [one if rng.random() < 0.7 else gold(task, rng) for one in made],
        "majority": made[:1] * len(made), "scores": [None] * len(made),
    }  # fmt: skip
    folder.mkdir(parents=True)
    write_predictions(folder / "predictions.parquet", columns)
    (folder / "history.csv").write_text("epoch,loss,learning_rate,dev\n1,0.5,0.0001,0.6\n")
    (folder / "log.txt").write_text("a trial\n")
    return rescore.figures(formulations.bind(task, {}), columns)


def moved(figures: Mapping[str, Any], by: float) -> dict[str, Any]:
    """The figures with those of the main metric moved, so that no two trials are alike."""
    main = figures["metric"]
    return {**figures, **{split: {**figures[split], main: figures[split][main] + by} for split in ("dev", "test")}}


def fill(store: Store, trials: int) -> int:
    """Writes that many trials, as fast as the disk allows, and their rows; returns the number written."""
    names = [task for task in tasks.all() if task.paper_order]
    shared = {task.name: store.root.parent / "shared" / task.name for task in names}
    figures = {task.name: template(task, shared[task.name]) for task in names}
    hashes = {
        (name, file): hashlib.sha256((shared[name] / file).read_bytes()).hexdigest()
        for name in shared
        for file in ("predictions.parquet", "history.csv", "log.txt")
    }
    made = 0
    for number in range(-(-trials // (len(names) * len(SEEDS)))):
        model = f"org/encoder-{number:05d}"
        rng = random.Random(model)
        store.claim(model)
        found: dict[str, dict[int, str]] = {}
        families = {}
        weights = hashlib.sha256(model.encode()).hexdigest()
        for task in names:
            for seed in SEEDS:
                planned = Trial(task.name, weights, "t" * 64, "d" * 64, SETTINGS, seed, "fp32")
                found.setdefault(task.name, {})[seed] = planned.hash
                families[task.name] = planned.family
                write(store, model, planned, moved(figures[task.name], rng.gauss(0, 0.02)), shared[task.name], hashes)
                made += 1
        rows.write(store, PlannedRow(model, weights, "t" * 64, 1, CONFIGURATION, found, families))
    return made


def write(
    store: Store, model: str, trial: Trial, figures: Mapping[str, Any], shared: Path,
    hashes: Mapping[tuple[str, str], str],
) -> None:  # fmt: skip
    """One trial, with the files that say nothing of it as hard links."""
    path = store.path(model, trial.task, trial.hash)
    path.mkdir(parents=True)
    made = Provenance("identical", model, None, 110_000_000, CONFIGURATION, "2026-01-31T12:00:00Z",
                      {"train_seconds": 60.0, "predict_seconds": 1.0, "train_units": 100, "features_version": 5},
                      ENVIRONMENT)  # fmt: skip
    sealed = {}
    for name, content in (("spec", trial.content), ("provenance", made.content), ("metrics", figures)):
        text = json.dumps(content, indent=1) + "\n"
        (path / f"{name}.json").write_text(text)
        sealed[f"{name}.json"] = hashlib.sha256(text.encode()).hexdigest()
    for name in ("predictions.parquet", "history.csv", "log.txt"):
        (path / name).hardlink_to(shared / name)
        sealed[name] = hashes[trial.task, name]
    done = {"schema": SCHEMA, "sha256": {name: sealed[name] for name in FILES}}
    (path / "DONE.json").write_text(json.dumps(done, indent=1) + "\n")


COMMAND = "from blurb.cli import cli; cli({!r}.split(), standalone_mode=False)"
VIEWS = {
    "tables": "from pathlib import Path; from blurb.results import tables; from blurb.runs.store import Store; "
    "tables.rebuild(Store(Path('runs')), Path('leaderboard.csv'))",
    "show": COMMAND.format("leaderboard show --no-intervals --format csv"),
    "compare": COMMAND.format("compare org/encoder-00000 org/encoder-00001"),
}


def measured(view: str, folder: Path) -> tuple[float, float, float]:
    """Seconds of the processor, seconds that passed, and peak memory in MB of a view."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", VIEWS[view]], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{view} failed")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def main() -> None:
    """Prints a line for each view, with the index and without."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", type=int, nargs="?", default=5_000)
    parser.add_argument("--folder", type=Path, help="where the store is made; deleted at the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="blurb-scale-", dir=options.folder) as name:
        folder = Path(name)
        made = fill(Store(folder / "runs"), options.trials)
        print(f"{made:,} trials; seconds of the processor (that passed), peak memory")
        index = folder / "runs" / ".index"
        for view in VIEWS:
            shutil.rmtree(index, ignore_errors=True)
            without = measured(view, folder)
            if not index.exists():
                measured("tables", folder)
            kept = measured(view, folder)
            for what, (used, passed, memory) in (("without", without), ("with", kept)):
                print(f"{view:8} {what:8} {used:7.2f} ({passed:.2f}) {memory:6.0f} MB")
            print(f"{view:8} ratio    {without[0] / kept[0]:7.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Time and memory that `blurb run` predicts, beside what the trial then takes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures

CASES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("MiniLM", "ncbi-disease", "auto", {"epochs": 5}),
    ("MiniLM", "pubmedqa", "auto", {"epochs": 5}),
    ("BERT-base", "ncbi-disease", "auto", {"epochs": 2}),
    ("MiniLM", "hoc", "auto", {"epochs": 2}),
    ("MiniLM", "jnlpba", "auto", {"epochs": 1}),
    ("MiniLM", "ncbi-disease", "fp32", {"epochs": 3, "batch_size": 64}),
    ("BERT-base", "gad", "auto", {"epochs": 2}),
    ("BERT-large", "biosses", "auto", {"epochs": 10}),
)
"""Encoder, task, precision and settings over those of quick-1.toml: half a minute or more on a recent card."""
SMALL = (("MiniLM", "biosses", "auto", {"epochs": 2}),)
COLUMNS = (
    "encoder",
    "task",
    "settings",
    "predicted s",
    "measured s",
    "ratio",
    "predicted GB",
    "measured GB",
)
NOTE = "Without history; seconds are of the clock, and memory is that of the card which torch reserved."


def cells(context: Context) -> Iterator[Cell]:
    for case in context.pick(CASES, SMALL):
        model, task, precision, settings = case
        words = " ".join(
            [f"{key}={value}" for key, value in settings.items()]
            + [precision] * (precision != "auto")
        )
        yield Cell(f"{model}, {task}, {words}", partial(measure, context, case))


def measure(context: Context, case: tuple[str, str, str, dict[str, Any]]) -> Figures:
    """Predicts a trial here, and runs it in a process of its own."""
    from benchmarks import estimates
    from blurb.cost.estimator import Estimator

    folder, store = str(context.model(case[0])), context.work / "estimates"
    shutil.rmtree(store, ignore_errors=True)
    expected = Estimator(timed=True).estimate(
        [estimates.planned(case, folder, context.data, store)], 1
    )
    (trial,) = expected.trials
    command = [
        sys.executable,
        "-m",
        "benchmarks.estimates",
        "--model",
        folder,
        "--data",
        str(context.data),
    ]
    run = subprocess.run(
        [*command, "--run", json.dumps(case), str(store)],
        capture_output=True,
        text=True,
        timeout=context.left,
        check=False,
    )
    if run.returncode:
        raise RuntimeError((run.stderr.strip().splitlines() or ["it said nothing"])[-1])
    taken = json.loads(run.stdout)
    if taken["status"] != "done":
        raise RuntimeError(f"the trial {taken['status']}")
    on_card = context.device == "cuda"
    return {
        "predicted": expected.seconds,
        "measured": taken["wall"],
        "predicted memory": trial.memory if on_card else expected.memory,
        "measured memory": taken["card"] if on_card else taken["memory"],
    }


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *name.split(", "),
            f"{one['predicted']:.0f}",
            f"{one['measured']:.0f}",
            f"{one['measured'] / one['predicted']:.2f}",
            f"{one['predicted memory'] / 1e9:.2f}",
            f"{one['measured memory'] / 1e9:.2f}",
        )
        for name, one in found.items()
    ]

"""Whole trials in recorded steps, beside those of the loop: seconds of training, and scores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.commands import trials
from benchmarks.device.recorded_trainer import RecordedTrainer

# Dataset -> number of seeds, the cheapest first; those of two sets say how large the noise of a score is.
SEEDS = {
    "gad": 3,
    "ncbi-disease": 3,
    "biosses": 1,
    "pubmedqa": 1,
    "bc5-disease": 1,
    "ddi": 1,
    "hoc": 1,
    "chemprot": 1,
    "bc5-chem": 1,
    "bc2gm": 1,
    "jnlpba": 1,
    "ebm-pico": 1,
}
COLUMNS = ("dataset", "seed", "loop, s", "recorded, s", "x", "loop", "recorded", "what it did")
NOTE = (
    "MiniLM under `quick`, bf16, one trial at a time: seconds of training, and the score on test of the loop and of "
    "recorded steps. They round otherwise, so equal scores are not expected, but differences as between seeds."
)


def cells(context: Context) -> Iterator[Cell]:
    """A cell for both loops on a dataset, in turn."""
    for task, seeds in context.pick(SEEDS, {"gad": 2}).items():
        yield Cell(task, partial(measure, context, task, seeds))


def measure(context: Context, task: str, seeds: int) -> Figures:
    """Trains both in this process, after a training that is not counted: it reads, tokenises and wakes the card.

    :raises RuntimeError: if a trial failed, or a card replayed nothing
    """
    from blurb.learners.finetuning import network
    from blurb.training.loop import Trainer

    train(context, task, 1, max_updates=20)
    figures: dict[str, Any] = {}
    for name, trainer in {"loop": Trainer, "recorded": RecordedTrainer}.items():
        RecordedTrainer.counts.clear()
        with patch.object(network, "Trainer", trainer):
            figures[name] = train(context, task, seeds)
    figures["counts"] = dict(RecordedTrainer.counts)
    if context.device == "cuda" and not RecordedTrainer.counts["replayed"]:
        raise RuntimeError(f"no step was replayed: {figures['counts']}")
    return figures


def train(context: Context, task: str, seeds: int, **settings: object) -> list[dict[str, float]]:
    """Seconds of training and the test score, times 100, of each seed, in a new store."""
    import blurb

    store = context.work / "recorded"
    shutil.rmtree(store, ignore_errors=True)
    where = {"suite": "demo"} if context.small else {"data": context.data}
    small = {"max_train": 40, "max_eval": 16, "epochs": 1}
    results = blurb.run(
        str(context.model("MiniLM")),
        **where,
        tasks=[task],
        seeds=seeds,
        protocol="quick",
        **{**context.pick({}, small), **settings},
        precision=context.precisions[0],
        output=store,
        leaderboard=store.with_name("recorded.csv"),
        # `cuda` would be trained in a worker process, whose `Trainer` is the loop's.
        device="cuda:0" if context.device == "cuda" else "cpu",
        jobs=1,
    )
    if results.failed:
        raise RuntimeError(results.failed[0].message)
    return [
        {"train": float(record.provenance.train_seconds or 0), "test": 100 * record.score("test")}
        for record in sorted(trials(store), key=lambda each: each.trial.seed)
    ]


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for task, one in found.items():
        did = ", ".join(f"{count} {what}" for what, count in sorted(one["counts"].items()))
        for seed, (loop, recorded) in enumerate(zip(one["loop"], one["recorded"], strict=True), 1):
            table.append(
                (
                    task,
                    str(seed),
                    f"{loop['train']:.1f}",
                    f"{recorded['train']:.1f}",
                    f"{loop['train'] / recorded['train']:.2f}",
                    f"{loop['test']:.2f}",
                    f"{recorded['test']:.2f}",
                    did * (seed == 1),
                )
            )
    return table

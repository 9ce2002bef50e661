"""Whole trials in recorded steps, beside those of the loop: seconds of training, and scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.commands import trials
from benchmarks.device.recorded_trainer import RecordedTrainer

# The cheapest first; three seeds of two sets say how large the noise of a score is.
TRIALS = (
    *((name, seed) for seed in (1, 2, 3) for name in ("gad", "ncbi-disease")),
    *((name, 1) for name in ("biosses", "pubmedqa", "bc5-disease", "ddi", "hoc", "chemprot")),
    *((name, 1) for name in ("bc5-chem", "bc2gm", "jnlpba", "ebm-pico")),
)
COLUMNS = ("dataset", "seed", "loop, s", "recorded, s", "x", "loop", "recorded", "what it did")
NOTE = (
    "MiniLM under `quick`, bf16, one trial at a time: seconds of training, and the score on test of the loop and of "
    "recorded steps. They round otherwise, so equal scores are not expected, but differences as between seeds."
)


def cells(context: Context) -> Iterator[Cell]:
    """A cell for both loops of a dataset and seed, in turn."""
    for task, seed in context.pick(TRIALS, (("gad", 1),)):
        yield Cell(f"{task}, {seed}", partial(measure, context, task, seed))


def measure(context: Context, task: str, seed: int) -> Figures:
    """Trains both in this process."""
    from blurb.learners.finetuning import network
    from blurb.training.loop import Trainer

    figures: dict[str, Any] = {}
    for name, trainer in {"loop": Trainer, "recorded": RecordedTrainer}.items():
        RecordedTrainer.counts.clear()
        with patch.object(network, "Trainer", trainer):
            figures[name] = train(context, task, seed, name)
    return {**figures, "counts": dict(RecordedTrainer.counts)}


def train(context: Context, task: str, seed: int, name: str) -> dict[str, float]:
    """Seconds of training and the test score, times 100, of a trial in a store of its own."""
    import blurb

    store = context.work / f"recorded-{name}"
    where = {"suite": "demo"} if context.small else {"data": context.data}
    small = {"max_train": 40, "max_eval": 16, "epochs": 1}
    blurb.run(
        str(context.model("MiniLM")),
        **where,
        tasks=[task],
        seeds=seed,  # those before are done
        protocol="quick",
        **context.pick({}, small),
        precision=context.precisions[0],
        output=store,
        leaderboard=store.with_name(f"{store.name}.csv"),
        device=context.device,
    )
    (record,) = (one for one in trials(store) if (one.trial.task, one.trial.seed) == (task, seed))
    return {
        "train": float(record.provenance.train_seconds or 0),
        "test": 100 * record.score("test"),
    }


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *cell.split(", "),
            f"{one['loop']['train']:.1f}",
            f"{one['recorded']['train']:.1f}",
            f"{one['loop']['train'] / one['recorded']['train']:.2f}",
            f"{one['loop']['test']:.2f}",
            f"{one['recorded']['test']:.2f}",
            ", ".join(f"{count} {what}" for what, count in sorted(one["counts"].items())),
        )
        for cell, one in found.items()
    ]

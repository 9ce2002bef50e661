"""Prediction of whole test sets: seconds, tokens a second, and how much of what the encoder reads is padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from benchmarks.device.cells import Cell, Context, Figures

TASKS = ("ncbi-disease", "hoc", "pubmedqa")
MODELS = ("MiniLM", "BERT-base")
COLUMNS = ("encoder", "test set", "precision", "seconds", "tokens/s", "padding")


def cells(context: Context) -> Iterator[Cell]:
    for model in context.pick(MODELS, MODELS[:1]):
        for task in context.pick(TASKS, TASKS[:1]):
            for precision in context.precisions:
                yield Cell(
                    f"{model}, {task}, {precision}",
                    partial(measure, context, model, task, precision),
                )


def measure(context: Context, model: str, name: str, precision: str) -> Figures:
    """The second of two predictions of the test set by an encoder that trained for a step."""
    from benchmarks.bench.full_sets import padding_of, trained
    from benchmarks.throughput import key, seconds_of
    from blurb import data, tasks
    from blurb.learners import building
    from blurb.learners.base import Subset
    from blurb.training.batches import prediction_batches
    from blurb.training.loop import SUBTOKENS

    task = tasks.get(name)
    test = data.load_task(task, context.data, ["test"]).splits["test"].to_list()
    rows = test[: context.pick(len(test), 20)]
    learner = trained(
        building.resolve_model(str(context.model(model))), task, rows[:16], rows[:2], precision
    )
    units = Subset(rows, key(rows))
    seconds = seconds_of(lambda: learner.predict(units))
    lengths = learner.formulation.features(rows, learner.tokenizer, learner.limit).ids.lengths
    padding = padding_of(lengths, prediction_batches(lengths, SUBTOKENS[context.device]))
    return {"seconds": seconds, "tokens": int(lengths.sum()), "padding": padding}


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *name.split(", "),
            f"{one['seconds']:.2f}",
            f"{one['tokens'] / one['seconds']:,.0f}",
            f"{one['padding']:.1%}",
        )
        for name, one in found.items()
    ]

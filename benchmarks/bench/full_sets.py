"""Whole datasets beside the 1,600 sentences of the loop: padding; training, choosing and predicting apart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.throughput import key, wait
from blurb import data, formulations, tasks
from blurb.checkpoints import ModelSource
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.training.batches import Ints, training_batches
from blurb.training.hardware import choose_device, choose_precision

TASKS = ("ncbi-disease", "gad", "biosses", "pubmedqa")
"""From 64 examples to 5,424: three short forms of text, and abstracts."""
BATCH = 16


def learner_of(
    source: ModelSource, task: tasks.Task, precision: str, **changed: Any
) -> EncoderLearner:
    """The encoder with the settings of `standard` and changes of them."""
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    return EncoderLearner(source, formulations.bind(task, settings), "auto", precision)  # type: ignore[arg-type]


def trained(
    source: ModelSource, task: tasks.Task, train: list[Any], dev: list[Any], precision: str
) -> EncoderLearner:
    """A learner after an epoch on some examples; kernels are then chosen and memory is there."""
    learner = learner_of(
        source, task, precision, batch_size=BATCH, epochs=1, select="last", max_updates=0
    )
    learner.fit(Subset(train, ""), Subset(dev, ""), 1, lambda *_: None)
    return learner


def padding_of(lengths: Ints, batches: Sequence[Ints]) -> float:
    """The part of all sub-tokens of the batches that is padding.

    >>> padding_of(np.array([1, 2]), [np.array([0, 1])])
    0.25
    """
    padded = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    return 1 - int(lengths.sum()) / padded


def measure(
    model: str, folder: Path, names: Sequence[str] = TASKS, count: int | None = None
) -> dict[str, dict[str, float]]:
    """One epoch of each set with dev after it, then its test set.

    :param count: examples of a split at most; None for all
    """
    source = building.resolve_model(model)
    precision = choose_precision("auto", choose_device("auto"))
    return {name: _set(source, tasks.get(name), folder, precision, count) for name in names}


def _set(
    source: ModelSource, task: tasks.Task, folder: Path, precision: str, count: int | None
) -> dict[str, float]:
    splits = {
        name: rows.to_list()[:count] for name, rows in data.load_task(task, folder).splits.items()
    }
    trained(source, task, splits["train"][: 4 * BATCH], splits["dev"][:BATCH], precision)
    learner = learner_of(
        source,
        task,
        precision,
        batch_size=BATCH,
        epochs=1,
        select="best",
        max_updates=0,
        dev_sample=0,
    )
    units = {name: Subset(rows, key(rows)) for name, rows in splits.items()}
    steps, ends = -(-len(splits["train"]) // BATCH), list[float]()

    def stamp(*_: object) -> None:
        # A GPU is waited for where seconds are counted, and nowhere else
        if len(ends) in (0, steps - 1):
            wait()
        ends.append(time.perf_counter())

    learner.fit(units["train"], units["dev"], 1, stamp)
    wait()
    begun = time.perf_counter()
    learner.predict(units["test"])
    predicting = time.perf_counter() - begun
    lengths = learner.formulation.features(
        splits["train"], learner.tokenizer, learner.limit
    ).ids.lengths
    # The first step has no beginning of its own
    training = (ends[-1] - ends[0]) * steps / max(1, steps - 1)
    return {
        "examples": len(splits["train"]),
        "padding": padding_of(lengths, training_batches(lengths, BATCH, np.random.default_rng(1))),
        "tokens": int(lengths.sum()),
        "training": training,
        "choosing": float(learner.facts["choose_seconds"]),
        "predicting": predicting,
    }

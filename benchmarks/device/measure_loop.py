"""An epoch of training: the tuned recipe, blurb's loop and the loop of recorded steps, in one process and in turn.

Also where the loop's host time goes: its ten dearest functions.
"""

from __future__ import annotations

import cProfile
import pstats
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.measure_launches import MEMORY
from benchmarks.device.static_step import StaticSteps, batch_lengths, best_lengths
from blurb.training.batches import collate_batch, training_batches

SHAPES = (("MiniLM", 32), ("BERT-base", 32))
ROUNDS, BATCHES = 3, 40
COLUMNS = ("encoder", "batch", "variant", "training, tokens/s", "rounds", "x tuned", "what it did")
NOTE = (
    "NCBI-disease, bf16, the second of two epochs of 40 batches; medians of three rounds, in turn."
)


def cells(context: Context) -> Iterator[Cell]:
    """A cell for all variants of an encoder and batch size, and one for the functions of the loop."""
    for model, batch in context.pick(SHAPES, (("MiniLM", 4),)):
        measured = partial(_measure, context, model, batch)
        yield Cell(f"{model}, {batch}", measured, context.pick(MEMORY[model], 0.0))
    yield Cell("functions", partial(_functions, context))


def _at_hand(context: Context, model: str, batch: int) -> tuple[Any, Any, list[Any]]:
    from benchmarks.throughput import sentences
    from blurb import tasks
    from blurb.learners import building

    task = tasks.get("ncbi-disease")
    return (
        building.resolve_model(str(context.model(model))),
        task,
        sentences(task, context.data, context.pick(BATCHES, 2) * batch),
    )


def _precision(context: Context) -> str:
    return context.precisions[0]


def _measure(context: Context, model: str, batch: int) -> Figures:
    from benchmarks.throughput import ours, recipe

    torch.set_num_threads(1)
    source, task, rows = _at_hand(context, model, batch)
    precision, said = _precision(context), {}

    def recorded() -> float:
        rate, counts = graphed(source, task, rows, batch, context)
        said.update(counts)
        return rate

    variants: dict[str, Callable[[], float]] = {
        "tuned": lambda: recipe(source, task, rows, precision, True, batch)[0],
        "blurb": lambda: ours(source, task, rows, precision, batch)[0],
        "recorded steps": recorded,
    }
    found: dict[str, Any] = {name: [] for name in variants}
    for _ in range(context.pick(ROUNDS, 1)):
        for name, variant in variants.items():
            found[name].append(variant())
    return {**found, "counts": said}


def graphed(
    source: Any, task: Any, rows: list[Any], batch: int, context: Context
) -> tuple[float, dict[str, int]]:
    """Tokens a second of the second epoch of a loop of recorded steps, and how many steps were made how."""
    from benchmarks.device.measure_steps import network_like
    from benchmarks.throughput import EPOCHS, Stamps
    from blurb import formulations
    from blurb.protocols import protocol
    from blurb.training.optimizer import make_adamw

    settings = protocol.load_protocol_file("standard").settings(
        task, {"lr": 1e-4, "batch_size": batch}, source.parameters
    )
    formulation = formulations.bind(task, settings)
    torch.use_deterministic_algorithms(True, warn_only=True)  # as the loop
    torch.manual_seed(1)
    checkpoint, device = source.checkpoint, torch.device(context.device)
    encoder, _ = checkpoint.load_encoder()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    network = network_like(encoder, context.device)
    features = formulation.features(rows, checkpoint.tokenizer, settings.max_length)
    targets = formulation.targets(rows)
    lengths, generator = features.ids.lengths, np.random.default_rng(1)
    epochs = [training_batches(lengths, batch, generator) for _ in range(EPOCHS)]
    longest = [each for epoch in epochs for each in batch_lengths(lengths, epoch)]
    steps = StaticSteps(network, checkpoint.tokenizer.pad_id, batch, best_lengths(longest), device)
    optimizer = make_adamw(network, settings)
    stamps = Stamps(len(epochs[0]))
    for epoch in epochs:
        for each in epoch:
            inputs = collate_batch(features, each, checkpoint.tokenizer.pad_id, targets)
            assert inputs.word_mask is not None
            steps(inputs, int(inputs.word_mask.sum()))
            torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip_norm)
            optimizer.step()
            stamps.step()
    return stamps.rate(int(lengths.sum())), dict(steps.counts)


def _functions(context: Context) -> Figures:
    """Function -> milliseconds of its own in a step of the loop, of the ten dearest."""
    from benchmarks.throughput import EPOCHS, ours

    source, task, rows = _at_hand(context, "MiniLM", context.pick(32, 4))
    profile = cProfile.Profile()
    profile.runcall(ours, source, task, rows, _precision(context), context.pick(32, 4))
    steps = EPOCHS * context.pick(BATCHES, 2)
    table = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    dearest = sorted(table.items(), key=lambda item: -item[1][2])[:10]
    return {_named(*where): 1e3 * own[2] / steps for where, own in dearest}


def _named(file: str, line: int, function: str) -> str:
    return function.strip("<>") if file == "~" else f"{Path(file).name}:{line} {function}"


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for cell, one in found.items():
        if cell == "functions":  # for who changes the loop: they stay in the results file
            continue
        tuned = statistics.median(one["tuned"])
        for name in ("tuned", "blurb", "recorded steps"):
            middle = statistics.median(one[name])
            spread = f"{min(one[name]):,.0f} to {max(one[name]):,.0f}"
            did = ", ".join(f"{count} {what}" for what, count in sorted(one["counts"].items())) * (
                name[0] == "r"
            )
            table.append(
                (*cell.split(", "), name, f"{middle:,.0f}", spread, f"{middle / tuned:.2f}", did)
            )
    return table

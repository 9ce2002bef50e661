"""Steps a second of the training loop in one, four and six processes on one card, with and without NVIDIA's service.

The processes are warm and pinned: each trains without end, and counts its steps only in the seconds of a phase in which
it is wanted. Start-ups are left out, as a pool of workers that stay would leave them out.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures
from benchmarks.device.measure_jobs import with_service
from benchmarks.device.measure_launches import MEMORY

COUNTS = (1, 4, 6)
ROUNDS, SECONDS, BATCH = 3, 1.5, 32
WARM = 150
"""Steps of each process before the first round: with 5 of them the second round was five times as fast as the first."""
COLUMNS = ("encoder", "MPS", "processes", "steps/s", "rounds", "x one")
NOTE = "The loop on NCBI-disease, batches of 32, bf16. Medians of three rounds of 1.5 seconds, the numbers in turn."


def cells(context: Context) -> Iterator[Cell]:
    """Without the service first, then with it."""
    models = context.pick(("MiniLM", "BERT-base"), ("MiniLM",))
    for service in (False, *([True] if context.mps else [])):
        for model in models:
            measured = partial(_measure, context, model)
            memory = context.pick(max(COUNTS) * MEMORY[model], 0.0)
            name = f"{model}, {'MPS' if service else 'no MPS'}"
            yield Cell(
                name, partial(with_service, context, measured) if service else measured, memory
            )


def _measure(context: Context, model: str) -> Figures:
    counts = context.pick(COUNTS, (1, 2))
    manager = multiprocessing.get_context("spawn")
    wanted, steps = manager.Value("i", max(counts)), manager.Array("q", max(counts))
    folder, data = context.model(model), context.data  # made before the processes need them
    workers = [
        manager.Process(
            target=train, args=(folder, data, context, number, wanted, steps), daemon=True
        )
        for number in range(max(counts))
    ]
    for worker in workers:
        worker.start()
    try:
        deadline = time.monotonic() + min(context.left, 90)
        while min(steps) < context.pick(WARM, 5):
            if time.monotonic() > deadline or not all(worker.is_alive() for worker in workers):
                raise RuntimeError("a process did not begin to train")
            time.sleep(0.1)
        found: dict[str, list[float]] = {str(count): [] for count in counts}
        for _ in range(context.pick(ROUNDS, 1)):
            for count in counts:
                wanted.value = count
                time.sleep(0.3)
                before, begun = list(steps), time.perf_counter()
                time.sleep(context.pick(SECONDS, 0.5))
                done = sum(steps) - sum(before)
                found[str(count)].append(done / (time.perf_counter() - begun))
        return found
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def train(model: Path, data: Path, context: Context, number: int, wanted: Any, steps: Any) -> None:
    """Trains until it is killed.

    :param wanted: how many processes are to train; the others stand still between two steps
    :param steps: steps of each process so far
    """
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[number % len(cores)]})
    import torch

    from benchmarks.throughput import key, sentences
    from blurb import formulations, tasks
    from blurb.learners import building
    from blurb.learners.base import Subset
    from blurb.learners.finetuning.network import EncoderLearner
    from blurb.protocols import protocol

    torch.set_num_threads(1)
    source, task = building.resolve_model(str(model)), tasks.get("ncbi-disease")
    batch = context.pick(BATCH, 4)
    rows = sentences(task, data, 60 * batch)
    changed = {"lr": 1e-5, "epochs": 10_000, "batch_size": batch, "select": "last"}
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    learner = EncoderLearner(
        source, formulations.bind(task, settings), "auto", context.precisions[0]
    )

    def step(done: int, total: int) -> None:
        steps[number] += 1
        while wanted.value <= number:
            time.sleep(0.01)

    learner.fit(Subset(rows, key(rows)), Subset(rows[:2], key(rows[:2])), number, step)


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for cell, one in found.items():
        model, service = cell.split(", ")
        for count, rounds in one.items():
            middle = statistics.median(rounds)
            spread = f"{min(rounds):.0f} to {max(rounds):.0f}"
            ratio = f"{middle / statistics.median(one['1']):.2f}"
            table.append(
                (model, "yes" if service == "MPS" else "no", count, f"{middle:.1f}", spread, ratio)
            )
    return table

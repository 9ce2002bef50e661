"""A card that has too little memory for a batch: the micro-batch is halved, and the loss stays what it was.

The process limits itself to a part of the card (torch's own limit), so that no other process is in want.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures

SHARES = (0.7, 0.4)
"""Parts of the most memory that the training takes without a limit."""
COLUMNS = (
    "encoder",
    "limit",
    "batch",
    "micro-batch",
    "loss without the limit",
    "with it",
    "peak, GiB",
    "limit, GiB",
)
MODEL, TASK, BATCH, PRECISION = "BERT-base", "ncbi-disease", 64, "fp32"


def cells(context: Context) -> Iterator[Cell]:
    for share in context.pick(SHARES, SHARES[:1]):
        yield Cell(f"{MODEL}, {share:.0%} of the batch", partial(measure, context, share))


def measure(context: Context, share: float) -> Figures:
    """Trains some batches without a limit and with it."""
    import torch

    free, peak, _ = _trained(context, None)
    if context.device != "cuda":
        allowed = BATCH * share
        limited, _, micro = _trained(context, allowed)
        return {
            "batch": BATCH,
            "micro-batch": micro,
            "free": free,
            "limited": limited,
            "peak": 0,
            "limit": 0,
        }
    gc.collect()  # the encoder is in a cycle of references
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    limit = before + share * (peak - before)
    torch.cuda.set_per_process_memory_fraction(
        limit / torch.cuda.get_device_properties(0).total_memory
    )
    try:
        limited, _, micro = _trained(context, None)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    if micro is None:
        raise RuntimeError("the limit was no limit: nothing was halved")
    return {
        "batch": BATCH,
        "micro-batch": micro,
        "free": free,
        "limited": limited,
        "peak": peak,
        "limit": limit,
    }


def _trained(context: Context, most: float | None) -> tuple[float, float, int | None]:
    """Mean loss of an epoch, peak bytes on the card, and the micro-batch if there was one.

    :param most: inputs that a network without a card pretends to have memory for
    """
    import torch

    from benchmarks.bench.full_sets import learner_of
    from benchmarks.throughput import sentences
    from blurb import tasks
    from blurb.learners import building
    from blurb.learners.base import Subset
    from blurb.training.network import Network

    task, loss = tasks.get(TASK), Network.loss

    def pretended(self: Network, batch: Any) -> torch.Tensor:
        if most is not None and len(batch.ids) > most:
            raise RuntimeError("out of memory, as a rehearsal pretends")
        return loss(self, batch)

    rows = sentences(task, context.data, context.pick(10, 1) * BATCH)
    changed = {
        "lr": 1e-4,
        "batch_size": BATCH,
        "epochs": 1,
        "select": "last",
        "encoder_dropout": 0.0,
        "head_dropout": 0.0,
    }
    learner = learner_of(
        building.resolve_model(str(context.model(MODEL))), task, PRECISION, **changed
    )
    if context.device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    Network.loss = pretended  # type: ignore[method-assign]
    try:
        history = learner.fit(Subset(rows, ""), Subset(rows[:2], ""), 1, lambda *_: None)
    finally:
        Network.loss = loss  # type: ignore[method-assign]
    peak = torch.cuda.max_memory_reserved() if context.device == "cuda" else 0
    return float(history[-1]["loss"]), float(peak), learner.trainer.micro_batch


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    return [
        (
            *name.split(", "),
            str(one["batch"]),
            str(one["micro-batch"]),
            f"{one['free']:.4f}",
            f"{one['limited']:.4f}",
            f"{one['peak'] / 2**30:.1f}",
            f"{one['limit'] / 2**30:.1f}",
        )
        for name, one in found.items()
    ]

"""Tokens a second of the loop beside the plain and the tuned recipe, by model, batch size and precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.device.cells import Cell, Context, Figures

TASK = "ncbi-disease"
BATCHES = (16, 32)
COLUMNS = (
    "encoder",
    "batch",
    "variant",
    "training, tokens/s",
    "x recipe",
    "x tuned",
    "prediction, tokens/s",
    "x tuned",
)
NOTE = (
    "`x recipe` is against the plain recipe in fp32, `x tuned` against the tuned recipe in the same precision (bf16 "
    "for fp32)."
)
MEMORY = {"MiniLM": 4.0, "BERT-base": 10.0, "BERT-large": 24.0}
"""GiB of the card for batches of up to 32 sentences in fp32."""


def cells(context: Context, models: Sequence[str]) -> Iterator[Cell]:
    """All variants of a model and batch size, one after the other, so that what is compared was measured together."""
    from benchmarks.throughput import variants

    for model in models:
        for batch in BATCHES if not context.small else BATCHES[:1]:
            for name, variant in variants(context.precisions).items():
                measured = partial(_measure, context, model, batch, variant)
                yield Cell(f"{model}, {batch}, {name}", measured, context.pick(MEMORY[model], 0.0))


def _measure(context: Context, model: str, batch: int, variant: Any) -> Figures:
    source, task, rows = _at_hand(context.model(model), context.data, context.pick(100, 3) * batch)
    training, predicting = variant(source, task, rows, batch)
    return {"training": training, "prediction": predicting, "sentences": len(rows)}


def _at_hand(model: Path, data: Path, count: int) -> tuple[Any, Any, list[Any]]:
    from benchmarks.throughput import sentences
    from blurb import tasks
    from blurb.learners import building

    task = tasks.get(TASK)
    return building.resolve_model(str(model)), task, sentences(task, data, count)


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for name, one in found.items():
        model, batch, variant = name.split(", ", 2)
        precision = variant.split(",")[0].split()[1]
        plain = found.get(f"{model}, {batch}, recipe fp32")
        half = "bf16" if precision == "fp32" else precision
        tuned = found.get(f"{model}, {batch}, recipe {half}, grouped by length")
        table.append(
            (
                model,
                batch,
                variant,
                f"{one['training']:,.0f}",
                _ratio(one, plain, "training"),
                _ratio(one, tuned, "training"),
                f"{one['prediction']:,.0f}",
                _ratio(one, tuned, "prediction"),
            )
        )
    return table


def _ratio(one: Figures, other: Figures | None, what: str) -> str:
    return f"{one[what] / other[what]:.2f}" if other else ""

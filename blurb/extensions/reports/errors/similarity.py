"""Errors of similarity: where the predicted scores differ most from the annotators'."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.extensions.reports.errors._base import Mistake, Report, ReportTable
from blurb.messages.text import signed
from blurb.tasks import Task

BANDS = 4


def analyse(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """Mean residual by bands of the gold score. Every pair is listed, the largest residual first."""
    low, high = (float(str(task.metric_options.get(name, bound))) for name, bound in (("low", 0), ("high", 4)))
    width = (high - low) / BANDS
    answers = list(zip(columns["id"], columns["gold"], columns["prediction"], strict=True))
    table: list[tuple[object, ...]] = []
    for band in range(BANDS):
        start, end = low + band * width, low + (band + 1) * width
        inside = [
            predicted - gold
            for _, gold, predicted in answers
            if start <= gold < end or (band == BANDS - 1 and gold == high)
        ]
        if inside:
            spread = f"{statistics.stdev(inside):.2f}" if len(inside) > 1 else ""
            table.append((f"{start:g} to {end:g}", len(inside), signed(statistics.fmean(inside)), spread))
    examples = [
        Mistake(
            unit,
            "too high" if predicted > gold else "too low",
            float(gold),
            float(predicted),
            " / ".join((rows[unit]["text_a"], rows[unit]["text_b"])) if unit in rows else "",
            abs(predicted - gold),
        )
        for unit, gold, predicted in answers
    ]
    columns_ = ("right score", "pairs", "mean residual", "sd")
    return Report([ReportTable("predicted minus right", columns_, table)], examples)

"""Shared by both formats for the Hugging Face Hub: the scores of a dataset."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any, NamedTuple

from blurb import names
from blurb.extensions.reports.export.formats._base import ExportRequest, real_row
from blurb.messages.errors import SettingsError, StoreError
from blurb.results.row_scores import RowScores
from blurb.tasks import Task


class Figure(NamedTuple):
    """Mean over seeds of one dataset, times 100.

    :param metric: name of the metric in `metrics.json`
    :param sd: standard deviation over seeds; None for a single seed
    :param verdict: verdict on the data
    """

    task: Task
    metric: str
    value: float
    sd: float | None
    seeds: tuple[int, ...]
    verdict: str

    def facts(self, row: RowScores) -> dict[str, Any]:
        """The configuration behind the number."""
        spread = {} if self.sd is None else {"sd": self.sd}
        setting = {"protocol": row.configuration.text, "precision": row.configuration.precision, "note": row.note}
        checkpoint = names.run_and_step(row.model)
        step = {} if checkpoint is None else {"step": checkpoint[1]}
        return {
            **{name: text for name, text in setting.items() if text},
            **step,
            row.kind.runs: len(self.seeds),
            **spread,
        }


def figures(wanted: ExportRequest) -> tuple[RowScores, list[Figure]]:
    """The requested row and its datasets; StoreError if it has none of them."""
    row = real_row(wanted)
    if not row.kind.is_fine_tuning:
        raise SettingsError(
            f"{row.model} is {row.kind.noun}. The Hub would list it among fine-tuned encoders, with which it is not "
            "comparable",
            fix="export a fine-tuned row instead.",
        )
    found = list(_figures(row, wanted))
    if not found:
        raise StoreError(f"{row.model} has no finished trial of {', '.join(task.name for task in wanted.datasets)}.")
    return row, found


def whole_score(row: RowScores, wanted: ExportRequest) -> float | None:
    """The BLURB score, if all thirteen datasets are requested and have results."""
    every = row.blurb_means().keys() <= {task.name for task in wanted.datasets}
    return row.score if every else None


def _figures(row: RowScores, wanted: ExportRequest) -> Iterator[Figure]:
    for task in wanted.datasets:
        values = row.values(task.name)
        if not values:
            continue
        dataset = row.datasets[task.name]
        verdict = ", ".join(sorted(dataset.known("verdict")))
        sd = round(statistics.stdev(values), 2) if len(values) > 1 else None
        yield Figure(task, dataset.metric, round(statistics.fmean(values), 2), sd, row.seeds(task.name), verdict)

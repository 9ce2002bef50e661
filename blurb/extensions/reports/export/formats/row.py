"""A row as files that others can verify: figures and predictions, without text and gold answers."""

from __future__ import annotations

from dataclasses import replace

from blurb.extensions.reports.export.formats import ExportFormat, ExportRequest, Files, one_row
from blurb.messages import StoreError, opt
from blurb.results.score import DATASETS
from blurb.row_files import writing as row_files


def _render(requested: ExportRequest) -> Files:
    """The files of the row with the datasets that were asked for; with all of BLURB's, its own datasets, too."""
    row = one_row(requested)
    names = {task.name for task in requested.datasets}
    if names >= set(DATASETS):
        names |= set(row.own_tasks)
    if not names & row.records.keys():
        raise StoreError(
            f"{row.name} has no predictions of {', '.join(sorted(names))}",
            fix=f"check {opt('tasks')}: it has {', '.join(row.records) or 'none'}.",
        )
    row = replace(
        row, datasets={name: scores for name, scores in row.datasets.items() if name in names}
    )
    return row_files.files(row, requested.measured_by, requested.party, requested.trained_on)


ADVISED = ("measured_by", "party")
EXPORT = ExportFormat(
    "a row as files that others can verify",
    _render,
    frozenset({*ADVISED, "trained_on"}),
    folder="row",
    alone=True,
    advised=ADVISED,
)

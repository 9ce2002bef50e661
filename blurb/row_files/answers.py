"""The answers of a row on a dataset and the gold answers: from its trials, or from row files and the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blurb import formulations
from blurb.data.schema import Example
from blurb.formulations._base import Formulation
from blurb.results.row import Row
from blurb.row_files.scores import FiledRow, examples_of
from blurb.tasks import ScoredSplit


class Answers(NamedTuple):
    """What a run answered.

    :param data: hash of the data that it was trained or scored on
    :param columns: `id`, `doc_id`, `gold` and `prediction`
    """

    data: str
    formulation: Formulation
    columns: Mapping[str, Sequence[Any]]


def answers_of(
    row: Row, name: str, split: ScoredSplit, data: Path, rows: Sequence[Example] | None
) -> dict[int, Answers]:
    """The answers of each run of a dataset by seed; none of a row without predictions.

    :param data: folder of the gold answers, which row files do not have
    :param rows: the examples of the split, where they were read already
    """
    if not isinstance(row, FiledRow):
        return {
            seed: Answers(
                record.trial.data,
                formulations.bind(record.task, record.trial.settings),
                record.predictions(split),
            )
            for seed, record in row.records_of(name).items()
        }
    runs = [run for run in row.files.about["runs"] if run["task"] == name and run[split]]
    return {
        run["seed"]: Answers(run["data"], *examples_of(row.files, run, split, data, rows))
        for run in sorted(runs, key=lambda run: run["seed"])
    }

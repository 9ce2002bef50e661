"""The row of scores that the files of a row claim.

The figures of a run of a row, computed from its predictions and the verifier's own data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb import formulations, metrics, tasks
from blurb.data.loading import read_split
from blurb.data.schema import Example
from blurb.formulations._base import Formulation
from blurb.learners.base import Subset
from blurb.protocols.settings import example_limits
from blurb.results.row import Answers, Origin, Row
from blurb.results.schema import MODEL
from blurb.results.score import DatasetScores, Figure, Run, cells_of_settings, plugins_text
from blurb.row_files.reading import RowFiles, run_losses, run_predictions
from blurb.row_files.writing import ENDING, RunRecord
from blurb.scoring import matching, values
from blurb.scoring.columns import Answer, AnswerFile
from blurb.store.trial import Configuration


@dataclass(frozen=True, repr=False)
class FiledRow(Row):
    """A row of a folder of row files, with the scores that it claims.

    :param files: these files
    """

    files: RowFiles = field(kw_only=True)

    def has_answers(self, task: str) -> bool:
        return task in self.files.by_task

    def answers(
        self, task: str, split: tasks.ScoredSplit, data: Path, rows: Sequence[Example] | None = None
    ) -> dict[int, Answers]:
        runs = [run for run in self.files.by_task.get(task, ()) if run[split]]
        rows = read_split(tasks.get(task), data, split) if rows is None and runs else rows
        return {
            run["seed"]: Answers(run["data"], examples_of(self.files, run, split, data, rows)[1])
            for run in sorted(runs, key=lambda run: run["seed"])
        }


def claimed_scores(row: RowFiles) -> FiledRow:
    """The scores that a row claims."""
    about = row.about
    unscored: dict[str, list[RunRecord]] = {
        task: [] for task in about["planned"] if tasks.known_task(task)
    }
    names: dict[str, Any] = {name: dict(about)[name] for name in MODEL}
    return FiledRow(
        **names,
        configuration=Configuration(
            about["protocol"],
            about["protocol_hash"],
            about["overrides"],
            about["precision"],
            about["suite"],
        ),
        datasets={
            task: _claimed_dataset(task, its, about["planned"].get(task))
            for task, its in (unscored | row.by_task).items()
        },
        origin=Origin.BOARD,
        key=row.folder.name,
        trained_on=about["trained_on"],
        files=row,
    )


def _claimed_dataset(
    name: str, runs: Sequence[RunRecord], planned: Sequence[int] | None
) -> DatasetScores:
    task = tasks.get(name)
    metric = metrics.get(task.metric)
    return DatasetScores(
        name,
        type=task.type,
        metric=metric.main,
        runs={run["seed"]: _claimed_run(run, metric.unscaled) for run in runs},
        planned=len(runs if planned is None else planned),
        planned_seeds=tuple(planned or ()),
    )


def _claimed_run(run: RunRecord, unscaled: frozenset[str]) -> Run:
    return Run(
        figures={
            split: {
                name: Figure(value if name in unscaled else 100 * value)
                for name, value in run[split].items()
            }
            for split in tasks.SCORED
            if run[split]
        },
        verdict=run["verdict"],
        data_hash=run["data"][:12],
        metrics_version=str(run["metrics_version"]),
        settings=cells_of_settings(run["settings"], plugins_text(run["plugins"])),
        trial=run["trial"],
    )


def figures_of(
    row: RowFiles,
    run: RunRecord,
    split: tasks.ScoredSplit,
    data: Path,
    without: Collection[str] = (),
) -> dict[str, float]:
    """The figures of a run on a split, from its predictions; fractions.

    :param without: ids of examples that are left out
    :raises DataError: if its predictions are not those of the examples, or are no answers
    """
    formulation, kept, given = _answers_of_run(row, run, split, data)
    losses = run_losses(row, run, split)
    left = [place for place, (unit, _) in enumerate(kept) if unit["id"] not in without]
    known = [losses[kept[place][1]] for place in left] if losses else None
    return _compute_figures(
        formulation, [kept[place][0] for place in left], [given[place] for place in left], known
    )


def examples_of(
    row: RowFiles,
    run: RunRecord,
    split: tasks.ScoredSplit,
    data: Path,
    rows: Sequence[Example] | None = None,
) -> tuple[Formulation, dict[str, list[Any]]]:
    """The examples of a run on a split: `id`, `doc_id`, `gold` and `prediction`, in the order of the data.

    :param rows: the examples of the split, where they were read for another run
    :raises DataError: if its predictions are not those of the examples, or are no answers
    """
    formulation, kept, given = _answers_of_run(row, run, split, data, rows)
    units = [unit for unit, _ in kept]
    columns = {name: [unit.get(name) for unit in units] for name in ("id", "doc_id")}
    return formulation, {
        **columns,
        "gold": [formulation.gold(dict(unit)) for unit in units],
        "prediction": given,
    }


def _answers_of_run(
    row: RowFiles,
    run: RunRecord,
    split: tasks.ScoredSplit,
    data: Path,
    rows: Sequence[Example] | None = None,
) -> tuple[Formulation, list[tuple[Mapping[str, Any], int]], list[Any]]:
    """The formulation, the scored units with the place of the answer of each, and these answers."""
    formulation = formulations.bind(tasks.get(run["task"]), run["settings"])
    units = formulation.units(read_split(formulation.task, data, split) if rows is None else rows)
    answers = [
        Answer(place, key, value)
        for place, (key, value) in enumerate(run_predictions(row, run, split), 1)
    ]
    file = values.shape_answers(
        formulation.task, AnswerFile(row.folder / f"{run['task']}{ENDING}", answers)
    )
    # A row on a part of the examples is on the part that its settings draw, never on the best one.
    units = list(
        Subset.draw(
            units, "", *example_limits(formulation.settings, split, run["seed"]), split
        ).used
    )
    places, _ = matching.match(file, units, split)
    given = values.read(formulation.task, file, values.Reading("bio", any_scale=True))
    return formulation, list(zip(units, places, strict=True)), [given[place] for place in places]


def _compute_figures(
    formulation: Formulation,
    units: Sequence[Mapping[str, Any]],
    answers: Sequence[Any],
    losses: Sequence[float] | None,
) -> dict[str, float]:
    right = [formulation.gold(dict(unit)) for unit in units]
    figures = formulation.score(right, answers, [unit.get("doc_id") for unit in units])
    return (
        figures
        if losses is None
        else {**figures, formulation.loss: formulation.mean_loss(right, losses)}
    )

"""The row of scores that the files of a row claim."""

from __future__ import annotations

from collections.abc import Sequence

from blurb import metrics, tasks
from blurb.results.dataset_scores import LIMITS, PLUGINS, SETTINGS, DatasetScores, Figure, Run, plugins_text
from blurb.results.row_scores import Origin, RowScores
from blurb.row_files.reading import Row
from blurb.row_files.writing import RunFile
from blurb.store.trial import Configuration
from blurb.tasks import SCORED


def scores(row: Row) -> RowScores:
    """The scores that a row claims."""
    about = row.about
    runs: dict[str, list[RunFile]] = {task: [] for task in about["planned"] if tasks.known(task)}
    for run in about["runs"]:
        runs.setdefault(run["task"], []).append(run)
    return RowScores(
        model=about["model"],
        datasets={task: _dataset(task, its, len(about["planned"].get(task, its))) for task, its in runs.items()},
        origin=Origin.BOARD,
        configuration=Configuration(
            about["protocol"], about["protocol_hash"], about["overrides"], about["precision"], about["suite"]
        ),
        weights=about["weights"],
        tokenizer=about["tokenizer"],
        learner=about["learner"],
        recipe=about["recipe"],
        key=row.folder.name,
        planned_seeds={task: tuple(seeds) for task, seeds in about["planned"].items()},
    )


def _dataset(name: str, runs: Sequence[RunFile], planned: int) -> DatasetScores:
    task = tasks.get(name)
    metric = metrics.get(task.metric)
    return DatasetScores(
        name,
        type=task.type,
        metric=metric.main,
        runs={run["seed"]: _run(run, metric.unscaled) for run in runs},
        planned=planned,
    )


def _run(run: RunFile, unscaled: frozenset[str]) -> Run:
    settings = run["settings"]
    shown = {name: str(settings.get(name, "")) for name in SETTINGS}
    limits = {name: str(settings.get(name) or "") for name in LIMITS}
    return Run(
        figures={
            split: {name: Figure(value if name in unscaled else 100 * value) for name, value in run[split].items()}
            for split in SCORED
            if run[split]
        },
        verdict=run["verdict"],
        data_hash=run["data"][:12],
        metrics_version=str(run["metrics_version"]),
        settings={**shown, **limits, PLUGINS: plugins_text(run["plugins"])},
        trial=run["trial"],
    )

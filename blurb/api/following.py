"""`blurb.series`: the checkpoints of pretraining runs, scored as a series."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.messages.errors import ErrorCollector, SettingsError

if TYPE_CHECKING:
    from blurb.checkpoint_series.conduct import Score
    from blurb.checkpoint_series.series import Series
    from blurb.checkpoint_series.steps import Step
    from blurb.results.references import Row
    from blurb.results.row_scores import RowScores
    from blurb.tasks import Split


def series(
    runs: Path | str | Sequence[str],
    tasks: str | Sequence[str] = "all",
    *,
    data: Path | str | None = None,
    raw: Path | str | None = None,
    suite: str = "blurb",
    protocol: str = "sketch",
    full: str | None = None,
    budget: str | None = None,
    pattern: str | None = None,
    require: Sequence[int] = (),
    split: Split = "dev",
    beside: Sequence[Row] = (),
    output: Path | str = "runs",
    seeds: int | None = None,
    tokenizer: Path | str | None = None,
    device: str = "auto",
    precision: str = "auto",
    jobs: int = 1,
    run: bool = True,
    progress: bool = True,
) -> Series:
    """Scores the checkpoints of runs, those that are not scored yet, and returns their curves.

    :param runs: a folder with checkpoints or several, or `org/model@PATTERN` for revisions on the Hub
    :param protocol: of all checkpoints
    :param full: a dearer protocol, for the best checkpoint of each run and its last
    :param budget: such as "30m": the first, the last, the geometric middle, then where the curve bends
    :param pattern: names of the checkpoints; by default every folder that is one
    :param require: steps that each run must have
    :param split: of the scores; dev, so that a look at every checkpoint learns nothing of the test sets
    :param beside: rows to draw as lines: baselines, published ones
    :param output: store of the trials
    :param run: False scores nothing, and reads the rows that are there
    :raises BlurbError: if there are no checkpoints, or the trials cannot be planned
    """
    from blurb import tasks as tasks_
    from blurb.checkpoint_series import conduct, finding
    from blurb.checkpoint_series.series import Series
    from blurb.cost.budget import budget_seconds
    from blurb.results.references import rows_of

    wrong = ErrorCollector()
    places = [runs] if isinstance(runs, str | Path) else list(runs)
    found = wrong.tried(finding.find, places, pattern)
    chosen = wrong.tried(tasks_.load_selection, tasks.split(",") if isinstance(tasks, str) else list(tasks))
    seconds = None if budget is None else wrong.tried(budget_seconds, budget)
    lines = wrong.tried(rows_of, beside, output)
    if found is not None and (lost := finding.missing(found, require)):
        text = "; ".join(f"{name} lacks step {', '.join(map(str, steps))}" for name, steps in lost.items())
        wrong.add(SettingsError(f"Required checkpoints are missing: {text}", fix="wait for them, or change --require."))
    wrong.tell()
    assert found is not None
    assert chosen is not None
    names = [task.name for task in chosen]
    told: list[str] = []
    given = {"data": data, "raw": raw, "suite": suite, "seeds": seeds, "tokenizer": tokenizer, "device": device,
             "precision": precision, "jobs": jobs, "output": output, "progress": progress}  # fmt: skip
    score = _scorer(",".join(names), given, told) if run else _reader(Path(output))

    def value(row: RowScores) -> float | None:
        means = row.means(split)
        return statistics.fmean(means[name] for name in names) if all(name in means for name in names) else None

    if seconds is not None and run:
        scored = conduct.within(found.steps, score, protocol, value, seconds)
    else:
        scored = conduct.everything(found.steps, score, protocol)
    there = Series(scored, tuple(names), protocol, split, beside=tuple(lines or ()))
    if full is not None:
        there = replace(there, full={full: conduct.best_and_last(there, score, full)})
    return replace(there, notes=(*found.left_out, *told))


def _scorer(tasks: str, given: Mapping[str, Any], told: list[str]) -> Score:
    """Runs trials; what failed is told, and the rest goes on."""
    from blurb.api.keywords import NamedModel, run

    def score(steps: Sequence[Step], protocol: str) -> Mapping[str, RowScores]:
        models = [NamedModel(step.reference, step.name) for step in steps]
        results = run(models, tasks, protocol=protocol, **given)
        told.extend(
            f"{outcome.job.source.name} on {outcome.job.trial.task}, seed {outcome.job.trial.seed}: {outcome.message}"
            for outcome in results.failed
        )
        return {row.model: row for row in results.rows}

    return score


def _reader(store: Path) -> Score:
    """Reads the rows that are there; of two rows of one name and protocol, that of the checkpoint as it is now."""
    from blurb.results import from_store
    from blurb.store.store import Store

    rows = from_store.read(Store(store))

    def score(steps: Sequence[Step], protocol: str) -> Mapping[str, RowScores]:
        found: dict[str, RowScores] = {}
        for step in steps:
            own = [row for row in rows if row.model == step.name and row.configuration.protocol == protocol]
            if len(own) > 1:
                own = [row for row in own if row.weights == _weights(step)]
            if own:
                found[step.name] = own[0]
        return found

    return score


def _weights(step: Step) -> str:
    from blurb.checkpoints import Checkpoint

    return Checkpoint(Path(step.reference)).weights_hash if Path(step.reference).is_dir() else ""

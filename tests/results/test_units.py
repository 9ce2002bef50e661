"""The point estimate of an interval is the figure of the metric: both tables print one number for one row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from blurb import formulations, metrics, tasks
from blurb.leaderboard import intervals, ranking
from blurb.results import from_store, predictions
from blurb.statistics import bootstrap
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.results import played
from tests.store import fakes

KINDS = ("ordinary", "collapsed", "nearly collapsed", "tiny", "two units")


def answers(task: tasks.Task, kind: str, gold: list[Any], rng: random.Random) -> list[Any]:
    """Predictions of a kind; of a regression, tiny ones vary around 0, collapsed ones around a number like no other."""
    if task.type == "similarity":
        noise = {"collapsed": 1e-7, "nearly collapsed": 4e-6, "tiny": 1e-9}.get(kind, 2.0)
        start = {"collapsed": 2.7, "nearly collapsed": 3.3, "tiny": 5e-9}.get(kind, 2.0)
        return [start + noise * rng.uniform(-1, 1) for _ in gold]
    if kind in ("collapsed", "nearly collapsed"):  # one answer everywhere
        one = gold[0]
        return [[one[0]] * len(unit) if task.type in ("ner", "pico") else one for unit in gold]
    return [
        unit if rng.random() < (0.02 if kind == "tiny" else 0.6) else played.wrong(task, unit, rng)
        for unit in gold
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", played.NAMES)
def test_the_interval_is_around_the_metric(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 50)
    task, store = tasks.get(name), Store(tmp_path)
    formulation = formulations.bind(task, {})
    trials = [fakes.trial(name, seed) for seed in (1, 2)]
    for trial in trials:
        rng = random.Random(f"{name} {kind} {trial.seed}")
        truth = random.Random(name)
        size = 2 if kind == "two units" else 60
        columns: dict[str, list[Any]] = {
            "gold": [played.gold_of(task, truth) for _ in range(2 * size)]
        }
        columns["split"] = ["dev"] * size + ["test"] * size
        columns["id"] = [str(number) for number in range(2 * size)]
        columns["doc_id"] = [str(number // 2) for number in range(2 * size)]
        columns["prediction"] = answers(task, kind, columns["gold"], rng)
        columns["majority"], columns["scores"] = columns["gold"], [None] * (2 * size)
        played.finish(store, "m", trial, formulation, columns)
    rows.write(store, fakes.row("m", *trials))
    (row,) = from_store.read(store)
    found = predictions.load(row.records[name])
    assert found.scores.tolist() == pytest.approx(row.values(name), abs=1e-6)
    assert bootstrap.spread(found, name, 50).mean == pytest.approx(row.means()[name], abs=1e-6)
    assert ranking.entry(row).values[name].mean == pytest.approx(row.means()[name], abs=1e-6)


def test_every_metric_is_that_of_a_task_or_a_task_file_may_choose_it() -> None:
    chosen = {name for kind in tasks.types.names() for name in tasks.types.get(kind).metrics}
    assert {task.metric for task in tasks.all() if task.paper_order} | chosen == set(
        metrics.names()
    )


def test_runs_of_other_means_are_mixed_as_they_are() -> None:
    """The oracle is the metric of the mixed predictions themselves."""
    rng = random.Random(0)
    gold = [rng.uniform(0, 4) for _ in range(30)]
    first, second = ([rng.gauss(mean, 0.1) for _ in gold] for mean in (1.0, 3.0))
    counts = [metrics.get("pearson").counts(gold, predicted) for predicted in (first, second)]
    swapped = [bool(rng.getrandbits(1)) for _ in gold]
    mixed = [two if swap else one for one, two, swap in zip(first, second, swapped, strict=True)]
    moved = metrics.get("pearson").aligned(*counts)
    sums = sum(
        two if swap else one for one, two, swap in zip(counts[0], moved, swapped, strict=True)
    )
    assert metrics.get("pearson").score(sums) == pytest.approx(
        metrics.pearson(gold, mixed)["pearson"], abs=1e-12
    )
    distances = [abs(right - answer) for right, answer in zip(gold, first, strict=True)]
    assert metrics.get("pearson").mistakes(counts[0]).tolist() == pytest.approx(distances)

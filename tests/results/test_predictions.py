"""Predicted examples as sums, and the best constant answer. Oracles: counted by hand, scikit-learn, every answer."""

import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import f1_score

from blurb import formulations, metrics, records, tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.data.schema import Example
from blurb.leaderboard import intervals, ranking, terminal
from blurb.regression import Outcome, Rules, decide_check, forms
from blurb.regression.rules import Limit
from blurb.results import from_store, predictions
from blurb.results.row import Row
from blurb.statistics import bootstrap
from blurb.store import row_trials as rows
from blurb.store.record import Record
from blurb.store.store import Store
from tests.leaderboard.test_terminal import printed
from tests.results import played
from tests.store import fakes
from tests.store.fakes import row, trial, write

LABELS = tasks.get("hoc").labels


@pytest.fixture
def partly(tmp_path: Path) -> dict[int, Record]:
    """A run of which two texts are one document, and two have none."""
    store, trial = Store(tmp_path), fakes.trial("hoc")
    columns: dict[str, list[Any]] = {
        "split": ["dev"] * 4 + ["test"] * 4,
        "id": [f"{split}.{i}" for split in ("dev", "test") for i in range(4)],
        "doc_id": ["a", "a", None, None] * 2,
        "gold": [[LABELS[0]], [LABELS[1]], [LABELS[0]], [LABELS[2]]] * 2,
        "prediction": [[LABELS[0]], [], [LABELS[1]], []] * 2,
        "majority": [[]] * 8,
        "scores": [None] * 8,
    }
    played.finish(store, "m", trial, formulations.bind(tasks.get("hoc"), {}), columns)
    rows.write(store, fakes.row("m", trial))
    (row,) = from_store.read(store)
    return row.records_of("hoc")


def test_a_text_without_a_document_is_one_of_its_own(partly: dict[int, Record]) -> None:
    found = predictions.load_clusters(partly)
    assert len(found.names) == len(set(found.names)) == found.counts.shape[1] == 3
    assert found.counts[0].tolist() == [[1, 1, 2], [0, 1, 1], [0, 0, 1]]  # right, predicted, gold
    assert list(predictions.mistakes(partly, "test").values()) == [1, 2, 1]


def test_where_nothing_is_left_there_are_no_clusters(partly: dict[int, Record]) -> None:
    left = predictions.load_clusters(partly, drop={"test.0", "test.1"})
    assert left.counts[0].tolist() == [[0, 1, 1], [0, 0, 1]]
    assert predictions.load_clusters(partly, drop={f"test.{i}" for i in range(4)}) is None
    assert predictions.load_clusters({}) is None


def stored(
    folder: Path, gold: list[str], predicted: list[str], score: float, seeds: int = 1
) -> Row:
    """A row of GAD with these answers on dev and test."""
    store = Store(folder)
    columns = {
        "split": ["dev"] * len(gold) + ["test"] * len(gold),
        "id": [f"{place}" for place in range(2 * len(gold))],
        "doc_id": [None] * 2 * len(gold),
        "gold": gold * 2,
        "prediction": predicted * 2,
        "majority": ["0"] * 2 * len(gold),
        "scores": [None] * 2 * len(gold),
    }
    figures = {
        "metrics_version": 1,
        "metric": "f1",
        "dev": {"f1": score},
        "test": {"f1": score},
        "majority": {"dev": {"f1": 0.0}, "test": {"f1": 0.0}},
    }
    trials = [trial("gad", seed) for seed in range(1, seeds + 1)]
    for one in trials:
        write(store, "m", one, columns, figures)
    rows.write(store, row("m", *trials))
    (found,) = from_store.read(store)
    return found


def test_gad_has_the_f1_of_all_positive(tmp_path: Path) -> None:
    gold = ["1", "0", "1", "1", "0"]
    one = stored(tmp_path, gold, gold, 1.0, seeds=2)
    assert predictions.best_constant(one, "gad") == pytest.approx(
        100 * f1_score(gold, ["1"] * 5, pos_label="1")
    )
    assert not predictions.equals_a_constant(one, "gad")
    assert "constant answer" not in printed(terminal.card(one))


def test_a_row_with_the_score_of_a_constant_says_so(tmp_path: Path) -> None:
    one = stored(tmp_path, ["1", "0", "1", "1", "0"], ["1"] * 5, 0.75)
    assert predictions.equals_a_constant(one, "gad")
    text = printed(terminal.card(one))
    assert "gad: the score of a constant answer." in text
    assert "75.00" in text.split("constant", 1)[1]
    many = printed(terminal.render_rows([replace(one, label=name) for name in "abcde"]))
    assert many.count("the score of a constant answer") == 1
    assert re.search(r"best constant +75\.00\n", many)


def dead(folder: Path, name: str) -> Row:
    return replace(stored(folder, ["1", "0", "1", "1", "0"], ["1"] * 5, 0.75), label=name)


def test_a_check_of_two_dead_checkpoints_says_so_in_every_form(tmp_path: Path) -> None:
    """A pass of two constant answers was green without a word."""
    decision = decide_check(
        dead(tmp_path / "a", "new"), dead(tmp_path / "b", "old"), Rules(default=Limit(5.0))
    )
    said = "The score of a constant answer: new on gad; old on gad."
    assert (decision.outcome, decision.constant) == (Outcome.PASS, said)
    assert said in decision.notes  # which the terminal prints
    assert said in forms.job_summary(decision)
    assert said in decision.to_junit().decode()
    assert records.of(forms.Check, decision)["constant"] == said
    assert forms.workflow_commands(decision) == [f"::warning title=blurb::{said}"]


@pytest.mark.extensions
def test_a_series_of_dead_checkpoints_says_so(tmp_path: Path) -> None:
    from blurb.extensions.series.curves import Scored, Step
    from blurb.extensions.series.series import Series

    scored = tuple(
        Scored(Step("run", step, ""), dead(tmp_path / str(step), f"run@{step}"))
        for step in (100, 200, 300)
    )
    series = Series(scored, ("gad",), "quick")
    said = " ".join(series.reading())
    assert "run: gad has the score of a constant answer at every step." in said
    assert "run: gad is 75.00 at all 3 checkpoints: none is best." in said
    assert "constant answer" in series.markdown()
    assert {line["constant"] for line in series.lines() if line["measure"] == "score"} == {True}


def test_it_is_empty_without_predictions(tmp_path: Path) -> None:
    one = stored(tmp_path, ["1", "0"], ["1", "1"], 0.5)
    assert predictions.best_constant(one, "hoc") is None
    shutil.rmtree(next(tmp_path.glob("*/gad")))
    predictions._known.clear()
    assert predictions.best_constant(one, "gad") is None
    assert not predictions.equals_a_constant(one, "gad")


def test_gad_as_it_is(real_rows: Callable[[str, tasks.Split], list[Example]]) -> None:
    """docs/results, "best constant": 68.96 on GAD, which is the F1 of all positive."""
    rows_, formulation = real_rows("gad", "test"), formulations.bind(tasks.get("gad"))
    found = formulation.best_constant([formulation.gold(one) for one in rows_], [None] * len(rows_))
    assert found == pytest.approx(0.6896, abs=5e-5)


@pytest.mark.parametrize("task", tasks.all(), ids=lambda task: task.name)
def test_no_constant_of_a_task_is_better(task: tasks.Task) -> None:
    formulation = formulations.bind(task)
    units = formulation.units(read_split(task, demo.prepare(), "test"))
    gold, documents = (
        [formulation.gold(unit) for unit in units],
        [unit.get("doc_id") for unit in units],
    )
    scores = [
        formulation.main_metric(
            formulation.score(
                gold, [formulation.constant(answer, unit) for unit in units], documents
            )
        )
        for answer in formulation.constants(units)
    ]
    assert formulation.best_constant(gold, documents) == max(scores)
    assert formulation.best_constant([], []) is None


# The point estimate of an interval is the figure of the metric: both tables print one number for one row.


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


@pytest.mark.parametrize("kind", ["ordinary", "collapsed", "nearly collapsed", "tiny", "two units"])
@pytest.mark.parametrize("name", played.NAMES)
def test_the_interval_is_around_the_metric(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 50)
    task, store = tasks.get(name), Store(tmp_path)
    formulation = formulations.bind(task, {})
    trials = [fakes.trial(name, seed) for seed in (1, 2)]
    for planned in trials:
        rng = random.Random(f"{name} {kind} {planned.seed}")
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
        played.finish(store, "m", planned, formulation, columns)
    rows.write(store, fakes.row("m", *trials))
    (row,) = from_store.read(store)
    found = predictions.load_clusters(row.records[name])
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

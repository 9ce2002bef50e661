"""The main job, whole, on the demo suite: every task is learned, none is trivial, and permuted labels teach nothing."""

import random
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import Result

from blurb import data, formulations, tasks
from blurb.checkpoints import ModelSource, scratch
from blurb.corpora import demo
from blurb.execution.engines import here
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.frozen.probe import ProbeLearner
from blurb.messages.errors import TrainingError
from blurb.planning import trials
from blurb.protocols import protocol
from blurb.results import from_store, tables
from blurb.results.leaderboard_csv import read_lines
from blurb.results.row import Row
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.cli.in_process import ran, run
from tests.planning.requests import request

ALL = [task.name for task in tasks.all() if task.paper_order]
FEW = ["bc2gm", "ebm-pico", "ddi", "biosses", "hoc", "bioasq"]
"""A dataset of each type; the others are slow."""


@pytest.fixture(scope="module")
def source() -> ModelSource:
    return building.resolve_model(
        str(scratch.build("scratch:tiny", demo.prepare())), name="scratch:tiny"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("main-job")


@pytest.fixture(scope="module")
def row(source: ModelSource, folder: Path) -> Row:
    return _run(source, [tasks.get(name) for name in FEW], folder)


@pytest.fixture(scope="module")
def whole(row: Row, source: ModelSource, folder: Path) -> Row:
    """The row that `make demo` makes."""
    return _run(source, tasks.all(), folder)


def _run(source: ModelSource, chosen: Sequence[tasks.Task], folder: Path) -> Row:
    names = ",".join(task.name for task in chosen)
    asked = request(folder / "runs", source, tasks_=names, protocol_="demo", suite="demo")
    outcomes = trials.run(
        [trials.prepare(asked)], here(), lambda outcome: None, lambda job, news: None
    )
    assert [
        outcome.message for outcome in outcomes if outcome.status not in ("done", "already done")
    ] == []
    (result,) = tables.rebuild(Store(folder / "runs"), folder / "leaderboard.csv")
    return result


@pytest.mark.slow
def test_the_demo_has_a_complete_score(whole: Row) -> None:
    assert whole.complete
    assert whole.score is not None
    assert whole.data == "synthetic"
    assert set(whole.datasets) == set(ALL)


@pytest.mark.costly
@pytest.mark.parametrize("name", FEW)
def test_a_task_is_learned_and_not_trivial(row: Row, name: str) -> None:
    _check_learned(row, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(ALL) - set(FEW)))
def test_so_are_the_others(whole: Row, name: str) -> None:
    _check_learned(whole, name)


def _check_learned(row: Row, name: str) -> None:
    (score,), majority = row.values(name), row.datasets[name].majority()
    assert majority + 10 <= score < 97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "column"),
    [("ddi", "label"), ("hoc", "labels"), ("bc5-chem", "tags"), ("bioasq", "label")],
)
def test_permuted_labels_teach_nothing(
    source: ModelSource, whole: Row, name: str, column: str, tmp_path: Path
) -> None:
    """Trained on labels that were dealt out anew, a model falls to what needs no reading."""
    task = tasks.get(name)
    content = data.load_task(task, demo.prepare())
    settings = protocol.load_protocol_file("demo").settings(
        task, {"epochs": 3, "select": "last"}, source.parameters
    )
    formulation = formulations.bind(task, settings)
    units = {split: formulation.units(content.splits[split]) for split in tasks.SPLITS}
    rng = random.Random(0)
    if column == "tags":  # permuted within the sentence, so that they still fit its words
        train = [
            {**unit, column: rng.sample(unit[column], len(unit[column]))} for unit in units["train"]
        ]
    else:
        dealt = [unit[column] for unit in units["train"]]
        rng.shuffle(dealt)
        train = [{**unit, column: label} for unit, label in zip(units["train"], dealt, strict=True)]
    learner = building.learner(source, formulation, "cpu", "fp32")
    learner.fit(
        Subset(train, f"permuted {name}"), Subset(units["dev"], f"{name} dev"), 1, lambda *_: None
    )
    predicted, *_ = learner.predict(Subset(units["test"], f"{name} test"))
    gold = [formulation.gold(unit) for unit in units["test"]]
    score = 100 * formulation.main_metric(
        formulation.score(gold, predicted, [u.get("doc_id") for u in units["test"]])
    )
    (learned,), majority = whole.values(name), whole.datasets[name].majority()
    assert score <= majority + 8
    assert score < learned - 10


# `blurb run --protocol probe`, whole, on the demo suite.


RUN = (
    "run",
    "scratch:tiny",
    "--suite",
    "demo",
    "--protocol",
    "probe",
    "--device",
    "cpu",
    "--precision",
    "fp32",
)


def blurb(*arguments: str) -> Result:
    return run(*RUN, *arguments)


@pytest.mark.costly
def test_a_row_of_probes(here: Path) -> None:
    result = blurb("--tasks", "gad,biosses,pubmedqa")
    assert result.exit_code == 0, result.output
    (row,) = from_store.read(Store(here / "runs"))
    assert (row.learner, set(row.records), row.data) == (
        "probe",
        {"gad", "biosses", "pubmedqa"},
        "synthetic",
    )
    assert all(row.values(name)[0] > (row.datasets[name].majority() or 0.0) for name in row.records)
    assert row.note == (
        "it had met nothing of these datasets before; "
        "probe of the frozen encoder: no ranking of encoders, no run variance"
    )
    assert [
        (line["learner"], line["protocol"], line["score_sd"])
        for line in [line for _, line in read_lines(here / "runs" / "leaderboard.csv")]
    ] == [("probe", "probe", "")]
    before = (here / "runs" / "results.csv").read_bytes()
    assert blurb("--tasks", "gad,biosses,pubmedqa").stderr.count("already done") == 3
    ran(["rescore", "--output", "runs"])
    assert (here / "runs" / "results.csv").read_bytes() == before


@pytest.mark.costly
def test_a_row_of_probes_that_all_failed_is_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What learned is known of what was planned; it was asked of finished trials alone."""

    monkeypatch.setattr(ProbeLearner, "fit", Mock(side_effect=TrainingError("none of this")))
    result = run(RUN[0], "baseline:majority", *RUN[1:], "--tasks", "gad")
    assert result.exit_code == 1
    store = Store(here / "runs")
    assert {row.model: row.learner for row in rows.read(store)} == {
        "scratch:tiny": "probe",
        "baseline:majority": "",
    }
    assert [(row.model, row.learner) for row in from_store.read(store)] == [
        ("baseline:majority", "baseline")
    ]
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert blurb("--tasks", "gad").exit_code == 0
    assert [(row.model, row.learner) for row in from_store.read(store)] == [
        ("baseline:majority", "baseline"),
        ("scratch:tiny", "probe"),
    ]


@pytest.mark.slow
def test_the_demo_has_a_row_of_probes(here: Path) -> None:
    result = blurb()
    assert result.exit_code == 0, result.output
    (row,) = from_store.read(Store(here / "runs"))
    assert (row.learner, row.complete, row.data) == ("probe", True, "synthetic")
    assert row.spread is None  # one fit has no run variance
    assert [
        name for name in row.records if row.values(name)[0] < (row.datasets[name].majority() or 0.0)
    ] == []
    assert row.score is not None

"""One trial from its data to its files. Oracle: the files of the demo suite read by hand, scikit-learn, and hashlib."""

import csv
import hashlib
import json
import logging
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics

from blurb import data, formulations, metrics, tasks
from blurb.checkpoints import ModelSource
from blurb.corpora import demo
from blurb.execution import worker
from blurb.execution.environment import describe_environment
from blurb.execution.job import Job, TrialProgress
from blurb.execution.worker import execute_job
from blurb.formulations.relation import Relation
from blurb.inputs import tokenized_split
from blurb.learners import building
from blurb.learners.base import Learner
from blurb.learners.baselines.constants import Majority
from blurb.messages.errors import DataError
from blurb.planning import trials
from blurb.store.record import read_predictions
from blurb.store.store import FILES, Store, read_json
from blurb.system import leases
from blurb.system.lease_records import LeaseRecord
from blurb.system.signals import Terminated
from tests.conftest import Builder
from tests.planning.requests import request
from tests.rewriting import csv_lines

MAJORITY = building.resolve_model("baseline:majority")


@pytest.fixture
def job(suite: Path, tmp_path: Path) -> Callable[..., Job]:
    """One job of the smoke protocol: at most 64 units a split."""

    def planned(
        source: ModelSource = MAJORITY,
        task: str = "gad",
        seed: int = 1,
        folder: Path = suite,
        name: str = "runs",
        **overrides: Any,
    ) -> Job:
        asked = request(
            tmp_path / name, source, tasks_=task, data=folder, overrides=overrides, suite="demo"
        )
        return trials.job(asked, source, tasks.get(task), seed)

    return planned


def gad(folder: Path, split: str) -> dict[str, str]:
    """Label by id, as they stand in a file of GAD."""
    with (folder / "GAD" / f"{split}.tsv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {f"{split}.{line['index']}": line["label"] for line in lines}


def failure_of(job: Job) -> Path:
    return job.path.with_name(f"{job.path.name}.failed.json")


@pytest.mark.costly
def test_a_trial_leaves_its_files_sealed_and_nothing_else(
    job: Callable[..., Job], suite: Path
) -> None:
    one = job(max_train=0, max_eval=0)
    begun = int(time.time())
    outcome = execute_job(one)
    assert (outcome.status, outcome.message, outcome.job) == ("done", "", one)
    assert {path.name for path in one.path.iterdir()} == {*FILES, "DONE.json"}
    assert ({path.name for path in one.path.parent.iterdir()} - {one.path.name}) == set()
    assert read_json(one.path / "DONE.json")["sha256"] == {
        name: hashlib.sha256((one.path / name).read_bytes()).hexdigest() for name in FILES
    }

    spec = read_json(one.path / "spec.json")
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    assert one.path.name == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert (spec["task"], spec["seed"], spec["weights"]) == ("gad", 1, "baseline:majority")

    truth = {split: gad(suite, split) for split in tasks.SPLITS}
    ((frequent, _),) = Counter(truth["train"].values()).most_common(1)
    columns = read_predictions(one.path / "predictions.parquet")
    assert list(columns) == ["split", "id", "doc_id", "gold", "prediction", "majority", "scores"]
    assert list(zip(columns["split"], columns["id"], columns["gold"], strict=True)) == [
        (split, name, label) for split in ("dev", "test") for name, label in truth[split].items()
    ]
    assert set(columns["prediction"]) == set(columns["majority"]) == {frequent}

    figures = read_json(one.path / "metrics.json")
    assert (figures["metric"], figures["metrics_version"]) == ("f1", metrics.VERSION)
    for split in ("dev", "test"):
        gold = list(truth[split].values())
        expected = sklearn.metrics.f1_score(
            gold, [frequent] * len(gold), pos_label="1", zero_division=0
        )
        assert figures[split]["f1"] == figures["majority"][split]["f1"] == pytest.approx(expected)

    told = read_json(one.path / "provenance.json")
    assert (
        begun
        <= time.mktime(time.strptime(told["started"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
        <= time.time()
    )
    assert told["configuration"] == asdict(one.configuration)
    assert (told["model"], told["data_verdict"]) == (
        "baseline:majority",
        data.load_task(tasks.get("gad"), suite).verdict,
    )
    assert told["environment"] == describe_environment("cpu")
    facts = told["facts"]
    assert facts["train_units"] == len(truth["train"])
    assert (facts["features_version"], facts["answer"]) == (tokenized_split.VERSION, frequent)
    assert facts["train_seconds"] >= 0 <= facts["predict_seconds"]
    assert facts["predicted"]["seconds"] == 0.0  # nobody asked
    assert "declaration" not in told  # no task file
    assert (one.path / "history.csv").read_text() == "epoch,loss,learning_rate,dev\n"
    log = (one.path / "log.txt").read_text()
    assert re.search(
        rf"INFO blurb: trial {one.path.name}: baseline:majority on gad, seed 1$", log, re.MULTILINE
    )


@pytest.mark.costly
def test_a_drawn_part_is_of_the_right_size_and_the_same_for_one_seed(
    job: Callable[..., Job], suite: Path
) -> None:
    def drawn(one: Job) -> tuple[list[str], list[str]]:
        assert execute_job(one).status == "done"
        columns = read_predictions(one.path / "predictions.parquet")
        assert Counter(columns["split"]) == {"dev": 7, "test": 7}
        assert read_json(one.path / "provenance.json")["facts"]["train_units"] == 9
        assert len(set(columns["id"])) == 14
        truth = {**gad(suite, "dev"), **gad(suite, "test")}
        assert [truth[name] for name in columns["id"]] == columns["gold"]
        return columns["id"], columns["gold"]

    few = {"max_train": 9, "max_eval": 7}
    first = drawn(job(**few))
    assert drawn(job(name="again", **few)) == first
    assert drawn(job(seed=2, **few)) != first
    shared = [drawn(job(seed=seed, eval_seed=5, **few)) for seed in (1, 2)]
    assert shared[0] == shared[1]  # `eval_seed` draws dev and test, whatever the seed


@pytest.mark.costly
def test_an_encoder_repeats_its_trial_to_the_byte(
    job: Callable[..., Job], checkpoint: Builder, tmp_path: Path
) -> None:
    """Where and when it ran is in the provenance and the log, and in no other file."""
    source = building.resolve_model(str(checkpoint("bert_uncased")), name="tiny")
    small = {"max_train": 16, "max_eval": 8, "epochs": 2, "batch_size": 8, "lr": 0.02}
    heard: list[TrialProgress] = []
    found = []
    for name in ("one", "two"):
        planned = replace(job(source, "biosses", name=name, **small), predicted=12.3456)
        assert execute_job(planned, heard.append).message == ""
        found.append(planned.path)
    for name in ("spec.json", "predictions.parquet", "metrics.json", "history.csv"):
        assert (found[0] / name).read_bytes() == (found[1] / name).read_bytes(), name
    assert [epoch["epoch"] for epoch in csv_lines(found[0] / "history.csv")] == ["1", "2"]
    told = read_json(found[0] / "provenance.json")
    assert told["parameters"] == source.parameters
    assert told["facts"]["predicted"] == {
        "learner": "encoder",
        "type": "similarity",
        "seconds": 12.35,
    }
    # Features are of all units
    assert told["facts"]["train_inputs"]["units"] > told["facts"]["train_units"] == 16
    columns = read_predictions(found[0] / "predictions.parquet", split="test")
    inside = np.clip(columns["prediction"], 0, 4)  # the scale of BIOSSES
    correlation = scipy.stats.pearsonr(columns["gold"], inside).statistic
    assert read_json(found[0] / "metrics.json")["test"]["pearson"] == pytest.approx(
        correlation, abs=1e-6
    )
    (last,) = {
        (news.done, news.total, news.epoch, news.epochs)
        for news in (heard[len(heard) // 2 - 1], heard[-1])
    }
    assert last == (4, 4, 2, 2)
    assert heard[0] == TrialProgress(epochs=2)
    assert not (tmp_path / "one" / "trackers").exists()


@pytest.mark.costly
def test_the_metrics_alone_are_damaged_and_nothing_is_trained_again(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = job()
    assert execute_job(one).status == "done"
    right = (one.path / "metrics.json").read_bytes()
    (one.path / "metrics.json").unlink()
    monkeypatch.setattr(building, "learner", lambda *given: pytest.fail("it was trained again"))
    assert execute_job(one).status == "already done"
    assert (one.path / "metrics.json").read_bytes() == right


@pytest.mark.costly
def test_any_error_is_that_of_one_trial_and_is_gone_when_it_succeeds(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = job()
    handlers = list(logging.getLogger("blurb").handlers)

    def breaks(self: Learner, *given: object) -> object:
        raise ZeroDivisionError("by nothing")

    with monkeypatch.context() as patch:
        patch.setattr(Majority, "fit", breaks)
        patch.setenv("HUB_TOKEN", "by nothing")
        hidden = execute_job(one)
        assert "by nothing" not in failure_of(one).read_text()
        patch.delenv("HUB_TOKEN")
        outcome = execute_job(one)
    assert (outcome.status, outcome.message) == ("failed", "ZeroDivisionError: by nothing")
    assert hidden.message == "ZeroDivisionError: ***"
    told = read_json(failure_of(one))
    assert (told["message"], told["trial"]) == (outcome.message, one.trial.content)
    assert "in breaks" in told["traceback"]
    assert {path.name for path in one.path.parent.iterdir()} == {failure_of(one).name}
    assert logging.getLogger("blurb").handlers == handlers
    assert execute_job(one).status == "done"
    assert not failure_of(one).exists()


@pytest.mark.costly
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(143), Terminated(12)])
@pytest.mark.parametrize("hidden", [False, True])
def test_an_interrupt_ends_it_and_leaves_nothing(
    interrupt: BaseException, hidden: bool, job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the clean-up of a library fails on the way out, and says something else."""
    one = job()

    def interrupted(self: Learner, *given: object) -> object:
        try:
            raise interrupt
        finally:
            if hidden:
                raise RuntimeError("trying to pop from empty mode stack")

    monkeypatch.setattr(Majority, "fit", interrupted)
    with pytest.raises(type(interrupt)):
        execute_job(one)
    assert list(one.path.parent.iterdir()) == []


@pytest.mark.costly
def test_data_that_changed_since_the_plan_fail(
    job: Callable[..., Job], suite: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    demo.write(folder)
    one = job(folder=folder)
    path = folder / "GAD" / "train.tsv"
    path.write_text(
        "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8"
    )
    outcome = execute_job(one)
    assert outcome.status == "failed"
    assert str(folder) in outcome.message
    assert not one.path.exists()
    assert execute_job(job(folder=folder)).status == "done"  # planned anew


@pytest.mark.costly
def test_a_store_of_another_schema_is_left_as_it_is(job: Callable[..., Job]) -> None:
    one = job()
    execute_job(one)
    (one.store / "store.json").write_text('{"schema": 99}')
    before = {path: path.read_bytes() for path in one.store.rglob("*") if path.is_file()}
    outcome = execute_job(one)
    assert outcome.status == "failed"
    assert "99" in outcome.message
    assert {path: path.read_bytes() for path in one.store.rglob("*") if path.is_file()} == before


@pytest.mark.costly
def test_of_two_that_are_given_one_trial_the_second_passes_it_over(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = job()
    fit, fitted = Majority.fit, []
    both = threading.Barrier(2)

    def slow(self: Majority, *given: Any) -> Any:
        fitted.append(threading.get_ident())
        time.sleep(0.3)
        return fit(self, *given)

    monkeypatch.setattr(Majority, "fit", slow)

    def work(_: int) -> str:
        both.wait()
        return execute_job(one).status

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(work, range(2))) == ["done", "held"]
    assert len(fitted) == 1
    assert execute_job(one).status == "already done"


@pytest.mark.costly
@pytest.mark.parametrize("ends", [True, False])
def test_a_trial_that_was_taken_over_is_the_others(
    job: Callable[..., Job], ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While this process slept in its training, another one took its lease, and its temporary folder away."""
    one = job()
    lease, fit = Store(one.store).lease(one.path), Majority.fit
    other = replace(LeaseRecord.me(), host="elsewhere", boot="other")

    def sleeps(self: Majority, *given: Any) -> Any:
        lease.unlink()
        lease.write_bytes(other.content())
        if not ends:
            for left in one.path.parent.glob(".*.new"):
                shutil.rmtree(left)
        return fit(self, *given)

    monkeypatch.setattr(Majority, "fit", sleeps)
    outcome = execute_job(one)
    assert (outcome.status, outcome.message) == ("held", f"process {other.pid} on elsewhere")
    assert list(one.path.parent.iterdir()) == [lease]
    assert lease.read_bytes() == other.content()


@pytest.mark.costly
def test_who_lost_its_lease_stops_training(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = job()
    lease = Store(one.store).lease(one.path)
    monkeypatch.setattr(leases, "BEAT", 0.01)

    def sleeps(
        self: Majority, train: Any, dev: Any, seed: int, step: Callable[[int, int], None]
    ) -> Any:
        step(1, 100)
        lease.unlink()
        limit = time.monotonic() + 20
        for done in range(2, 10**6):
            assert time.monotonic() < limit
            time.sleep(0.01)
            step(done, done)

    monkeypatch.setattr(Majority, "fit", sleeps)
    assert execute_job(one).status == "held"
    assert list(one.path.parent.iterdir()) == []


@pytest.mark.costly
def test_a_trial_that_another_finished_meanwhile_is_counted_once(
    job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, fit = job(), Majority.fit
    theirs = job(name="theirs")
    assert execute_job(theirs).status == "done"

    def late(self: Majority, *given: Any) -> Any:
        shutil.copytree(theirs.path, one.path)
        return fit(self, *given)

    monkeypatch.setattr(Majority, "fit", late)
    assert execute_job(one).status == "already done"
    for path in theirs.path.iterdir():
        assert (one.path / path.name).read_bytes() == path.read_bytes()
    assert list(one.path.parent.iterdir()) == [one.path]


def test_a_split_without_units_is_refused_by_the_name_of_what_made_none(suite: Path) -> None:
    class Nothing(Relation):
        def units(self, examples: Any) -> list[Any]:
            return []

    content = data.load_task(tasks.get("gad"), suite)
    with pytest.raises(DataError, match=r"test_worker\..*Nothing.* gad, dev"):
        worker.units_and_cache_key(
            Nothing(content.task, formulations.bind(content.task).settings), content, "dev"
        )
    units, key = worker.units_and_cache_key(formulations.bind(content.task), content, "dev")
    assert [unit["id"] for unit in units] == list(gad(suite, "dev"))
    assert content.hash in key


@pytest.mark.parametrize(
    ("history", "text"),
    [
        ([], "epoch,loss,learning_rate,dev\n"),
        ([{"layer": 3, "note": "a, b"}, {"layer": None, "note": ""}], 'layer,note\n3,"a, b"\n,\n'),
    ],
)
def test_a_history_is_whatever_a_learner_tried(
    history: list[dict[str, Any]], text: str, tmp_path: Path
) -> None:
    worker._write_history(tmp_path / "history.csv", history)
    assert (tmp_path / "history.csv").read_bytes() == text.encode()


@pytest.mark.costly
def test_a_trial_names_its_folder_by_model_task_and_hash(
    job: Callable[..., Job], tmp_path: Path
) -> None:
    one = job(replace(MAJORITY, name="org/model:x"))
    assert execute_job(one).status == "done"
    assert one.path.relative_to(tmp_path / "runs").parts[1:] == ("gad", one.trial.hash)
    assert Store(tmp_path / "runs").read(one.path).provenance.model == "org/model:x"

"""Trials that go on from their checkpoints: the files of an uninterrupted trial, whatever happened in between."""

import logging
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.execution import row_edits, worker
from blurb.execution.job import Job, TrialProgress
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.messages.errors import TrainingError
from blurb.planning import trials
from blurb.store import row_trials as rows, trial_checkpoints as checkpoints
from blurb.store.store import Store
from blurb.store.trial_checkpoints import TrialCheckpoints
from blurb.system.files import read_json, seal_folder, write_json
from blurb.training.loop import Trainer
from tests.conftest import Builder
from tests.planning.requests import request
from tests.store.fakes import row, trial

SAME = ("predictions.parquet", "metrics.json", "history.csv", "spec.json")
Planned = Callable[..., Job]


@pytest.fixture
def encoder(checkpoint: Builder) -> ModelSource:
    return building.resolve_model(str(checkpoint("bert_uncased")))


@pytest.fixture
def planned(suite: Path, encoder: ModelSource, tmp_path: Path) -> Planned:
    """A job of three epochs of four steps, which resumes."""

    def made(
        store: str = "runs",
        task: str = "biosses",
        source: ModelSource = encoder,
        resume: bool = True,
        **settings: Any,
    ) -> Job:
        given = {
            "overrides": {"epochs": 3, "max_eval": 16, "lr": 1e-3, **settings},
            "resume_trials": resume,
        }
        asked = request(tmp_path / store, source, tasks_=task, data=suite, suite="demo", **given)
        return trials.job(asked, source, tasks.get(task), 1)

    return made


def stop_after(step: int) -> Callable[[TrialProgress], None]:
    """Stands for a signal that comes between two steps."""
    reported: list[int] = []

    def tell(news: TrialProgress) -> None:
        if news.done >= step and not reported:
            reported.append(news.done)
            raise KeyboardInterrupt

    return tell


@pytest.fixture(autouse=True)
def _every_step_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.Reporter.__init__, "__defaults__", (0.0,))


def stopped(job: Job, step: int) -> Path:
    """Runs a job up to a step; returns its only checkpoint."""
    with pytest.raises(KeyboardInterrupt):
        execute_job(job, stop_after(step))
    assert not job.path.exists()
    assert not list(job.path.parent.glob(".*.new"))
    (checkpoint,) = checkpoints.folder_of(job.path).iterdir()
    assert checkpoint.name == f"{step:09d}"
    return checkpoint


def same(one: Job, other: Job) -> bool:
    return all((one.path / name).read_bytes() == (other.path / name).read_bytes() for name in SAME)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("biosses", {"head_init": "linear", "dev_sample": 8}),
        ("ncbi-disease", {"head": "crf", "select": "last"}),
        ("hoc", {"max_updates": 10}),
    ],
)
def test_a_trial_goes_on_from_within_an_epoch(
    planned: Planned, task: str, settings: dict[str, Any]
) -> None:
    job, plain = (
        planned(task=task, **settings),
        planned("plain", task=task, resume=False, **settings),
    )
    assert {file.suffix for file in stopped(job, 6).iterdir()} == {".safetensors", ".json"}
    told: list[TrialProgress] = []
    assert execute_job(job, told.append).status == execute_job(plain).status == "done"
    assert min(news.done for news in told if news.done) == 7
    assert same(job, plain)
    assert {path.name for path in job.path.iterdir()} == {
        path.name for path in plain.path.iterdir()
    }
    assert list(checkpoints.all_of(job.path)) == []
    facts = read_json(job.path / "provenance.json")["facts"]
    assert facts["resumed"]["step"] == 6
    assert facts["train_seconds"] >= facts["resumed"]["seconds"] > 0
    assert "resumed" not in read_json(plain.path / "provenance.json")["facts"]


@pytest.mark.costly
def test_networks_that_start_from_nothing_go_on_too(planned: Planned) -> None:
    source = building.resolve_model("baseline:bilstm,width=8,hidden=4")
    job, plain = (
        planned(task="gad", source=source),
        planned("plain", task="gad", source=source, resume=False),
    )
    stopped(job, 6)
    assert execute_job(job).status == execute_job(plain).status == "done"
    assert same(job, plain)


def test_learners_without_epochs_ignore_it(planned: Planned) -> None:
    job = planned(source=building.resolve_model("baseline:majority"))
    assert execute_job(job).status == "done"
    assert list(checkpoints.all_of(job.path)) == []


KILLED = """
import os, pickle, signal, sys
from pathlib import Path
from blurb.execution import worker
worker.Reporter.__init__.__defaults__ = (0.0,)
if __name__ == "__main__":
    job = pickle.loads(Path(sys.argv[1]).read_bytes())
    worker.execute_job(job, lambda news: os.kill(os.getpid(), signal.SIGKILL) if news.done == 6 else None)
"""


@pytest.mark.costly
def test_a_killed_process_costs_the_epoch_at_hand(planned: Planned, tmp_path: Path) -> None:
    job, plain = planned(), planned("plain", resume=False)
    (tmp_path / "script.py").write_text(KILLED)
    (tmp_path / "job").write_bytes(pickle.dumps(job))
    process = subprocess.run(
        [sys.executable, tmp_path / "script.py", tmp_path / "job"], env=os.environ, check=False
    )
    assert process.returncode == -signal.SIGKILL
    (checkpoint,) = checkpoints.folder_of(job.path).iterdir()
    assert checkpoint.name == f"{4:09d}"  # the end of the first epoch
    assert execute_job(job).status == execute_job(plain).status == "done"
    assert read_json(job.path / "provenance.json")["facts"]["resumed"]["step"] == 4
    assert same(job, plain)


@pytest.mark.costly
def test_without_the_option_a_checkpoint_is_not_read_and_goes_with_the_trial(
    planned: Planned,
) -> None:
    checkpoint = stopped(planned(), 6)
    job = planned(resume=False)
    assert execute_job(job).status == "done"
    assert "resumed" not in read_json(job.path / "provenance.json")["facts"]
    assert not checkpoint.parent.exists()


@pytest.mark.costly
def test_one_that_is_damaged_costs_time_only(planned: Planned) -> None:
    job, plain = planned(), planned("plain", resume=False)
    with (stopped(job, 6) / "optimizer.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x55")
    with pytest.warns(UserWarning, match="optimizer.safetensors missing or damaged.*begins anew"):
        assert execute_job(job).status == "done"
    assert execute_job(plain).status == "done"
    assert same(job, plain)
    assert "begins anew" in (job.path / "log.txt").read_text()
    assert list(checkpoints.all_of(job.path)) == []


@pytest.mark.costly
def test_what_fails_for_good_leaves_none(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned()
    stopped(job, 6)

    monkeypatch.setattr(
        Trainer, "_step", Mock(side_effect=TrainingError("The loss is not finite."))
    )
    assert execute_job(job).status == "failed"
    assert list(checkpoints.all_of(job.path)) == []


@pytest.mark.costly
def test_another_failure_leaves_it(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    job = planned()
    checkpoint = stopped(job, 6)
    monkeypatch.setattr(Trainer, "_step", lambda *given: 1 / 0)
    assert execute_job(job).status == "failed"
    assert checkpoint.is_dir()


# Of the files alone, without training.

TENSORS = {
    "network": {"a": torch.ones(3)},
    "optimizer": {"0.step": torch.tensor(2.0)},
    "loop": {"torch": torch.ones(2)},
}
ABOUT = checkpoints.about("h" * 16, {"torch": "2", "threads": 1})


@pytest.fixture
def place(tmp_path: Path) -> Iterator[TrialCheckpoints]:
    path = tmp_path / ("h" * 16)
    aside = tmp_path / f".{path.name}.1"
    aside.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield TrialCheckpoints(path, aside, ABOUT)


def test_only_the_newest_is_kept(place: TrialCheckpoints) -> None:
    assert place.read() is None
    for begun in (4, 8, 8):
        place.write(TENSORS, {"begun": begun})
    assert [each.name for each in checkpoints.folder_of(place.path).iterdir()] == [f"{8:09d}"]
    found = place.read()
    assert found[0].keys() == TENSORS.keys()
    assert torch.equal(found[0]["network"]["a"], TENSORS["network"]["a"])
    assert (found[0]["optimizer"]["0.step"].shape, found[1]["begun"]) == ((), 8)
    assert list(place.aside.iterdir()) == []


def test_what_was_read_outlives_its_files(place: TrialCheckpoints) -> None:
    place.write(TENSORS, {"begun": 4})
    found = place.read()
    for file in checkpoints.folder_of(place.path).glob("*/*.safetensors"):
        file.write_bytes(b"\0" * file.stat().st_size)
    assert found[0]["network"]["a"].tolist() == [1, 1, 1]


def test_one_that_named_accelerate_is_read(place: TrialCheckpoints) -> None:
    place.write(TENSORS, {"begun": 4})
    _of(checkpoints.folder_of(place.path) / f"{4:09d}", {**ABOUT, "accelerate": "1.15.0"})
    assert place.read() is not None


def _cut(folder: Path) -> None:
    file = folder / "network.safetensors"
    file.write_bytes(file.read_bytes()[:-4])


def _of(folder: Path, about: object) -> None:
    write_json(folder / "values.json", {**read_json(folder / "values.json"), "about": about})
    seal_folder(folder)


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (_cut, "network.safetensors missing or damaged"),
        (lambda folder: (folder / "SEAL.json").unlink(), "SEAL.json"),
        (lambda folder: (folder / "SEAL.json").write_text('{"sha256": 1}'), "SEAL.json"),
        (lambda folder: (folder / "values.json").write_text("{"), "values.json"),
        (lambda folder: (folder / "loop.safetensors").unlink(), "loop.safetensors"),
        (lambda folder: _of(folder, {**ABOUT, "trial": "other"}), "trial other, now hhhh"),
        (lambda folder: _of(folder, {**ABOUT, "threads": 2}), "threads 2, now 1"),
        (lambda folder: _of(folder, {**ABOUT, "schema": 0}), "schema 0, now 1"),
        (lambda folder: _of(folder, None), "another version"),
        (lambda folder: _of(folder, {**ABOUT, "new": 1}), "another version"),
    ],
    ids=range(10),
)
def test_a_damaged_or_foreign_one_is_set_aside(
    place: TrialCheckpoints,
    harm: Callable[[Path], object],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    place.write(TENSORS, {"begun": 4})
    harm(checkpoints.folder_of(place.path) / f"{4:09d}")
    with caplog.at_level(logging.WARNING, logger="blurb"):
        assert place.read() is None
    assert reason in caplog.text
    assert [each.name for each in checkpoints.all_of(place.path)] == [
        f".{place.path.name}.checkpoint-aside"
    ]
    place.write(TENSORS, {"begun": 8})  # and the next can be written
    assert place.read() is not None
    checkpoints.remove(place.path)
    assert list(checkpoints.all_of(place.path)) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_last_one(
    place: TrialCheckpoints,
    error: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    place.write(TENSORS, {"begun": 4})
    with monkeypatch.context() as patch:

        def fails(folder: Path) -> None:
            raise error

        patch.setattr(checkpoints, "seal_folder", fails)
        if isinstance(error, OSError):
            place.write(TENSORS, {"begun": 8})
            assert "No space left on device" in caplog.text
        else:
            with pytest.raises(KeyboardInterrupt):
                place.write(TENSORS, {"begun": 8})
    assert place.read()[1]["begun"] == 4
    place.write(TENSORS, {"begun": 12})
    assert [each.name for each in checkpoints.folder_of(place.path).iterdir()] == [f"{12:09d}"]


def test_they_go_with_the_row_of_their_trial(store: Store) -> None:
    with store.locked():
        store.claim("m")
    path = store.path("m", "gad", trial("gad").hash)
    aside = path.with_name(f".{path.name}.1")
    aside.mkdir(parents=True)
    TrialCheckpoints(path, aside, ABOUT).write(TENSORS, {"begun": 4})
    aside.rmdir()
    rows.write(store, row("m", trial("gad")))
    (listed,) = rows.read(store)
    size = sum(
        file.stat().st_size for file in checkpoints.folder_of(path).rglob("*.*") if file.is_file()
    )
    assert row_edits.remove(store, listed).size == size
    assert list(checkpoints.all_of(path)) == []

"""`blurb status`, `retry`, `gc` and `runs verify` on stores of which everything is known."""

import csv
import io
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.execution import stale_files, sweeps, trial_states
from blurb.store import row_contents, row_trials, trial_checkpoints as checkpoints
from blurb.store.store import NEW, Store
from blurb.system import leases
from blurb.system.files import write_json
from blurb.system.lease_records import LeaseRecord
from tests.cli.in_process import ran, run

pytestmark = pytest.mark.extensions  # a sweep that nobody runs is planned by an engine of clusters


ASKED = [
    "baseline:majority",
    "baseline:constant",
    "--suite",
    "demo",
    "--tasks",
    "gad,biosses",
    "--precision",
    "fp32",
]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sweep of four trials, of which none has run."""
    folder = tmp_path_factory.mktemp("planned")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("run", *ASKED, "--engine", "slurm", "--print").exit_code == 0
    return folder


@pytest.fixture
def store(planned: Path, here: Path) -> Store:
    shutil.copytree(planned, here, dirs_exist_ok=True)
    return Store(Path("runs"))


def trials(store: Store) -> list[trial_states.TrialStanding]:
    return trial_states.read(store)


@pytest.fixture
def mixed(store: Store) -> Iterator[Store]:
    """One trial is done, one runs, one failed, and one is saved."""
    done, running, failed, saved = (one.path for one in trials(store))
    done.mkdir(parents=True)
    for path in (running, failed, saved):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_json(row_contents.failure_of(failed), {"message": "the disk is full"})
    checkpoints.folder_of(saved).mkdir()
    lease = leases.take(store.lease(running))
    yield store
    lease.release()


def test_nothing_has_run(store: Store) -> None:
    assert trial_states.counts(trials(store)) == {"done": 0, "running": 0, "failed": 0, "to run": 4}
    found = ran(["status"])
    assert (
        "0 of 4 trials done, 4 to run; nobody runs them: run the same command again, or blurb worker"
        in " ".join(found.output.split())
    )


def test_a_row_that_cannot_be_read_is_told(store: Store) -> None:
    damaged = min(store.root.glob(f"*/{row_trials.FOLDER}/*.json"))
    damaged.write_text("{")
    found = run("status")
    assert found.exit_code == 1
    assert f"{damaged.name}: cannot be read" in found.output


def test_every_state_is_told(mixed: Store) -> None:
    assert [one.state for one in trials(mixed)] == ["done", "running", "failed", "to run"]
    assert [one.saved for one in trials(mixed)] == [False, False, False, True]
    found = run("status")
    assert found.exit_code == 1  # one failed
    text = " ".join(found.output.split())
    assert "1 of 4 trials done, 1 running, 1 failed, 1 to run" in text
    assert "the disk is full" in text
    me = LeaseRecord.me()
    assert f"{me.host}, {me.pid}" in text
    assert "starting" in text
    assert "blurb retry" in text


def test_the_time_left_is_of_as_many_workers_as_there_are() -> None:
    one = trial_states.TrialStanding("m", "gad", 1, "a", "to run", predicted=100.0)
    news = {"done": 5, "total": 20}
    running = replace(one, state="running", holder=replace(LeaseRecord.me(), news=news))
    assert running.left == pytest.approx(75)
    assert trial_states.seconds_left([running, one, one]) == pytest.approx(275)
    assert trial_states.seconds_left([running, running, one]) == pytest.approx(125)
    last = replace(one, predicted=500.0)
    # One worker has the last
    assert trial_states.seconds_left([running, running, running, last]) == pytest.approx(500)
    assert trial_states.seconds_left([one, one]) is None  # nobody works
    assert trial_states.seconds_left([running, replace(one, predicted=0.0)]) is None
    assert trial_states.seconds_left([replace(one, state="done"), running]) == pytest.approx(75)


def test_a_trial_of_a_search_is_asked_for_by_its_sweep_alone(store: Store) -> None:
    (folder,) = sweeps.folders(store.root)
    (job, *_) = sweeps.read(folder)
    sweeps.write(
        store.root,
        [replace(job, trial=replace(job.trial, settings={**job.trial.settings, "lr": 1.0}))],
    )
    (other,) = (one for one in trials(store) if not one.row)
    assert other.state == "to run"
    assert "search" in run("status").output


def test_watching_ends_when_nothing_is_left(store: Store) -> None:
    assert run("worker").exit_code == 0
    assert "4 of 4 trials done" in run("status", "--watch").output
    assert "leave out --format json" in run("status", "--watch", "--format", "json").output


def test_there_is_no_store(tmp_path: Path) -> None:
    for command in (("status",), ("gc",), ("runs", "verify")):
        assert "no store at" in str(run(*command, "--output", str(tmp_path / "none")).exception)


@pytest.mark.costly
def test_what_failed_is_passed_over_until_it_is_tried_again(store: Store) -> None:
    (first, second, *_) = trials(store)
    for one in (first, second):
        one.path.parent.mkdir(parents=True, exist_ok=True)
        write_json(row_contents.failure_of(one.path), {"message": "a bad node"})
    found = run("worker")
    assert found.exit_code == 1
    assert (
        "2 trials done here, 0 failed, 0 done before. 2 trials that failed before: blurb retry."
        in found.output
    )
    assert "1 trial can run again" in run("retry", "--later", "--tasks", first.task).output
    assert [one.state for one in trials(store)] == ["to run", "failed", "done", "done"]
    found = ran(["retry"])
    assert "1 trial done, 0 failed again." in found.output
    assert "1 trial done here" in run("worker").output
    assert "no trial of a sweep failed" in str(run("retry").exception)


def test_leftovers_go_and_nothing_else(mixed: Store) -> None:
    done, running, failed, saved = (one.path for one in trials(mixed))
    shutil.rmtree(done)
    assert "1 trial done here" in run(
        "worker", "--sweep", str(_sweep_of(mixed, done))
    ).output.replace("2 trials", "1 trial")
    before = {
        path for path in mixed.root.rglob("*") if path.is_file() and ".sweeps" not in path.parts
    }
    junk = [
        done.with_name(f".{done.name}.0123.{NEW}"),
        checkpoints.folder_of(done),
        checkpoints.folder_of(failed).with_name(f".{failed.name}.checkpoint-aside"),
    ]
    for folder in junk:
        folder.mkdir()
        (folder / "file").write_bytes(bytes(100))
    files = [row_contents.failure_of(done)]
    for file in files:
        file.write_text("{}")
    kept = running.with_name(f".{running.name}.0123.{NEW}")  # of the trial at hand
    kept.mkdir()
    found = list(csv.DictReader(io.StringIO(run("gc", "--dry-run", "--format", "csv").output)))
    assert {Path(line["path"]) for line in found} == {*junk, *files}
    assert [line["bytes"] for line in found if line["kind"] == "checkpoint"] == ["100", "100"]
    assert all(path.exists() for path in (*junk, *files))
    assert "4 leftovers removed" in run("gc").output
    after = {
        path for path in mixed.root.rglob("*") if path.is_file() and ".sweeps" not in path.parts
    }
    assert after == before
    assert kept.is_dir()
    assert checkpoints.folder_of(saved).is_dir()
    assert "0 leftovers removed" in run("gc").output


def _sweep_of(store: Store, path: Path) -> Path:
    """A sweep of one trial."""
    (folder,) = sweeps.folders(store.root)
    return sweeps.write(
        store.root, [job for job in sweeps.read(folder) if job.path.name == path.name]
    )[0]


def test_what_is_used_again_meanwhile_stays(store: Store) -> None:
    (one, *_) = trials(store)
    one.path.parent.mkdir(parents=True, exist_ok=True)
    folder = one.path.with_name(f".{one.path.name}.0123.{NEW}")
    folder.mkdir()
    found = stale_files.find(store)
    assert [each.path for each in found] == [folder]
    with leases.held(store.lease(one.path)):
        assert stale_files.remove(store, found) == []
        assert folder.is_dir()


def test_a_removed_row_is_run_by_no_worker(store: Store) -> None:
    (row, *_) = [one for one in trials(store) if one.model == "baseline:majority"]
    assert run("runs", "rm", row.model, "--yes").exit_code == 0
    assert {one.model for one in trials(store)} == {"baseline:constant"}
    assert "2 trials done here" in run("worker").output


def test_a_lease_of_a_dead_machine_goes_after_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LIMIT", 0.5)
    (one, *_) = trials(store)
    one.path.parent.mkdir(parents=True, exist_ok=True)
    lease = store.lease(one.path)
    lease.write_bytes(replace(LeaseRecord.me(), host="elsewhere").content())
    os.utime(lease, (1, 1))
    found = run("gc")
    assert "are watched" in found.stderr
    assert "1 leftover removed" in found.stdout
    assert not lease.exists()


def test_a_machine_that_sees_no_data_fails_nothing_for_the_others(store: Store) -> None:
    found = run("worker", "--data", "nowhere")
    assert "This machine does not see nowhere; nothing was run." in str(found.exception)
    assert [one.state for one in trials(store)] == ["to run"] * 4

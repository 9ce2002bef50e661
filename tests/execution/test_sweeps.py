"""A sweep says as a file what its jobs are: whoever reads it runs the same trials."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.checkpoints import ModelSource
from blurb.execution import stale_files, sweeps
from blurb.execution.data_sources import DataSource
from blurb.execution.engine import Engine, Sweep
from blurb.execution.job import Job, JobQueue
from blurb.learners import building
from blurb.messages.errors import StoreError
from blurb.planning import trials
from blurb.store.store import LEASE, ROWS_LEASE, Store
from blurb.system.files import hidden_name
from blurb.system.lease_records import LeaseRecord
from tests.cli.in_process import run
from tests.planning.test_trials import CONSTANT, DATA, FIRST, MAJORITY, SECOND, Played, request


def planned(store: Path, **changes: object) -> list[Job]:
    return trials.prepare(request(store, FIRST, SECOND, MAJORITY, seeds=2, **changes)).final  # type: ignore[return-value]


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    jobs = planned(tmp_path / "runs", keep_model="best", resume_trials=True, track="tensorboard")
    folder = sweeps.write(tmp_path / "runs", [replace(job, predicted=2.5) for job in jobs])[0]
    there = sweeps.read(folder, allow=())
    assert [one.trial.hash for one in there] == [job.trial.hash for job in jobs]
    files = {
        kind: {name: path and path.absolute() for name, path in some.items()}
        for kind, some in jobs[0].plugins.items()
    }
    assert there == [
        replace(
            job,
            predicted=2.5,
            store=tmp_path / "runs",
            plugins=files,
            source=_absolute(job.source),
            data=replace(job.data, folder=DATA.absolute()),
        )
        for job in jobs
    ]
    content = json.loads((folder / sweeps.JOBS).read_text())
    # Each value once
    assert (len(content["source"]), len(content["data"]), len(content["jobs"])) == (3, 2, len(jobs))


def _absolute(source: ModelSource) -> ModelSource:
    return (
        source
        if not source.is_checkpoint
        else replace(source, location=str(Path(source.location).absolute()))
    )


def test_its_name_is_the_hash_of_all_that_it_says_but_predictions(tmp_path: Path) -> None:
    jobs = [replace(job, predicted=2.5) for job in planned(tmp_path / "runs")]
    folder = sweeps.write(tmp_path / "runs", jobs, {"parts": [[0]]})[0]
    content = json.loads((folder / sweeps.JOBS).read_text())
    timeless = {
        **content,
        "jobs": [{**line, "predicted": 0.0} for line in content["jobs"]],
        "about": {"parts": [[0]]},
    }
    assert (
        folder.name
        == hashlib.sha256(json.dumps(timeless, sort_keys=True).encode()).hexdigest()[:12]
    )
    assert {line["predicted"] for line in content["jobs"]} == {2.5}


def test_paths_are_absolute_and_plug_ins_known(here: Path) -> None:
    (job, *_) = planned(Path("runs"))
    job = replace(
        job,
        plugins={"head": {"x": Path("heads/x.py")}},
        data=DataSource("mine/task.toml", Path("mine")),
        store=Path("runs"),
    )
    (read,) = sweeps.read(sweeps.write(Path("runs"), [job])[0].absolute(), allow=())
    assert read.plugins == {"head": {"x": here / "heads" / "x.py"}}
    assert read.data == DataSource(str(here / "mine" / "task.toml"), here / "mine")
    assert read.store == here / "runs"


def test_the_same_trials_are_the_same_sweep_which_never_changes(tmp_path: Path) -> None:
    """Whoever counts on its numbers or settings, such as queued jobs, must find them as they were."""
    jobs = planned(tmp_path)
    first = sweeps.write(tmp_path, jobs)[0]
    before = (first / sweeps.JOBS).read_bytes()
    assert sweeps.write(tmp_path, [replace(job, predicted=9.0) for job in jobs])[0] == first
    assert (first / sweeps.JOBS).read_bytes() == before
    changed = (
        [replace(job, resume=True) for job in jobs],
        [replace(job, device="cuda") for job in jobs],
    )
    others = [
        sweeps.write(tmp_path, jobs, {"x": 1})[0],
        *(sweeps.write(tmp_path, some)[0] for some in (jobs[::-1], jobs[1:], *changed)),
    ]
    assert len({first, *others}) == 6
    assert sweeps.folders(tmp_path) == [first, *others]
    there = sweeps.jobs_of(tmp_path)
    assert len(there) == len(jobs)
    assert {job.device for job in there} == {"cuda"}  # of the newest
    sweeps.end(first)
    assert sweeps.folders(tmp_path) == others


def test_one_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    jobs = planned(tmp_path)
    folder = sweeps.write(tmp_path, jobs)[0]
    damaged = sweeps.write(tmp_path, jobs[:1])[0]
    (damaged / sweeps.JOBS).write_text("{")
    told: list[str] = []
    assert len(sweeps.jobs_of(tmp_path, lambda damage: told.append(str(damage)))) == len(jobs)
    assert [str(damaged) in text for text in told] == [True]
    sweeps.end(folder)
    assert not folder.exists()
    sweeps.end_if_done(folder)  # another process was quicker


def test_trials_that_are_dropped_leave_the_numbers_of_the_others(tmp_path: Path) -> None:
    jobs = planned(tmp_path)
    folder = sweeps.write(tmp_path, jobs)[0]
    sweeps.drop(Store(tmp_path), {jobs[1].path})
    assert [job is None for job in sweeps.numbered(folder)] == [
        place == 1 for place in range(len(jobs))
    ]
    assert len(sweeps.read(folder)) == len(jobs) - 1
    assert sweeps.write(tmp_path, jobs)[0] == folder  # asked for again
    assert len(sweeps.read(folder)) == len(jobs)
    (folder / sweeps.JOBS).write_text("{")  # damaged: written anew
    assert len(sweeps.read(sweeps.write(tmp_path, jobs)[0])) == len(jobs)
    sweeps.drop(Store(tmp_path), {job.path for job in jobs})
    assert sweeps.folders(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ('{"schema": 9, "blurb": "7.1"}', "schema version 9"),
        ('{"schema": 1}', "is not a valid list of trials"),
        (
            '{"schema": 1, "plugins": {}, "source": [], "configuration": [], "data": [], "jobs": [{"trial": {}}]}',
            "'task' is missing",
        ),
    ],
)
def test_a_damaged_sweep_is_named(tmp_path: Path, content: str, message: str) -> None:
    folder = tmp_path / sweeps.FOLDER / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / sweeps.JOBS).write_text(content)
    with pytest.raises(StoreError, match=message) as error:
        sweeps.read(folder)
    assert str(folder / sweeps.JOBS) in str(error.value)


def test_a_command_leaves_its_sweep_only_if_trials_are_left(tmp_path: Path) -> None:
    seen: list[int] = []

    class Watched(Engine):
        """Counts the jobs that others could join, and fails one trial."""

        def __init__(self, failing: bool) -> None:
            self.engine = Played(lambda job: None if failing and job.trial.task == "gad" else 0.5)

        def work(self, sweep: Sweep, turns: JobQueue) -> None:
            assert sweeps.folders(tmp_path) == [sweep.folder]
            seen.append(len(sweep.jobs))
            self.engine.work(sweep, turns)

    asked = trials.prepare(request(tmp_path, CONSTANT, building.resolve_model("baseline:majority")))
    trials.run([asked], Watched(failing=True), lambda outcome: None, lambda job, news: None)
    (left,) = sweeps.folders(tmp_path)
    assert len(sweeps.read(left)) == 4
    trials.run([asked], Watched(failing=False), lambda outcome: None, lambda job, news: None)
    assert sweeps.folders(tmp_path) == []
    assert seen == [4, 4]


# What gc finds beside the trials: the lease of the rows, and copies of a killed `data prepare`.


def test_the_lease_of_the_rows(store: Store) -> None:
    store.root.mkdir()
    lease = store.root / ROWS_LEASE
    lease.write_bytes(LeaseRecord.me().content().replace(str(os.getpid()).encode(), b"999999999"))
    assert [(one.kind, one.path) for one in stale_files.find(store)] == [("stale lease", lease)]
    assert stale_files.remove(store, stale_files.find(store))
    assert not lease.exists()
    lease.write_bytes(LeaseRecord.me().content())
    assert stale_files.find(store) == []


def test_rights_to_end_a_lease_of_processes_that_were_killed_one_after_the_other(
    store: Store,
) -> None:
    trial = store.lease(store.root / "row" / "gad" / "0123456789abcdef")
    trial.parent.mkdir(parents=True)
    gone = LeaseRecord.me().content().replace(str(os.getpid()).encode(), b"999999999")
    ends = [
        lease.with_name(lease.name + end)
        for lease in (store.root / ROWS_LEASE, trial)
        for end in (".end", ".end.end", ".end.end.end")
    ]
    for path in ends:
        path.write_bytes(gone)
    mine = trial.with_name(f".fedcba9876543210{LEASE}.end")
    mine.write_bytes(LeaseRecord.me().content())
    found = stale_files.find(store)
    assert {(one.kind, one.path) for one in found} == {("stale lease", path) for path in ends}
    assert len(stale_files.remove(store, found)) == len(ends)
    assert list(trial.parent.iterdir()) == [mine], "its process lives"


def test_copies_of_a_killed_prepare(tmp_path: Path) -> None:
    left, new, mine = (
        hidden_name(tmp_path / "GAD"),
        hidden_name(tmp_path / "HoC"),
        tmp_path / ".GAD.old.tmp",
    )
    for folder in (left, new, mine, tmp_path / "GAD"):
        folder.mkdir()
        (folder / "train.tsv").write_text("x")
    for folder in (left, mine, tmp_path / "GAD"):
        os.utime(folder, (1, 1))
    listed = run("gc", "--data", str(tmp_path), "--dry-run")
    assert "1 leftover would go" in listed.output
    removed = run("gc", "--data", str(tmp_path))
    assert (removed.exit_code, "1 leftover removed" in removed.output) == (0, True)
    assert sorted(tmp_path.iterdir()) == sorted([new, mine, tmp_path / "GAD"])

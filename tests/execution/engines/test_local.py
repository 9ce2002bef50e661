"""Lanes: a worker that dies takes one trial with it, not the sweep."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from blurb.checkpoints import ModelSource
from blurb.execution import environment, job
from blurb.execution.data_sources import DataSource
from blurb.execution.engine import Launch, Sweep
from blurb.execution.engines import local
from blurb.execution.engines.local import LocalEngine
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job, OnFinished, OnProgress, TrialOutcome, TrialProgress
from tests.store import fakes


def dies(job: Job, tell: Callable[[TrialProgress], None]) -> TrialOutcome:
    """Stands for `execute`: the job called 2 kills its process."""
    if job.trial == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return TrialOutcome(job, "done")


def run(
    jobs: list[Job],
    workers: int = 1,
    on_finished: OnFinished = lambda outcome: None,
    on_progress: OnProgress = lambda job, news: None,
) -> list[TrialOutcome]:
    return LocalEngine(Launch(workers)).run_sweep(Sweep(Path(), jobs), on_finished, on_progress)


@pytest.mark.costly
def test_a_dead_worker_fails_its_trial_only(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    jobs = [
        Job(number, None, None, DataSource("gad", Path()), Path(), "cpu") for number in range(5)
    ]  # type: ignore[arg-type]
    monkeypatch.setattr(local, "execute_job", dies)
    noted: list[Any] = []
    monkeypatch.setattr(local, "note_death", lambda job, message: noted.append(job.trial))
    seen: list[TrialOutcome] = []
    outcomes = run(jobs, 2, seen.append)
    assert [outcome.status for outcome in outcomes] == ["done", "done", "failed", "done", "done"]
    assert "worker process died" in outcomes[2].message
    assert len(seen) == 5
    assert noted == [2]


@pytest.mark.costly
def test_workers_do_not_outlive_a_killed_command(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from blurb.execution.engine import Launch\n"
        "from blurb.execution.engines.local import LocalEngine\n"
        "if __name__ == '__main__':\n"
        "    pool = LocalEngine(Launch(2))._pool(2)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    script = tmp_path / "command.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    process.kill()
    process.wait()
    limit = time.time() + 20
    while Path(f"/proc/{worker}").exists() and time.time() < limit:
        time.sleep(0.2)
    assert not Path(f"/proc/{worker}").exists()


def tells(job: Job, tell: Callable[[TrialProgress], None]) -> TrialOutcome:
    """Stands for `execute`: says how far it is, and when it began."""
    tell(TrialProgress(done=int(job.trial), total=9))  # type: ignore[call-overload]
    return TrialOutcome(job, "done", message=str(time.monotonic()))


def jobs_of(times: list[float]) -> list[Job]:
    origin = DataSource("gad", Path())
    return [
        Job(number, None, None, origin, Path(), "cpu", predicted=each)
        for number, each in enumerate(times)
    ]  # type: ignore[arg-type]


@pytest.mark.costly
def test_news_of_workers_arrive_and_belong_to_their_job(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(local, "execute_job", tells)
    heard: list[tuple[object, int]] = []
    run(jobs_of([0.0] * 4), 2, on_progress=lambda job, news: heard.append((job.trial, news.done)))  # type: ignore[arg-type]
    assert sorted(heard) == [(number, number) for number in range(4)]  # type: ignore[type-var]


@pytest.mark.costly
def test_the_longest_start_first_and_outcomes_keep_their_order(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(local, "execute_job", tells)
    times = [1.0, 5.0, 0.0, 9.0, 5.0]
    assert job.longest_first(jobs_of(times)) == [3, 1, 4, 0, 2]
    jobs = jobs_of(times)
    several = LocalEngine(Launch(2))
    assert several.order(jobs) == [3, 1, 4, 0, 2]
    several.launch = Launch(1)  # of several jobs at a time, one lane: then the order can be seen
    taken = job.JobQueue(
        jobs, job.longest_first(jobs), lambda outcome: None, lambda job, news: None
    )
    several._work_in_lanes(taken, None)
    outcomes = taken.outcomes
    assert [outcome.job for outcome in outcomes] == jobs
    assert sorted(range(5), key=lambda number: float(outcomes[number].message)) == [3, 1, 4, 0, 2]


def test_one_at_a_time_they_run_as_they_were_given(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(local, "execute_job", tells)
    outcomes = run(jobs_of([1.0, 5.0, 0.0]))
    assert sorted(range(3), key=lambda number: float(outcomes[number].message)) == [0, 1, 2]


def says_where(job: Job, tell: Callable[[TrialProgress], None]) -> TrialOutcome:
    """Stands for `execute`: tells device and process; the job called 1 spoils its GPU."""
    message = (
        "CUDA error: an illegal memory access was encountered"
        if job.trial.seed == 1
        else f"{job.device} {os.getpid()}"
    )
    return TrialOutcome(job, "failed" if job.trial.seed == 1 else "done", message=message)


def placed(devices: list[str]) -> list[Job]:
    source = ModelSource("m", "checkpoint", "nowhere", "w")
    return [
        Job(fakes.trial(seed=number), source, None, DataSource("gad", Path()), Path(), device)  # type: ignore[arg-type]
        for number, device in enumerate(devices)
    ]


@pytest.mark.costly
def test_lanes_take_the_gpus_in_turn_and_one_that_is_spoilt_starts_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "execute_job", says_where)
    monkeypatch.setattr(local, "gpus_for", lambda jobs: ["cuda:0"])
    outcomes = run(placed(["auto", "cuda", "cuda", "cpu"]))
    assert [outcome.status for outcome in outcomes] == ["done", "failed", "done", "done"]
    (first, before), (second, after), (third, same) = (
        outcomes[number].message.split() for number in (0, 2, 3)
    )
    assert (first, second, third) == ("cuda:0", "cuda:0", "cpu")
    assert str(os.getpid()) not in (before, after)
    assert before != after
    assert after == same  # warm


def test_every_lane_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = ["cuda:0", "cuda:1"]
    jobs = placed(["auto", "cuda", "cuda:1", "cpu"])
    assert [[environment.on_gpu(job, gpus, lane).device for job in jobs] for lane in range(3)] == [
        ["cuda:0", "cuda:0", "cuda:1", "cpu"],
        ["cuda:1", "cuda:1", "cuda:1", "cpu"],
        ["cuda:0", "cuda:0", "cuda:1", "cpu"],
    ]
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert environment.gpus_for(jobs) == gpus
    assert environment.gpus_for(jobs[2:]) == []
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert environment.gpus_for(jobs) == []


# `--jobs auto`: the engine says how many trials run at a time.


@pytest.mark.parametrize("jobs", [None, "auto"])
def test_on_a_cpu_one_trial_runs_at_a_time(jobs: str | None) -> None:
    engine = LocalEngine(Launch(jobs))
    assert engine.trials_at_once(jobs_of([0.0] * 5)) == 1
    assert engine.trials_at_once([]) == 1
    assert LocalEngine(Launch(3)).trials_at_once(jobs_of([0.0])) == 3


@pytest.mark.parametrize(
    ("cards", "cores", "room", "expected"),
    [
        (1, 16, 80e9, 6),  # the most that was measured
        (1, 4, 80e9, 4),  # a core each
        (1, 1, 80e9, 1),
        (2, 16, 80e9, 12),
        (2, 4, 80e9, 4),
        (1, 16, 9e9, 3),  # of 2 GB, and 1 of what CUDA itself takes
        (1, 16, 2.9e9, 1),  # room for none: it runs alone, as it would without the option
    ],
)
def test_on_a_gpu_as_many_run_as_have_cores_and_room(
    monkeypatch: pytest.MonkeyPatch, cards: int, cores: int, room: float, expected: int
) -> None:
    gpus = [f"cuda:{number}" for number in range(cards)]
    monkeypatch.setattr(local, "gpus_for", lambda jobs: gpus)
    monkeypatch.setattr(local, "usable_cores", lambda: list(range(cores)))
    monkeypatch.setattr(local, "trial_memory", lambda job, longest: 2e9 if longest else 0.0)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda gpu: SimpleNamespace(total_memory=room)
    )
    trial = SimpleNamespace(settings={"max_length": 512})
    jobs = [replace(each, trial=trial) for each in jobs_of([0.0] * 5)]
    assert LocalEngine(Launch("auto")).trials_at_once(jobs) == expected


@pytest.mark.parametrize(("running", "told"), [(True, 0), (False, 1)])
def test_who_shares_a_gpu_hears_of_mps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, running: bool, told: int
) -> None:
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    if running:
        (tmp_path / "control").touch()
    engine, several = LocalEngine(Launch()), Estimate([], 4)
    assert list(engine.shortfalls(several)) == []
    monkeypatch.setattr(local, "gpus_for", lambda jobs: ["cuda:0"])
    sentences = list(engine.shortfalls(several))
    assert ["nvidia-cuda-mps-control -d" in text for text in sentences] == [True] * told
    assert list(engine.shortfalls(Estimate([], 1))) == []


@pytest.mark.costly
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_a_worker_stays_on_its_cores() -> None:
    core = min(os.sched_getaffinity(0))
    with LocalEngine(Launch(2))._pool(2, cores=[core]) as pool:
        assert pool.submit(os.sched_getaffinity, 0).result() == {core}

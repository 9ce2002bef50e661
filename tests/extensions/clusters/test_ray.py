"""Trials as tasks of a Ray that starts for the test."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb.execution import engines
from blurb.execution.engine import Launch
from blurb.execution.job import TrialOutcome
from blurb.extensions.clusters.ray import RayEngine
from blurb.planning import trials
from blurb.results import tables
from blurb.store.store import Store
from tests.planning.requests import request

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _cluster() -> Iterator[None]:
    """One for all tests, as it takes seconds to start."""
    ray.init(address="local", num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield
    ray.shutdown()


def planned(
    store: Path, *names: str, chosen: str = "gad,biosses", seeds: int | None = None
) -> trials.Planned:
    return trials.prepare(request(store, *names, tasks_=chosen, suite="demo", seeds=seeds))


def test_the_tables_are_those_of_one_process(tmp_path: Path) -> None:
    seen: list[TrialOutcome] = []
    for name, engine in (
        ("ray", engines.parse("ray,cpus=1,gpus=0", Launch())),
        ("local", engines.here()),
    ):
        store = tmp_path / name / "runs"
        asked = planned(store, "baseline:majority", "baseline:constant")
        outcomes = trials.run([asked], engine, seen.append, lambda job, news: None)
        assert [outcome.status for outcome in outcomes] == ["done"] * 4
        tables.rebuild(Store(store), tmp_path / name / "leaderboard.csv")
    for table in ("leaderboard.csv", "results.csv"):
        assert (tmp_path / "ray" / table).read_bytes() == (tmp_path / "local" / table).read_bytes()
    assert len(seen) == 8


def test_a_failing_trial_is_not_tried_again_and_says_why(tmp_path: Path) -> None:
    moved = [
        trials.replace(job, data=trials.replace(job.data, folder=tmp_path / "none"))
        for job in planned(tmp_path, "baseline:majority").final
    ]
    outcomes = RayEngine(Launch(), gpus=0).run(moved, lambda outcome: None, lambda job, news: None)
    assert [outcome.status for outcome in outcomes] == ["failed", "failed"]
    assert all("none" in outcome.message for outcome in outcomes)


def test_a_worker_that_is_killed_costs_time_alone(tmp_path: Path) -> None:
    """The task starts again, and every trial is counted once."""
    asked = planned(tmp_path, "baseline:bigrams", chosen="ncbi-disease,bc2gm,hoc,gad")
    killed: list[int] = []

    def kill() -> None:
        limit = time.time() + 60
        while not killed and time.time() < limit:
            for log in tmp_path.glob("*/*/.*/log.txt"):
                killed.extend(_ray_workers_with(log)[:1])
                for process in killed:
                    os.kill(process, signal.SIGKILL)
                break
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    outcomes = RayEngine(Launch(), gpus=0).run(
        asked.final, lambda outcome: None, lambda job, news: None
    )
    thread.join()
    assert killed
    assert {outcome.status for outcome in outcomes} <= {"done", "already done"}
    assert len(list(tmp_path.glob("*/*/*/DONE.json"))) == 4


def _ray_workers_with(file: Path) -> list[int]:
    """The processes that have a file open."""
    found = []
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if place.resolve() == file.resolve() and int(place.parts[2]) != os.getpid():
                found.append(int(place.parts[2]))
        except OSError:
            continue
    return found

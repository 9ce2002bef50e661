"""Trials that others hold have their turn last. Oracle: the order of outcomes, and a clock of our own."""

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.execution.job import JobQueue, TrialOutcome, TrialProgress
from blurb.store.store import Store
from blurb.system import leases
from blurb.system.lease_records import LeaseRecord


@dataclass(frozen=True)
class Planned:
    """Stands for a job: so much of it as turns ask for."""

    store: Path
    path: Path

    @property
    def lease(self) -> Path:
        return Store(self.store).lease(self.path)


@pytest.fixture
def jobs(tmp_path: Path) -> list[Planned]:
    return [Planned(tmp_path, tmp_path / f"{number:02x}") for number in range(4)]


def sweep(
    jobs: list[Planned], wait: Any
) -> tuple[list[tuple[int, str]], dict[int, str], list[str]]:
    """Takes turns as an engine does: outcomes in their order, who was told to hold what, and the final statuses."""
    heard: list[tuple[int, str]] = []
    told: dict[int, str] = {}

    def finished(outcome: TrialOutcome) -> None:
        heard.append((jobs.index(outcome.job), outcome.status))  # type: ignore[arg-type]

    def progress(job: Any, news: TrialProgress) -> None:
        told[jobs.index(job)] = news.held_by

    turns = JobQueue(jobs, range(len(jobs)), finished, progress)  # type: ignore[arg-type]
    while (index := turns.next(wait)) is not None:
        job: Any = jobs[index]
        with leases.trying(job.lease) as lease:
            status = "done" if lease else "held"
        turns.end(index, TrialOutcome(job, status, message=leases.who(job.lease)))  # type: ignore[arg-type]
    return heard, told, [outcome.status for outcome in turns.outcomes]


def test_what_another_holds_is_passed_over_and_waited_for(jobs: list[Planned]) -> None:
    other = leases.take(jobs[0].lease)
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 3:
            other.release()
        return False

    heard, told, statuses = sweep(jobs, wait)
    assert heard == [(1, "done"), (2, "done"), (3, "done"), (0, "done")]
    assert told == {0: str(LeaseRecord.me())}
    assert statuses == ["done"] * 4
    assert len(waits) == 3


def test_what_a_dead_machine_held_is_taken_over(
    jobs: list[Planned], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0, sleep=lambda seconds: None)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(leases, "time", clock)
    for job in jobs[1:3]:
        job.lease.write_bytes(replace(LeaseRecord.me(), host="elsewhere", boot="other").content())

    def wait(seconds: float) -> bool:
        clock.now += seconds
        return False

    heard, told, statuses = sweep(jobs, wait)
    assert heard == [(0, "done"), (3, "done"), (1, "done"), (2, "done")]
    assert set(told) == {1, 2}
    assert statuses == ["done"] * 4
    assert leases.LIMIT <= clock.now < leases.LIMIT + 10


def test_who_is_told_to_end_waits_for_nobody(jobs: list[Planned]) -> None:
    with leases.held(jobs[0].lease):
        turns = JobQueue(jobs[:1], [0], lambda outcome: None, lambda job, news: None)  # type: ignore[arg-type]
        assert turns.next() == 0
        turns.end(0, TrialOutcome(jobs[0], "held"))  # type: ignore[arg-type]
        assert turns.next(lambda seconds: True) is None

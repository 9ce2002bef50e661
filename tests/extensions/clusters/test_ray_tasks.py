"""Tasks of Ray by a stand-in for it: which are given out when, and what becomes of their answers."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.execution.data_sources import DataSource
from blurb.execution.engine import Launch, Sweep
from blurb.execution.job import Job, TrialOutcome
from blurb.extensions.clusters import ray


class Ray:
    """As much of Ray as the engine uses; a task ends when it is waited for, the first one first."""

    def __init__(self, answers: dict[int, list[Any]], gpus: int = 0) -> None:
        self.answers = answers
        self.resources = {"CPU": 4, "GPU": gpus}
        self.asked: dict[str, Any] = {}
        self.given: list[tuple[object, ...]] = []
        self.most = 0
        self.cancelled: list[int] = []
        self.exceptions = SimpleNamespace(RayTaskError=KeyError, RayError=OSError)

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, int]:
        return self.resources

    def remote(self, **asked: Any) -> Callable[[object], Any]:
        self.asked = asked
        return lambda function: SimpleNamespace(remote=self._begin)

    def _begin(self, *given: object) -> int:
        self.given.append(given)
        return len(self.given) - 1

    def wait(
        self, tasks: Sequence[int], num_returns: int, timeout: float
    ) -> tuple[list[int], list[int]]:
        self.most = max(self.most, len(tasks))
        return list(tasks[:1]), list(tasks[1:])

    def get(self, task: int) -> tuple[str, float, str]:
        answer = self.answers[int(str(self.given[task][1]))].pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return (answer, 1.5, "who")

    def cancel(self, task: int) -> None:
        self.cancelled.append(task)


def run(
    fake: Ray, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[list[TrialOutcome], list[object], list[object]]:
    """Three jobs, the last the longest: outcomes, which ended in which order, and who was waited for."""
    monkeypatch.setitem(sys.modules, "ray", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(ray.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(ray, "note_death", lambda job, message: None)
    monkeypatch.setattr("blurb.execution.job.is_free", lambda job: True)
    jobs = [
        Job(number, None, None, DataSource("gad", Path()), Path(), "auto", predicted=number)
        for number in range(3)
    ]  # type: ignore[arg-type]
    ended: list[object] = []
    held: list[object] = []
    outcomes = ray.RayEngine(Launch(), **options).run_sweep(
        Sweep(Path("/sweep"), jobs, "c0de"),
        lambda outcome: ended.append(outcome.job.trial),
        lambda job, news: held.append((job.trial, news.held_by)),
    )
    assert [outcome.job for outcome in outcomes] == jobs
    return outcomes, ended, held


def test_a_task_is_the_path_of_the_sweep_and_a_number_the_longest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = Ray({number: ["done"] for number in range(3)})
    outcomes, ended, _ = run(fake, monkeypatch, cpus=2.0, retries=5)
    assert fake.given == [("/sweep", index, 2.0, "c0de") for index in (2, 1, 0)]
    assert ended == [2, 1, 0]
    assert {(outcome.status, outcome.seconds) for outcome in outcomes} == {("done", 1.5)}
    assert fake.asked == {"num_cpus": 2.0, "num_gpus": 0, "max_retries": 5}


def test_a_trial_that_another_holds_has_another_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Ray({0: ["already done"], 1: ["done"], 2: ["held", "held", "done"]})
    outcomes, ended, held = run(fake, monkeypatch)
    assert [outcome.status for outcome in outcomes] == ["already done", "done", "done"]
    assert held == [(2, "who"), (2, "who")]
    assert sorted(ended) == [0, 1, 2]  # type: ignore[type-var]


def test_processes_that_die_fail_their_trial_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Ray({0: ["done"], 1: [OSError("the node is gone\nand more")], 2: ["done"]})
    outcomes, _, _ = run(fake, monkeypatch)
    assert [outcome.status for outcome in outcomes] == ["done", "failed", "done"]
    assert outcomes[1].message.startswith("The process or the machine of the trial died")


def test_a_trial_has_a_gpu_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, gpus in (({}, 1), ({"gpus": 0.5}, 0.5), ({"gpus": "0"}, 0.0)):
        fake = Ray({number: ["done"] for number in range(3)}, gpus=2)
        run(fake, monkeypatch, **given)
        assert fake.asked["num_gpus"] == gpus


def test_no_more_tasks_wait_than_a_look_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "QUEUED", 1)
    fake = Ray({number: ["done"] for number in range(3)})
    fake.resources["CPU"] = 1
    run(fake, monkeypatch)
    assert fake.most == 2  # two a core


def test_tasks_are_cancelled_when_the_command_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Ray({0: ["done"], 1: ["done"], 2: [KeyboardInterrupt()]})
    with pytest.raises(KeyboardInterrupt):
        run(fake, monkeypatch)
    assert fake.cancelled == [1, 2]

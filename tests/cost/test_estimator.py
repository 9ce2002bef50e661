"""What finished trials of a store say of the next ones. Oracle: stores made by hand, and a step of known seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from blurb.cost.estimator import Estimator, with_predictions
from blurb.cost.work import TimedStep, count_work, sample_splits
from blurb.execution.environment import describe_environment, threads_of
from blurb.execution.estimate import TrialEstimate
from blurb.execution.job import Job
from blurb.planning import trials
from blurb.planning.trials import Planned
from blurb.store.store import Store, read_json, write_json
from tests.conftest import Builder
from tests.cost.settings import made_up_step
from tests.planning.requests import request
from tests.store.fakes import finish

STEP = TimedStep(1.0, 0.01, 0.001)


@pytest.fixture
def planned(checkpoint: Builder, tmp_path: Path) -> Planned:
    source = checkpoint("bert_uncased")
    return trials.prepare(request(tmp_path / "runs", source, suite="demo", seeds=2))


def finished(job: Job, taken: float, seed: int = 9, environment_: Any = None, **settings: Any) -> Path:  # fmt: skip
    """A trial of the job's model and task that trained and predicted so many seconds, as on this machine."""
    trial = replace(job.trial, seed=seed, settings={**job.trial.settings, **settings})
    facts = {"train_seconds": 0.75 * taken, "predict_seconds": 0.25 * taken}
    path = finish(Store(job.store), job.source.name, trial, 0.5, facts=facts)
    made = read_json(path / "provenance.json")
    here = {
        **describe_environment("cpu"),
        "threads": torch.get_num_threads(),
        **(environment_ or {}),
    }
    write_json(path / "provenance.json", {**made, "environment": here})
    return path


def first(planned: Planned, timed: bool = False) -> TrialEstimate:
    return Estimator(timed).estimate([planned], 1).waiting[0]


def test_trials_take_the_median_of_what_those_of_their_settings_took(planned: Planned) -> None:
    for seed, taken in ((7, 20.0), (8, 500.0), (9, 30.0)):
        finished(planned.final[0], taken, seed)
    finished(planned.final[0], 99.0, 4, epochs=99)
    found = first(planned)
    assert (found.seconds, found.basis) == (30.0, "history")


@pytest.mark.parametrize(("epochs", "max_updates"), [(8, 0), (2, 3)])
def test_other_settings_are_scaled_by_sub_tokens(
    planned: Planned, epochs: int, max_updates: int
) -> None:
    job = planned.final[0]
    finished(job, 40.0, epochs=epochs, max_updates=max_updates)
    settings = {**job.trial.settings, "epochs": epochs, "max_updates": max_updates}
    splits = sample_splits(job)
    ratio = (
        count_work(job, splits).passes
        / count_work(replace(job, trial=replace(job.trial, settings=settings)), splits).passes
    )
    assert first(planned).seconds == pytest.approx(40.0 * ratio)


def test_a_quick_trial_says_nothing_of_a_long_one(planned: Planned) -> None:
    finished(planned.final[0], 9.0, max_updates=1, dev_sample=1, max_eval=1)
    assert first(planned).basis == ""
    finished(planned.final[0], 11.0, 8, max_updates=1, dev_sample=1, max_eval=1)
    assert first(planned).basis == "history"


@pytest.mark.parametrize("other", [{"threads": 99}, {"device": "NVIDIA"}, {"cpus": 640}])
def test_another_machine_says_nothing(planned: Planned, other: dict[str, Any]) -> None:
    finished(planned.final[0], 20.0, environment_=other)
    assert first(planned).basis == ""


@pytest.mark.parametrize("content", ["", "[]", "{", '{"environment": 3}'])
@pytest.mark.parametrize("file", ["provenance.json", "spec.json"])
def test_damage_is_passed_over(planned: Planned, content: str, file: str) -> None:
    path = finished(planned.final[0], 20.0)
    finished(planned.final[0], 40.0, 8)
    (path / file).write_text(content)
    assert first(planned).seconds == 40.0


def test_a_trial_that_is_being_put_into_place_is_none_yet(planned: Planned) -> None:
    path = finished(planned.final[0], 20.0)
    path.rename(path.with_name(f".{path.name}.0123.new"))
    assert first(planned).basis == ""


def test_without_finished_trials_one_step_is_timed_for_all_sets_and_protocols(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = made_up_step(monkeypatch, STEP)
    source, estimator = checkpoint("bert_uncased"), Estimator(timed=True)
    for protocol in ("smoke", "quick"):
        given = request(
            tmp_path, source, tasks_="gad,biosses", protocol_=protocol, suite="demo", seeds=2
        )
        plan = trials.prepare(given)
        for one in estimator.estimate([plan], 2).waiting:
            work = count_work(one.job, sample_splits(one.job))
            expected = 1.0 + 0.01 * work.trained + 0.001 * work.read
            assert (one.seconds, one.basis) == (pytest.approx(expected), "step")
    assert [threads for _, threads in asked] == [threads_of(2)]


def test_nothing_is_timed_where_trials_run_elsewhere(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = made_up_step(monkeypatch, STEP)
    estimate = Estimator(timed=False).estimate([planned], 1)
    assert (estimate.seconds, len(estimate.unknown), asked) == (0.0, 2, [])
    assert [job.predicted for job in with_predictions([planned], estimate)[0].jobs] == [0.0, 0.0]


def test_baselines_say_about_what_they_take(tmp_path: Path) -> None:
    names = ("baseline:majority", "baseline:bigrams")
    plan = trials.prepare(request(tmp_path, *names, suite="demo"))
    estimate = Estimator(timed=True).estimate([plan], 1)
    assert [(one.seconds <= 60, one.basis) for one in estimate.trials] == [(True, "kind")] * 2
    finished(plan.final[1], 50.0)
    assert Estimator(timed=True).estimate([plan], 1).trials[1].seconds == 50.0


def test_what_is_done_and_what_is_there_twice_costs_nothing(planned: Planned) -> None:
    finished(planned.final[0], 30.0, planned.final[0].trial.seed)
    found = Estimator(timed=False).estimate([planned, planned], 1)
    assert [one.done for one in found.trials] == [True, False, True, True]
    assert found.seconds == 30.0

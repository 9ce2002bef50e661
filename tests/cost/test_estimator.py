"""What finished trials of a store say of the next ones. Oracle: stores made by hand, and a step of known seconds."""

import gc
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from blurb import tasks
from blurb.api.running import Throttled
from blurb.cost import work
from blurb.cost.estimator import Estimator, with_predictions
from blurb.cost.work import SplitSample, TimedStep, Work, count_work, sample_splits, time_step
from blurb.execution.environment import describe_environment, threads_of
from blurb.execution.estimate import TrialEstimate, schedule_seconds
from blurb.execution.job import Job
from blurb.learners import building
from blurb.messages.errors import StoreError
from blurb.planning import trials
from blurb.planning.trials import Planned
from blurb.results.tables import rebuild
from blurb.store.store import Store, read_json, write_json
from blurb.store.trial import Trial
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.cost.settings import made_up_step
from tests.planning.requests import request
from tests.store.fakes import finish, stored, trial

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
        for one in estimator.estimate([trials.prepare(given)], 2).waiting:
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


# What a finished sweep costs to look at and run again; wall time by simulation.


def test_tables_ask_no_trial_for_its_hash_more_than_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = [trial(seed=seed) for seed in range(1, 9)]
    stored(store, "m", *planned)
    asked = []
    content = Trial.content.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(
        Trial, "content", property(lambda self: asked.append(self) or content(self))
    )
    rebuild(store, tmp_path / "leaderboard.csv")
    assert len(asked) <= len(planned)
    assert (tmp_path / "results.csv").read_text().count("\n") == 1 + 8 * 4


def test_no_garbage_is_collected_for_what_is_done(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [
        "run",
        "baseline:majority",
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad,biosses",
    ]
    collected = []
    collect = gc.collect
    monkeypatch.setattr(
        "blurb.execution.worker.gc.collect", lambda *given: collected.append(1) or collect(*given)
    )
    ran(command)
    assert len(collected) == 2
    ran(command)
    assert len(collected) == 2


def test_between_trials_the_tables_are_rebuilt_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("blurb.api.running.time.monotonic", lambda: clock[0])
    times: list[float] = []

    def act() -> None:
        times.append(clock[0])
        clock[0] += 2  # what a rebuild takes
        raise StoreError("told at the end")

    throttled = Throttled(act)
    for _ in range(200):
        clock[0] += 1  # a trial a second
        throttled()
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert times[0] >= Throttled.EVERY
    assert min(gaps) >= Throttled.SHARE * 2
    assert len(times) >= 4


def simulated(waiting: list[int], workers: int) -> int:
    """Second by second: a free lane takes the next trial."""
    left, queue, now = [0] * workers, list(waiting), 0
    while queue or any(left):
        for lane, rest in enumerate(left):
            if not rest and queue:
                left[lane] = queue.pop(0)
        left = [max(0, rest - 1) for rest in left]
        now += 1
    return now


@given(st.lists(st.integers(1, 30), max_size=8), st.integers(1, 4))
def test_the_wall_time_is_that_of_a_simulation(waiting: list[int], workers: int) -> None:
    assert schedule_seconds(waiting, workers) == simulated(waiting, workers)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(2, 3))
def test_the_longest_first_is_within_a_third_of_the_best_order(
    waiting: list[int], workers: int
) -> None:
    """Graham's bound for lists sorted by time: 4/3 - 1/(3 lanes)."""
    best = min(schedule_seconds(order, workers) for order in itertools.permutations(waiting))
    assert (
        best
        <= schedule_seconds(sorted(waiting, reverse=True), workers)
        <= best * (4 / 3 - 1 / (3 * workers)) + 1e-9
    )


def test_without_trials_nothing_is_waited_for() -> None:
    assert schedule_seconds([], 3) == 0


# The work of a trial and its timed step. Oracles: batches counted by hand, a clock that is advanced by hand.


SIZES = {"train": 96, "dev": 20, "test": 40}
ALL = {"batch_size": 16, "epochs": 3, "max_train": 0, "max_eval": 0, "dev_sample": 0}


def job(source: Any, store: Path, task: str = "gad", **settings: Any) -> Job:
    asked = request(store, source, tasks_=task, overrides=settings, suite="demo")
    return trials.prepare(asked).final[0]


def of_ten(sizes: dict[tasks.Split, int]) -> dict[tasks.Split, SplitSample]:
    """Splits whose examples all have ten sub-tokens, of which a quarter was sampled."""
    return {
        split: SplitSample(size, [{}] * (size // 4), np.full(size // 4, 10), np.arange(size // 4))
        for split, size in sizes.items()
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # All passes over train, dev after each of them, test.
        ({}, Work(3 * 960, 3 * 200 + 400)),
        ({"select": "last"}, Work(3 * 960, 200 + 400)),
        # 8 updates of 16 are a pass and a third: two looks at dev.
        ({"max_updates": 8}, Work(8 * 160, 2 * 200 + 400)),
        ({"max_updates": 999}, Work(3 * 960, 3 * 200 + 400)),
        ({"max_train": 32, "max_eval": 8}, Work(3 * 320, 3 * 80 + 80)),
        # Epochs are chosen on 5 of 20, and dev is read whole at the end.
        ({"dev_sample": 5}, Work(3 * 960, 3 * 50 + 200 + 400)),
        ({"head_init": "linear"}, Work(3 * 960, 3 * 200 + 400 + 960)),
    ],
)
def test_the_work_of_fine_tuning(
    settings: dict[str, Any], expected: Work, checkpoint: Builder, tmp_path: Path
) -> None:
    given = {"select": "best", "head_init": "random", **ALL, **settings}
    planned = job(checkpoint("bert_uncased"), tmp_path, **given)
    assert count_work(planned, of_ten(SIZES)) == pytest.approx(expected)  # type: ignore[arg-type]
    assert expected.passes == 3 * expected.trained + expected.read


def test_a_frozen_encoder_has_no_backward(checkpoint: Builder, tmp_path: Path) -> None:
    asked = request(tmp_path, checkpoint("bert_uncased"), protocol_="probe", suite="demo")
    assert count_work(trials.prepare(asked).final[0], of_ten(SIZES)) == (0, 960 + 200 + 400)


def test_padding_is_counted(tmp_path: Path, checkpoint: Builder) -> None:
    planned = job(checkpoint("bert_uncased"), tmp_path, **{**ALL, "epochs": 1})
    splits = of_ten(SIZES)
    splits["train"] = SplitSample(16, [{}] * 16, np.array([5] * 15 + [50]), np.arange(16))
    assert count_work(planned, splits).trained == 16 * 50


def test_a_sample_is_spread_evenly_and_has_the_lengths_of_the_tokenizer(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    monkeypatch.setattr(work, "SAMPLE", 10_000)
    whole = sample_splits(job(source, tmp_path))["train"]
    assert len(whole.lengths) == whole.units
    monkeypatch.setattr(work, "SAMPLE", 8)
    part = sample_splits(job(source, tmp_path))["train"]
    places = [int(place * whole.units / 8) for place in range(8)]
    assert part.units == whole.units
    assert part.lengths.tolist() == [whole.lengths[place] for place in places]
    assert len(part.used(12)) == 12
    assert len(part.used(0)) == whole.units


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["bert_uncased", "baseline:bilstm"])
def test_a_step_is_what_the_clock_says_without_the_update(
    kind: str, checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least of two by the clock, and of what one thread computed: start 7 s, gradients 1 s, a pass 2 s."""
    planned = job(kind if ":" in kind else checkpoint(kind), tmp_path, batch_size=6)
    train = sample_splits(planned)["train"]
    wall = iter([0.0, 7.0, 8.0, *(0.0, 3.0, 0.0, 5.0), *(0.0, 9.0, 0.0, 2.0)])
    computed = iter([0.0, 1.0, 0.0, 4.0])
    monkeypatch.setattr(work, "clock", wall.__next__)
    monkeypatch.setattr(work, "computed", computed.__next__)
    threads = torch.get_num_threads()
    step = time_step(planned, train, threads + 1)
    tokens = (6 if ":" in kind else work.INPUTS) * float(np.median(train.lengths))
    assert step == pytest.approx((7.0, 1 / tokens, 2 / tokens))
    assert (next(wall, None), next(computed, None)) == (None, None)
    assert torch.get_num_threads() == threads


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["roberta", "modernbert", "deberta", "t5", "albert"])
@pytest.mark.parametrize("protocol", ["smoke", "probe"])
def test_any_architecture_can_be_timed(
    kind: str, protocol: str, checkpoint: Builder, tmp_path: Path
) -> None:
    given = {"pooling": "mean"} if protocol == "smoke" else {}
    source = checkpoint(kind)
    asked = request(
        tmp_path, source, protocol_=protocol, suite="demo", tasks_="biosses", overrides=given
    )
    planned = trials.prepare(asked).final[0]
    step = time_step(planned, sample_splits(planned)["train"], 1)
    assert min(step.start, step.read) > 0
    assert (step.trained > 0) is (protocol == "smoke")

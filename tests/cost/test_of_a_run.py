"""What a finished sweep costs to look at and run again; what its trials say of the next; wall time by simulation."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from blurb.api.running import Throttled
from blurb.cli import cli
from blurb.cost import model
from blurb.cost.model import Correction, History, wall
from blurb.messages.errors import StoreError
from blurb.results.tables import rebuild
from blurb.store.store import Store, read_json, write_json
from blurb.store.trial import Trial
from tests.store.fakes import finish, stored, trial


def test_tables_ask_no_trial_for_its_hash_more_than_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "runs")
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
    assert CliRunner().invoke(cli, command, catch_exceptions=False).exit_code == 0
    assert len(collected) == 2
    assert CliRunner().invoke(cli, command, catch_exceptions=False).exit_code == 0
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


HERE = {"device": "cpu", "threads": 1, "cpus": 2}


def finished(
    store: Store, seed: int, taken: float, predicted: float | None = None, **environment: Any
) -> Path:
    told = (
        {}
        if predicted is None
        else {"predicted": {"learner": "encoder", "type": "ner", "seconds": predicted}}
    )
    facts = {"train_seconds": 0.75 * taken, "predict_seconds": 0.25 * taken, **told}
    path = finish(store, "m", trial(seed=seed), 0.5, facts=facts)
    provenance = read_json(path / "provenance.json")  # as on the machine that the test is about
    write_json(path / "provenance.json", {**provenance, "environment": {**HERE, **environment}})
    return path


def test_measured_to_predicted_by_learner_and_type(tmp_path: Path) -> None:
    store = Store(tmp_path)
    finished(store, 1, taken=20, predicted=10)
    finished(store, 2, taken=8, predicted=10)
    known = finished(
        store, 3, taken=30
    )  # of a store that had no predictions yet, but the trial is planned again
    finished(store, 4, taken=99)
    found = model.read_history(tmp_path, {known: ("encoder", "qa", 10.0)}, HERE)
    assert sorted(found.ratios["encoder", "ner"]) == pytest.approx([0.8, 2.0])
    assert found.ratios[("encoder", "qa")] == pytest.approx([3.0])
    assert len(found.ratios) == 2
    assert sorted(found.seconds["encoder", "ner"]) == [8, 20]


@pytest.mark.parametrize("other", [{"threads": 2}, {"device": "NVIDIA"}, {"cpus": 64}])
def test_another_machine_says_nothing(tmp_path: Path, other: dict[str, Any]) -> None:
    finished(Store(tmp_path), 1, taken=20, predicted=10, **other)
    assert model.read_history(tmp_path, {}, HERE).ratios == {}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"environment": 3}',
        '{"environment": {"device": "cpu", "threads": 1, "cpus": 2}, "facts": [1]}',
        '{"environment": {"device": "cpu", "threads": 1, "cpus": 2}, "facts": {"predicted": 3, "train_seconds": "x"}}',
    ],
)
def test_damage_is_passed_over(tmp_path: Path, content: str) -> None:
    path = finished(Store(tmp_path), 1, taken=20, predicted=10)
    finished(Store(tmp_path), 2, taken=40, predicted=10)
    (path / "provenance.json").write_text(content)
    assert model.read_history(tmp_path, {}, HERE).ratios == {("encoder", "ner"): [4.0]}


def test_a_correction_is_the_geometric_mean() -> None:
    found = History({("encoder", "ner"): [0.5, 2.0, 2.0], ("encoder", "qa"): [1.5]})
    assert found.correction("encoder", "ner") == Correction(pytest.approx(2 ** (1 / 3)), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", [0.2, 0.9, 2.5])
def test_one_trial_corrects_by_a_third_and_two_by_two_thirds(ratio: float) -> None:
    for count in (1, 2, 3, 4):
        found = History({("encoder", "qa"): [ratio] * count}).correction("encoder", "qa")
        assert (found.factor, found.trials) == (pytest.approx(ratio ** min(1.0, count / 3)), count)


def test_other_types_and_learners_shift_nothing() -> None:
    found = History({("encoder", "ner"): [2.0], ("encoder", "qa"): [0.5], ("probe", "ner"): [9.0]})
    assert found.correction("encoder", "document") == Correction(1.0, 0)
    assert found.correction("baseline", "ner") == Correction()


def test_short_trials_shift_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in range(1, 13):  # a fixed cost of seconds is no factor of a long trial
        finished(store, seed, taken=21, predicted=4)
    found = model.read_history(tmp_path, {}, HERE)
    assert found.ratios == {}
    assert found.correction("encoder", "ner") == Correction()


def test_a_trial_that_is_being_put_into_place_is_none_yet(tmp_path: Path) -> None:
    path = finished(Store(tmp_path), 1, taken=20, predicted=10)
    path.rename(path.with_name(f".{path.name}.0123.new"))
    assert model.read_history(tmp_path, {}, HERE).ratios == {}


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
    assert wall(waiting, workers) == simulated(waiting, workers)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(2, 3))
def test_the_longest_first_is_within_a_third_of_the_best_order(
    waiting: list[int], workers: int
) -> None:
    """Graham's bound for lists sorted by time: 4/3 - 1/(3 lanes)."""
    best = min(wall(order, workers) for order in itertools.permutations(waiting))
    assert (
        best
        <= wall(sorted(waiting, reverse=True), workers)
        <= best * (4 / 3 - 1 / (3 * workers)) + 1e-9
    )


def test_without_trials_nothing_is_waited_for() -> None:
    assert wall([], 3) == 0

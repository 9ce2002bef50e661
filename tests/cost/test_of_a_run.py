"""What a finished sweep costs to look at and run again; wall time by simulation."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from blurb.api.running import Throttled
from blurb.cli import cli
from blurb.execution.estimate import schedule_seconds
from blurb.messages.errors import StoreError
from blurb.results.tables import rebuild
from blurb.store.store import Store
from blurb.store.trial import Trial
from tests.store.fakes import stored, trial


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

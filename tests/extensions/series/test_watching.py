"""A watch scores what is whole and settled, once, and ends with the run; time is made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from blurb.extensions.series.conduct import Pace, watch
from blurb.extensions.series.curves import Step
from blurb.extensions.series.finding import FoundCheckpoints


@dataclass
class Clock:
    """A clock that only sleep moves; something may happen at each pause."""

    happen: Callable[[int], None]
    time: float = 0.0
    pauses: int = field(default=0)

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.pauses += 1
        self.happen(self.pauses)

    def pace(self, idle: float = 100.0) -> Pace:
        return Pace(10.0, idle, self.sleep, lambda: self.time)


def _write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model").write_text(text)


def test_checkpoints_are_scored_once_in_order_and_the_run_ends(tmp_path: Path) -> None:
    scored: list[str] = []

    def look() -> FoundCheckpoints:
        there = sorted(int(path.name) for path in tmp_path.iterdir())
        return FoundCheckpoints(
            tuple(Step("run", step, str(tmp_path / str(step)), planned=300) for step in there)
        )

    clock = Clock(
        lambda pause: _write(tmp_path / str(100 * pause), "whole") if pause <= 3 else None
    )
    found = watch(look, lambda step: scored.append(step.name), clock.pace())
    assert scored == ["run@100", "run@200", "run@300"]
    assert [step.step for step in found.steps] == [100, 200, 300]
    assert clock.time < 100  # the last planned step ended it, not the idle time


def test_a_folder_that_still_changes_waits(tmp_path: Path) -> None:
    scored: list[int] = []
    folder = tmp_path / "5"

    def happen(pause: int) -> None:
        if pause <= 4:
            _write(folder, "x" * pause)

    clock = Clock(happen)

    def look() -> FoundCheckpoints:
        return FoundCheckpoints(
            (Step("run", 5, str(folder), planned=5),) if folder.is_dir() else ()
        )

    watch(look, lambda step: scored.append(clock.pauses), clock.pace())
    assert scored == [
        5
    ]  # the fourth pause wrote last, so the fifth look found it as the fourth did


def test_a_run_without_a_plan_ends_when_nothing_comes(tmp_path: Path) -> None:
    _write(tmp_path / "1", "whole")
    clock = Clock(lambda pause: None)
    watch(
        lambda: FoundCheckpoints((Step("run", 1, str(tmp_path / "1")),)),
        lambda step: None,
        clock.pace(idle=55),
    )
    assert 55 < clock.time <= 80


def test_what_is_done_is_not_scored_again(tmp_path: Path) -> None:
    scored: list[str] = []
    step = Step("run", 1, str(tmp_path), planned=1)
    watch(
        lambda: FoundCheckpoints((step,)),
        lambda one: scored.append(one.name),
        Clock(lambda pause: None).pace(),
        done=["run@1"],
    )
    assert not scored


def test_what_stays_left_out_is_told_once(tmp_path: Path) -> None:
    """A checkpoint that is still copied is left out at one look; a damaged one at all of them."""
    told: list[str] = []
    clock = Clock(lambda pause: None)

    def look() -> FoundCheckpoints:
        return FoundCheckpoints((), ("damaged", *(["copied"] if clock.pauses == 2 else [])))

    watch(look, lambda step: None, clock.pace(idle=55), tell=told.append)
    assert told == ["damaged"]

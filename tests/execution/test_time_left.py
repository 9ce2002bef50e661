"""The time left, by a clock that is moved by hand."""

from types import SimpleNamespace

import pytest

from blurb.execution import estimate as time_left
from blurb.execution.estimate import TimeLeft


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = [0.0]
    monkeypatch.setattr(time_left, "time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def test_it_is_predicted_and_then_at_the_median_pace(now: list[float]) -> None:
    left = TimeLeft(dict.fromkeys(range(6), "gad"), dict.fromkeys(range(6), 100.0), lanes=1)
    assert left.seconds == 600.0
    for key, seconds in ((0, 120.0), (1, 900.0), (2, 110.0)):  # the machine was busy beside one
        left.note_end(key, seconds)
    assert left.seconds == pytest.approx(3 * 120.0)
    left.note_end(3, 0.0)  # of another command: it says nothing of the pace here
    assert left.seconds == pytest.approx(2 * 120.0)
    left.note_end(3, 5.0)  # the winner of a search ends again
    assert left.seconds == pytest.approx(2 * 120.0)


def test_without_predictions_own_updates_tell(now: list[float]) -> None:
    left = TimeLeft({"a1": "a", "a2": "a", "b1": "b", "b2": "b"}, {}, lanes=1)
    assert left.seconds is None
    left.note_progress("a1", 0, 0)
    now[0] = 10.0
    assert left.seconds is None
    left.note_progress("a1", 1, 4)  # 40 s, of which 30 are left; all others like it
    assert left.seconds == 30.0 + 3 * 40.0
    left.note_end("a1", 50.0)
    assert left.seconds == 3 * 50.0
    left.note_progress("b1", 0, 0)
    now[0] = 20.0
    left.note_progress("b1", 1, 2)  # 20 s, of which 10 are left; b2 is like it
    assert left.seconds == 50.0 + 10.0 + 20.0


def test_lanes_share_what_is_left_and_the_last_trial_has_one_of_its_own(now: list[float]) -> None:
    left = TimeLeft(dict.fromkeys("abc", "gad"), dict.fromkeys("abc", 60.0), lanes=2)
    assert left.seconds == 120.0
    left.note_end("a", 60.0)
    left.note_end("b", 60.0)
    assert left.seconds == 60.0
    left.note_progress("c", 0, 0)
    now[0] = 90.0
    assert left.seconds == 0.0

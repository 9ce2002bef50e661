"""What whoever waits sees: a line a trial in a pipe; in a terminal of 80 columns what runs, how far, and until when."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.execution import estimate as time_left
from blurb.execution.job import TrialOutcome, TrialProgress
from blurb.store.store import Store
from blurb.terminal.progress import Display, describe_progress
from tests.cost.settings import estimate
from tests.store.fakes import finish, trial

NAMES = {"gad": 100.0, "biosses": 50.0}


def jobs() -> list[Any]:
    return [
        SimpleNamespace(
            path=Path(f"m/{name}/1"),
            source=SimpleNamespace(name="m"),
            trial=SimpleNamespace(task=name, seed=1),
        )
        for name in NAMES
    ]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the display's clock tells."""
    found = [0.0]
    monkeypatch.setattr(time_left, "time", SimpleNamespace(monotonic=lambda: found[0]))
    return found


def test_after_a_search_the_trials_are_others_and_the_time_left_is_theirs(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    # Two of the search, two seeds that make the row
    found = estimate({"gad": [100.0, 100.0, 100.0, 100.0]})
    expected = [trial.job for trial in found.trials]
    for job, seed in zip(expected, (1, 1, 2, 3), strict=True):
        job.trial.seed = seed
    with Display(expected, {job.path for job in expected[:2]}, expected=found) as display:
        for job in expected[:2]:
            now[0] += 100.0
            display.finished(TrialOutcome(job, "done", 100.0))
        now[0] += 100.0
        winner = SimpleNamespace(**{**vars(expected[2]), "path": Path("m/gad/other")})
        display.finished(TrialOutcome(winner, "done", 100.0))
    assert [line.partition("; about ")[2] for line in capsys.readouterr().err.splitlines()] == [
        "5 min left",
        "3 min left",
        "2 min left",
    ]


def test_in_a_pipe_a_line_a_trial_with_the_time_left(
    now: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    planned = jobs()
    with Display(planned, expected=estimate(NAMES)) as display:
        display.on_progress(planned[0], TrialProgress(5, 10, 1, 2, 0.5, 0.7))
        now[0] = 200.0  # twice as long as predicted, as the next will be
        display.finished(TrialOutcome(planned[0], "done", 200.0))
        display.finished(TrialOutcome(planned[1], "failed", 1.0, "no memory"))
    assert capsys.readouterr().err.splitlines() == [
        "[1/2] m gad seed 1: done in 200 s; about 2 min left",
        "[2/2] m biosses seed 1: failed (no memory)",
    ]


def test_without_an_estimate_the_trials_themselves_tell_the_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    planned = jobs()
    with Display(planned) as display:
        display.on_progress(planned[0], TrialProgress())
        display.finished(TrialOutcome(planned[0], "done", 2.0))
    assert capsys.readouterr().err == "[1/2] m gad seed 1: done in 2 s; about 2 s left\n"


@pytest.mark.parametrize(
    ("news", "text"),
    [
        (TrialProgress(), "starting"),
        (TrialProgress(1, 10, 0, 2), "epoch 1 of 2, 10 %"),
        (TrialProgress(5, 10, 1, 2, 0.4567, 0.7), "epoch 2 of 2, 50 %, loss 0.457, dev 70.0"),
        (TrialProgress(5, 10, 1, 2, 0.4567), "epoch 2 of 2, 50 %, loss 0.457"),
        (TrialProgress(10, 10, 1, 2, 0.4, 0.7), "epoch 2 of 2, 100 %, loss 0.400, dev 70.0"),
        (TrialProgress(10, 10, 2, 2, 0.4, 0.7), "predicting, 100 %, loss 0.400, dev 70.0"),
        (TrialProgress(4, 12), "33 %"),
        (TrialProgress(12, 12), "predicting, 100 %"),
    ],
)
def test_how_far_a_trial_is(news: TrialProgress, text: str) -> None:
    assert describe_progress(news) == text


def read(terminal: int, until: str) -> str:
    """What a pseudo-terminal shows, up to a text; it comes in pieces where the machine is busy."""
    seen = b""
    while not re.search(until, " ".join(seen.decode(errors="replace").split())):
        seen += os.read(terminal, 65_536)
    return seen.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn into a pseudo-terminal and read back; the name of the model alone would fill the line."""
    import pty

    ours, theirs = pty.openpty()
    stream = os.fdopen(theirs, "w", encoding="utf-8")
    for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    planned = jobs()
    planned[1].source.name = "a-very-long-name-" * 6
    with Display(planned, expected=estimate({"gad": 60.0, "biosses": 50.0}, jobs=2)) as display:
        display.on_progress(planned[0], TrialProgress(25, 100, 1, 4, 0.5, 0.731))
        display.on_progress(planned[1], TrialProgress())
        display.drawn.refresh()
        stream.flush()
        seen = read(ours, r"about \d+ s left")
        display.finished(TrialOutcome(planned[0], "done", 3.0))
    stream.flush()
    after = read(ours, "done in 3 s")
    stream.close()
    os.close(ours)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen).replace("\r", "").rstrip("\n").splitlines()
    assert max(map(len, lines)) <= 80
    figures = "m gad seed 1 epoch 2 of 4, 25 %, loss 0.500, dev 73.1"
    assert figures in [" ".join(line.split()) for line in lines]
    cut = next(line for line in lines if line.startswith("a-very-long-name"))
    assert cut.rstrip().endswith("starting")  # the name gives way, not what is told
    assert "…" in cut
    assert "0 of 2 trials" in lines[-1]
    assert re.search(r"1 s elapsed about \d+ s left", " ".join(lines[-1].split()))
    assert "[1/2] m gad seed 1: done in 3 s" in after


def test_a_trial_that_is_done_shows_its_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first figure came after the last of all trials."""
    planned = trial()
    path = finish(Store(tmp_path), "m", planned, 0.8)
    job = SimpleNamespace(path=path, source=SimpleNamespace(name="m"), trial=planned)
    with Display([job]) as display:  # type: ignore[list-item]
        display.finished(TrialOutcome(job, "done", 46.0))  # type: ignore[arg-type]
    assert capsys.readouterr().err.startswith("[1/1] m gad seed 1: done in 46 s, dev ")

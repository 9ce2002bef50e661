"""Exit codes: 1 is a regression or a part that is missing, 2 that nothing can be said, 130 and 143 an interrupt."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from blurb.results import tables
from blurb.system import leases
from blurb.system.files import read_json, write_whole
from tests.cli.in_process import blurb, run
from tests.faults.commands import Command

LONG = shlex.split(
    "run scratch:tiny --suite demo --tasks bc2gm,jnlpba,ddi --device cpu --precision fp32 --set epochs=500"
)


@pytest.fixture
def start() -> Iterator[Callable[[list[str], Path], Command]]:
    """Starts a command; it and its workers are gone when the test is over, whatever became of it."""
    started: list[Command] = []

    def command(arguments: list[str], folder: Path) -> Command:
        started.append(Command(arguments, folder / "here"))
        return started[-1]

    yield command
    for each in started:
        each.kill()


Start = Callable[[list[str], Path], Command]


def wait(condition: Callable[[], bool], command: Command, seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not condition() and command.process.exitcode is None and time.monotonic() < limit:
        time.sleep(0.05)
    assert condition(), command.text


def half_written(folder: Path) -> list[Path]:
    found = [
        path
        for path in folder.rglob(".*")
        if path.name.endswith((".new", ".old", ".tmp", ".lease"))
    ]
    return found + list(folder.rglob("*.failed.json"))


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("run scratch:tiny", "blurb.api.running.execute"),
        pytest.param(
            "ablate scratch:tiny --axis head",
            "blurb.cli.ablate.ablate",
            marks=pytest.mark.extensions,
        ),
    ],
)
@pytest.mark.parametrize("dry", [False, True])
def test_only_a_command_that_trains_says_that_it_resumes(
    command: str, call: str, dry: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("of a library whose clean-up fails")

    monkeypatch.setattr(call, interrupted)
    arguments = [*shlex.split(command), "--suite", "demo", *["--dry-run"] * dry]
    code, _, said = blurb(arguments, tmp_path)
    assert (code, said.startswith("Interrupted.")) == (130, True)
    assert ("Run the same command again" in said) is not dry


@pytest.mark.costly
@pytest.mark.parametrize(
    ("number", "group", "jobs", "code"),
    [
        (signal.SIGINT, False, "2", 130),  # the parent alone, which waited for the trials at hand
        (signal.SIGUSR2, False, "1", 128 + signal.SIGUSR2),
        pytest.param(signal.SIGTERM, False, "1", 143, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, True, "1", 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, True, "2", 130, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, False, "2", 143, marks=pytest.mark.slow),
    ],
)
def test_a_first_signal_ends_a_run_within_seconds(
    number: signal.Signals, group: bool, jobs: str, code: int, tmp_path: Path, start: Start
) -> None:
    command = start([*LONG, "--jobs", jobs], tmp_path)
    wait(lambda: bool(list(tmp_path.glob("here/runs/*/*/.*.new/log.txt"))), command)
    begun = time.monotonic()
    (os.killpg if group else os.kill)(command.process.pid or 0, number)
    assert command.ended(60) == code, command.text
    assert time.monotonic() - begun < 15
    assert "Interrupted. Run the same command again to resume" in command.text
    assert "Traceback" not in command.text
    assert half_written(tmp_path) == []


@pytest.mark.costly
@pytest.mark.parametrize(
    ("number", "jobs", "code", "again"),
    [
        (signal.SIGUSR1, "1", 128 + signal.SIGUSR1, True),
        (signal.SIGTERM, "1", 143, False),
        pytest.param(signal.SIGTERM, "2", 143, True, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_resumes_saves_its_trials_first(
    number: signal.Signals, jobs: str, code: int, again: bool, tmp_path: Path, start: Start
) -> None:
    """The signal reaches all processes, as it does from Slurm; the same command goes on."""
    line = [
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--set",
        "epochs=15",
        "--device",
        "cpu",
    ]
    line += ["--tasks", "gad" if jobs == "1" else "gad,biosses", "--jobs", jobs, "--resume-trials"]
    command = start(line, tmp_path)
    saved = "here/runs/*/*/.*.checkpoint/*"
    wait(lambda: bool(list(tmp_path.glob(saved))), command)
    begun = time.monotonic()
    command.kill(number)
    assert command.ended(60) == code, command.text
    assert time.monotonic() - begun < 30
    assert (
        "finished trials are not repeated, unfinished ones go on from where they were saved."
        in command.text
    )
    assert "Traceback" not in command.text
    assert half_written(tmp_path) == []
    steps = {path.parent.name[1:17]: int(path.name) for path in tmp_path.glob(saved)}
    assert 1 <= len(steps) <= int(jobs)  # the other worker may not have begun
    if not again:
        return
    assert blurb(line, tmp_path / "here")[0] == 0
    for trial_, step in steps.items():
        (path,) = tmp_path.glob(f"here/runs/*/*/{trial_}/provenance.json")
        assert read_json(path)["facts"]["resumed"]["step"] == step
    assert list(tmp_path.glob(saved)) == []


@pytest.mark.slow
def test_a_signal_to_one_worker_costs_one_trial(tmp_path: Path, start: Start) -> None:
    line = [
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad,biosses,hoc",
    ]
    command = start([*line, "--seeds", "3", "--jobs", "2", "--set", "epochs=20"], tmp_path)
    wait(lambda: bool(list(tmp_path.glob("here/runs/*/*/.*.new/log.txt"))), command)
    (log, *_) = tmp_path.glob("here/runs/*/*/.*.new/log.txt")
    os.kill(leases.read(log.parent.with_name(f"{log.parent.name[:17]}.lease")).pid, signal.SIGTERM)
    assert command.ended(300) == 1, command.text
    assert command.text.count("The worker process died") == 2  # in its line, and at the end
    assert len(list(tmp_path.glob("here/runs/*/*/*/DONE.json"))) == 8


def test_a_reader_that_went_away_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m blurb tasks --format csv | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


def test_what_nobody_foresaw_is_2_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.setattr(tables, "check", lambda *_: 1 / 0)
    for more in ([], ["--check", "base"]):
        result = run("run", "baseline:majority", "--suite", "demo", *more)
        assert result.exit_code == 2
        assert "ZeroDivisionError" in result.output
        assert "please report" in result.output


def test_a_full_disk_leaves_nothing_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from blurb.messages.errors import DataError

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match=r"table\.csv: cannot be written: No space left on device"):
        write_whole(tmp_path / "table.csv", b"x")
    assert list(tmp_path.iterdir()) == []

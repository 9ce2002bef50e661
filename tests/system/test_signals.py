"""The first signal waits for the end of a step, the second for nothing. With real processes and signals."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from blurb.system import signals

SCRIPT = """
import signal, sys, time
from contextlib import nullcontext
from blurb.system import signals as stopping

stopping.STEP_LIMIT = float(sys.argv[1])

def leave(number):
    raise stopping.Terminated(number)

stopping.on_first(stopping.SIGNALS, leave, signal.SIG_DFL)
print("ready", flush=True)
try:
    with stopping.step() if sys.argv[3] == "step" else nullcontext():
        end = time.monotonic() + float(sys.argv[2])
        while time.monotonic() < end:
            time.sleep(0.02)
        print("whole", flush=True)
except stopping.Terminated as error:
    print("left", error.number, flush=True)
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def script(
        limit: float, seconds: float, kind: str = "step", ignored: bool = False
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(limit), str(seconds), kind],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: [
                # Whoever runs the tests may ignore some (nohup SIGHUP, a script in the background SIGINT).
                signal.signal(
                    each, signal.SIG_IGN if ignored and each == signal.SIGINT else signal.SIG_DFL
                )
                for each in signals.SIGNALS
            ],
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        return process

    yield script
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("given", "number", "said"),
    [
        *(
            pytest.param(
                (60, 1.5), number, f"whole\nleft {int(number)}\n", marks=pytest.mark.costly
            )
            for number in signals.SIGNALS
        ),
        pytest.param(
            (0.3, 60), signal.SIGTERM, f"left {int(signal.SIGTERM)}\n", id="takes too long"
        ),
        pytest.param(
            (60, 60, "nothing"),
            signal.SIGUSR1,
            f"left {int(signal.SIGUSR1)}\n",
            id="outside of a step",
        ),
        # A script starts its background commands so: Ctrl-C is not for them.
        pytest.param(
            (60, 1, "step", True), signal.SIGINT, "whole\n", id="ignored", marks=pytest.mark.costly
        ),
    ],
)
def test_a_step_ends_before_the_first_signal_is_heard(
    given: tuple[Any, ...], number: signal.Signals, said: str, start: Start
) -> None:
    """Unless it takes too long; outside of a step it is heard at once, and what was ignored stays ignored."""
    process = start(*given)
    os.kill(process.pid, number)
    assert process.communicate(timeout=30)[0] == said
    assert process.returncode == 0  # and the timer is off


def test_a_second_signal_of_any_kind_ends_the_process_at_once(start: Start) -> None:
    process = start(60, 60)
    os.kill(process.pid, signal.SIGUSR1)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == ""
    assert process.returncode == -signal.SIGINT


# What later collections pass over. Oracle: `gc` itself, in a process of its own, as it is all of a process.


LATER = """
import gc, weakref
from blurb.system import process as garbage

class Learner:
    def __init__(self): self.me = self

gc.collect()
garbage.freeze_gc()
assert gc.get_freeze_count() == 0, "this process may be somebody's notebook"
garbage.own_process()
garbage.freeze_gc()
settled = gc.get_freeze_count()
later = weakref.ref(Learner())
garbage.freeze_gc()
assert settled > 1000 and gc.get_freeze_count() <= settled, "once a process"
gc.collect()
assert later() is None, "a learner that refers to itself goes"
"""


def test_what_comes_later_is_collected() -> None:
    subprocess.run([sys.executable, "-c", LATER], check=True)


def test_collection_is_off_for_the_block_alone() -> None:
    code = "import gc; from blurb.system import process as g\nwith g.gc_disabled(): assert not gc.isenabled()\n"
    subprocess.run([sys.executable, "-c", f"{code}assert gc.isenabled()"], check=True)


IN_A_NOTEBOOK = """
import gc, sys, weakref
import blurb

class Mine:
    def __init__(self): self.me = self

mine = Mine()
gone = weakref.ref(mine)
blurb.run("baseline:majority", "biosses", suite="demo", seeds=1, output=sys.argv[1], progress=False)
del mine
gc.collect()
assert gone() is None and gc.get_freeze_count() == 0
"""


@pytest.mark.costly
def test_what_the_caller_of_run_has_is_collected(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK, str(tmp_path / "runs")], check=True)


@pytest.mark.costly
def test_a_command_settles(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "import gc, sys\nfrom blurb.cli import main\ntry: main()\nfinally: print(gc.get_freeze_count())\n",
        "run",
        "baseline:majority",
        "--suite",
        "demo",
        "--tasks",
        "biosses",
    ]
    done = subprocess.run(
        [*command, "--output", "runs"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert int(done.stdout.split()[-1]) > 1000

"""The first signal waits for the end of a step, the second for nothing. With real processes and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

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


@pytest.mark.costly
@pytest.mark.parametrize("number", signals.SIGNALS)
def test_a_step_ends_before_the_first_signal_is_heard(number: signal.Signals, start: Start) -> None:
    process = start(60, 1.5)
    os.kill(process.pid, number)
    assert process.communicate(timeout=30)[0] == f"whole\nleft {int(number)}\n"
    assert process.returncode == 0  # and the timer is off


def test_a_step_that_takes_too_long_is_cut(start: Start) -> None:
    process = start(0.3, 60)
    os.kill(process.pid, signal.SIGTERM)
    assert process.communicate(timeout=30)[0] == f"left {int(signal.SIGTERM)}\n"


def test_outside_of_a_step_it_is_heard_at_once(start: Start) -> None:
    process = start(60, 60, "nothing")
    os.kill(process.pid, signal.SIGUSR1)
    assert process.communicate(timeout=30)[0] == f"left {int(signal.SIGUSR1)}\n"


def test_a_second_signal_of_any_kind_ends_the_process_at_once(start: Start) -> None:
    process = start(60, 60)
    os.kill(process.pid, signal.SIGUSR1)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == ""
    assert process.returncode == -signal.SIGINT


@pytest.mark.costly
def test_what_was_ignored_stays_ignored(start: Start) -> None:
    """A script starts its background commands so: Ctrl-C is not for them."""
    process = start(60, 1, ignored=True)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "whole\n"

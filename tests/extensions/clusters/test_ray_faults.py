"""A cluster of Ray whose workers and drivers are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.sweep import Undisturbed, assert_kept, chances, finished, record, rounds

pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster that outlives its drivers."""
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    begin = [
        "start",
        "--head",
        "--num-cpus=2",
        "--port=0",
        "--include-dashboard=false",
        "--disable-usage-stats",
    ]
    # On a busy machine
    patient = {"RAY_health_check_timeout_ms": "60000", "RAY_health_check_failure_threshold": "60"}
    subprocess.run([*ray, *begin], check=True, capture_output=True, env={**os.environ, **patient})
    yield "auto"
    subprocess.run([*ray, "stop", "--force"], check=True, capture_output=True)


def test_drivers_and_workers_are_killed(
    address: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Of a dead worker the trial starts again; of a dead driver the same command goes on."""
    rng, kills, sweeps = chances("ray"), {"driver": 0, "worker": 0}, 0
    command = [
        sys.executable,
        "-m",
        "blurb",
        *undisturbed.arguments,
        "--engine",
        f"ray,address={address},cpus=1,gpus=0",
    ]
    while sum(kills.values()) < rounds(short=4, share=0.1):
        folder, here = tmp_path / str(sweeps), 0
        folder.mkdir()
        sweeps += 1
        while True:
            before = finished(folder)
            with (tmp_path / "said").open("w") as said:
                driver = subprocess.Popen(
                    command, cwd=folder, stdout=said, stderr=said, start_new_session=True
                )
                which = kill_one(driver, folder, rng)
                here += which in kills
                kills.update({which: kills[which] + 1} if which in kills else {})
                code = driver.wait(300)
            assert_kept(before, folder)
            undisturbed.assert_no_wrong_cell(folder)
            if code == 0:
                break
            assert code == -signal.SIGKILL, (tmp_path / "said").read_text()
        undisturbed.assert_same(folder, here)
    record("a cluster of Ray", drivers=kills["driver"], workers=kills["worker"], sweeps=sweeps)


def kill_one(driver: subprocess.Popen[bytes], folder: Path, rng: random.Random) -> str:
    """Kills the driver or a worker a moment after some number of trials has ended; says which, or that none was."""
    there = len(finished(folder))
    enough, which = rng.randint(there, max(there, 5)), rng.choice(["driver", "worker", "none"])
    while driver.poll() is None and not (workers_of_ray() and len(finished(folder)) >= enough):
        time.sleep(0.05)
    time.sleep(rng.uniform(0, 0.5))
    if driver.poll() is None:
        if which == "driver":
            os.killpg(driver.pid, signal.SIGKILL)
            return which
        if which == "worker" and (workers := workers_of_ray()):
            os.kill(rng.choice(workers), signal.SIGKILL)
            return which
    return "none"


def workers_of_ray() -> list[int]:
    """The processes in which its tasks run; whoever kills an agent of the cluster ends the machine with it."""
    found = subprocess.run(
        ["pgrep", "-f", "^ray::(run_one|IDLE)"], capture_output=True, text=True
    ).stdout
    return [int(number) for number in found.split()]

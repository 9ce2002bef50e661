"""SIGKILL at chosen and at random points, until the sweep is done in spite of it. Oracle: the undisturbed sweep."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.child import Faults
from tests.faults.commands import Command, blurb
from tests.faults.sweep import Undisturbed, assert_kept, chances, finished, record, rounds, sweep


@pytest.mark.costly
def test_killed_before_any_change_of_the_disk(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Each command is killed before a change that is drawn, or after half of a file, and the next one goes on."""
    rng, kills, sweeps = chances("changes"), 0, 0
    while kills < rounds(short=8, share=0.4):
        folder = tmp_path / str(sweeps)
        kills += killed_until_done(undisturbed, folder, rng)
        sweeps += 1
    record(
        "killed before a change of the disk",
        kills=kills,
        sweeps=sweeps,
        changes=undisturbed.changes,
    )


def killed_until_done(undisturbed: Undisturbed, folder: Path, rng: random.Random) -> int:
    killed: list[tuple[int, bool]] = []
    while True:
        before = finished(folder)
        where = rng.randint(1, undisturbed.changes), rng.random() < 0.5
        command = Command(undisturbed.arguments, folder, Faults(kill_at=where[0], torn=where[1]))
        code = command.ended()
        assert_kept(before, folder)
        undisturbed.assert_no_wrong_cell(folder)
        if code == 0:
            undisturbed.assert_same(folder, len(killed))
            return len(killed)
        assert code == -signal.SIGKILL, command.text
        killed.append(where)
        assert len(killed) < 100, f"no progress after kills at {killed}"


@pytest.mark.parametrize(
    ("name", "more", "share"),
    [
        pytest.param("two at a time", ["--jobs", "2"], 0.1, marks=pytest.mark.slow),
        pytest.param(
            "with checkpoints",
            ["--resume-trials", "--set", "epochs=4"],
            0.1,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_killed_at_any_time(name: str, more: list[str], share: float, tmp_path: Path) -> None:
    """All processes of the command at once."""
    rng, kills, sweeps = chances(name), 0, 0
    undisturbed = Undisturbed.run(
        sweep(*more, models=("scratch:tiny", "baseline:majority")), tmp_path / "whole"
    )
    while kills < rounds(short=2, share=share):
        folder = tmp_path / str(sweeps)
        sweeps += 1
        limit, before = 12.0, kills
        while (command := Command(undisturbed.arguments, folder)).killed_after(
            rng.uniform(0, limit)
        ):
            kills += 1
            limit *= 1.2  # whoever restarts it again and again waits longer
            undisturbed.assert_no_wrong_cell(folder)
        assert command.ended() == 0, command.text
        undisturbed.assert_same(folder, kills - before)
    record(f"killed at any time, {name}", kills=kills, sweeps=sweeps)


@pytest.mark.costly
def test_parts_of_a_sweep_that_are_killed_and_queued_again(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """As the jobs of an array: each works on its part of the sweep, and is started again until it says 0."""
    rng, kills, sweeps = chances("parts"), 0, 0
    while kills < rounds(short=3, share=0.15):
        folder = tmp_path / str(sweeps)
        sweeps += 1
        kills += parts(undisturbed, folder, rng)
    record("parts of an array of Slurm", kills=kills, sweeps=sweeps)


def parts(undisturbed: Undisturbed, folder: Path, rng: random.Random) -> int:
    kills = 0
    # What is submitted stays in the sweep; nobody else runs it.
    engine = ["--engine", "slurm,trials=2", "--print"]
    code, said = blurb([*undisturbed.arguments, *engine], folder)
    assert code == 0, said
    (jobs,) = (folder / "runs" / ".sweeps").glob("*/jobs.json")
    todo = [0, 1, 2]
    while todo:
        running = {
            part: Command(
                ["worker", "--sweep", str(jobs.parent), "--part", str(part)],
                folder,
                Faults(kill_at=rng.randint(1, undisturbed.changes // 2), torn=rng.random() < 0.5),
            )
            for part in todo
        }
        codes = {part: command.ended() for part, command in running.items()}
        assert set(codes.values()) <= {0, -signal.SIGKILL}, [
            command.text for command in running.values()
        ]
        todo = [part for part, code in codes.items() if code]
        kills += len(todo)
    code, said = blurb(undisturbed.arguments, folder)
    assert code == 0, said
    assert ": done in" not in said
    undisturbed.assert_same(folder, kills)
    return kills


@pytest.mark.costly
def test_a_copy_that_was_taken_while_the_store_was_written(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """As a machine in a cloud keeps its store: what the copy has of a trial is whole, or the trial is run again."""
    rng, copies = chances("copies"), rounds(short=2, share=0.05)
    for number in range(copies):
        here, copy = tmp_path / f"{number}", tmp_path / f"copy-{number}"
        command = Command(undisturbed.arguments, here)
        while not list(here.glob("runs/*/*/*/DONE.json")) and command.process.is_alive():
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.5))
        # Files come and go meanwhile, which cp tells and passes over.
        subprocess.run(["cp", "-a", str(here), str(copy)], capture_output=True, check=False)
        command.kill()
        for lease in copy.rglob("*.lease"):
            lease.unlink()
        code, said = blurb(undisturbed.arguments, copy)
        assert code == 0, said
        undisturbed.assert_same(copy, kills=1)
    record("copies of a store that was being written", copies=copies)

"""SIGKILL at chosen and at random points, until the sweep is done in spite of it. Oracle: the undisturbed sweep."""

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.child import ASKED_FOR_LOCK, Faults
from tests.faults.commands import Command, blurb
from tests.faults.sweep import (
    SILENCE,
    Undisturbed,
    assert_kept,
    chances,
    finished,
    record,
    rounds,
    sweep,
)


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
    code, said = blurb([*undisturbed.arguments, *["--engine", "slurm,trials=2", "--print"]], folder)
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


# Many commands on one store: of one machine and of several, with clocks that are wrong, and some of them killed.


YEAR = 365 * 86_400.0


@pytest.mark.costly
def test_machines_that_are_killed_and_whose_clocks_are_wrong(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """None can ask whether a process of another lives: the trials of a dead one are taken over when it was silent."""
    rng, kills, sweeps = chances("machines"), 0, 0
    while kills < rounds(short=3, share=0.15):
        folder = tmp_path / str(sweeps)
        sweeps += 1
        so_far = kills
        clocks = {"left": -YEAR, "middle": 0.0, "right": YEAR}
        while clocks:
            before = finished(folder)
            running = {}
            for host, clock in clocks.items():
                place = rng.randint(1, 2 * undisturbed.changes)
                faults = Faults(
                    kill_at=place, torn=rng.random() < 0.5, clock=clock, host=host, limit=SILENCE
                )
                running[host] = Command(undisturbed.arguments, folder, faults)
            codes = {host: command.ended() for host, command in running.items()}
            assert set(codes.values()) <= {0, -signal.SIGKILL}, [
                command.text for command in running.values()
            ]
            kills += sum(code != 0 for code in codes.values())
            assert_kept(before, folder)
            undisturbed.assert_no_wrong_cell(folder)
            clocks = {host: clocks[host] for host, code in codes.items() if code}
        undisturbed.assert_same(folder, kills - so_far)
    record("several machines, killed, wrong clocks", kills=kills, sweeps=sweeps)


@pytest.mark.costly
def test_many_workers(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Each trial is run once; the tables are those of one process."""
    folder, number = tmp_path / "here", 68 if rounds(0) else 8
    # For others to run
    code, said = blurb([*undisturbed.arguments, "--engine", "slurm", "--print"], folder)
    assert code == 0, said
    workers = [
        Command(["worker", "--output", "runs", "--leaderboard", "runs/leaderboard.csv"], folder)
        for _ in range(number)
    ]
    codes = [worker.ended(600) for worker in workers]
    said = "\n".join(worker.text for worker in workers)
    assert set(codes) <= {0, 2}, said
    assert said.count("has no sweep to join") == codes.count(2), "those that came when all was done"
    assert said.count(": done in") == undisturbed.trials
    undisturbed.assert_same(folder)
    record("workers at a time", workers=number, trials=undisturbed.trials)


@pytest.mark.costly
def test_two_commands_on_a_disk_without_locks(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """They divide the sweep, and neither asks for a lock."""
    folder = tmp_path / "here"
    running = [Command(undisturbed.arguments, folder, Faults(without_locks=True)) for _ in range(2)]
    assert [command.ended() for command in running] == [0, 0], [command.text for command in running]
    said = "".join(command.text for command in running)
    assert ASKED_FOR_LOCK not in said
    assert said.count(": done in") == said.count(": already done") == undisturbed.trials
    undisturbed.assert_same(folder)


@pytest.mark.costly
def test_two_sweeps_at_a_time(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """They share a row; both are there at the end, as if one had run after the other."""
    other = sweep(models=("baseline:majority", "baseline:bigrams"))
    one_by_one, together = tmp_path / "one-by-one", tmp_path / "together"
    assert {blurb(arguments, one_by_one)[0] for arguments in (undisturbed.arguments, other)} == {0}
    running = [Command(arguments, together) for arguments in (undisturbed.arguments, other)]
    assert [command.ended() for command in running] == [0, 0], [command.text for command in running]
    assert sum(command.text.count(": done in") for command in running) == 9
    for name in ("runs/leaderboard.csv", "runs/results.csv"):
        assert (together / name).read_bytes() == (one_by_one / name).read_bytes()

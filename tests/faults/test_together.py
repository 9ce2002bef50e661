"""Many commands on one store: of one machine and of several, with clocks that are wrong, and some of them killed."""

from __future__ import annotations

import signal
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
    code, said = blurb(
        [*undisturbed.arguments, "--engine", "slurm", "--print"], folder
    )  # for others to run
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
    for arguments in (undisturbed.arguments, other):
        assert blurb(arguments, one_by_one)[0] == 0
    running = [Command(arguments, together) for arguments in (undisturbed.arguments, other)]
    assert [command.ended() for command in running] == [0, 0], [command.text for command in running]
    assert sum(command.text.count(": done in") for command in running) == 9
    for name in ("runs/leaderboard.csv", "runs/results.csv"):
        assert (together / name).read_bytes() == (one_by_one / name).read_bytes()

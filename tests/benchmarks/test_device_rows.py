"""Whole rows: which datasets and seeds are asked for, and what their minutes are of. The command is made up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.device import measure_rows
from benchmarks.device.cells import Context, Unfinished
from benchmarks.device.commands import sets_at_hand
from blurb import tasks


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """All files but BioASQ's, and but the train set of EBM PICO."""
    for task in tasks.all():
        for split in tasks.SPLITS:
            if task.name != "bioasq" and (task.name, split) != ("ebm-pico", "train"):
                path = tmp_path / "data" / task.files[split]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    return tmp_path / "data"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that would be run; the first does not end in time."""
    commands: list[Sequence[str]] = []

    def ended(context: Context, command: Sequence[str]) -> bool:
        commands.append(command)
        time.sleep(0.2)
        return len(commands) > 1

    monkeypatch.setattr(measure_rows, "ended", ended)
    return commands


def context(bundle: Path) -> Context:
    (bundle / "scratch").mkdir(exist_ok=True)
    return Context(bundle, False, False, time.monotonic() + 60)


def value(command: Sequence[str], option: str) -> str:
    return command[command.index(option) + 1]


def test_a_dataset_without_its_train_set_is_left_out(data: Path) -> None:
    names = [task.name for task in sets_at_hand(data)]
    assert names == [task.name for task in tasks.all() if task.name not in ("ebm-pico", "bioasq")]


def test_seeds_are_those_of_the_protocol_for_each_dataset(data: Path, asked: list[Any]) -> None:
    """Ten for the two small sets that are there, five for the others."""
    cells = list(measure_rows.cells(context(data.parent), "MiniLM", "standard"))
    assert [cell.name for cell in cells] == [f"MiniLM, standard, {seed}" for seed in range(1, 11)]
    with pytest.raises(Unfinished):
        cells[0].measure()
    cells[5].measure()
    assert [value(command, "--seeds") for command in asked] == ["1", "6"]
    assert value(asked[0], "--tasks") == ",".join(task.name for task in sets_at_hand(data))
    assert value(asked[1], "--tasks") == "biosses,pubmedqa"
    assert len(list(measure_rows.cells(context(data.parent), "MiniLM", "quick"))) == 1


def test_minutes_are_of_all_calls(data: Path, asked: list[Any]) -> None:
    cell = next(iter(measure_rows.cells(context(data.parent), "MiniLM", "quick")))
    with pytest.raises(Unfinished) as first:
        cell.measure()
    assert cell.measure()["wall"] >= first.value.figures["wall"] + 0.2

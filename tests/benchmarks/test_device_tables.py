"""The tables of the page from figures that are easy to compute by hand."""

import doctest
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from benchmarks.bench import full_sets
from benchmarks.device import cards, measure_jobs, measure_rows, measure_tests, parts, runner
from benchmarks.device.cells import Context, Unfinished
from benchmarks.device.commands import sets_at_hand
from benchmarks.device.measure_rows import mean_of_types
from blurb import tasks


def table(name: str, cells: dict[str, Any]) -> list[dict[str, str]]:
    """The lines of a part's table by column; columns of one name are numbered."""
    part = parts.get(name)
    columns = [
        f"{column}{part.columns[:place].count(column) or ''}"
        for place, column in enumerate(part.columns)
    ]
    return [dict(zip(columns, map(str, row), strict=True)) for row in part.rows(cells)]


def test_speeds_are_compared_within_encoder_batch_and_precision() -> None:
    def speed(training: float, prediction: float) -> dict[str, float]:
        return {"training": training, "prediction": prediction, "sentences": 1600}

    lines = table(
        "throughput",
        {
            "MiniLM, 16, recipe fp32": speed(1_000, 4_000),
            "MiniLM, 16, recipe bf16, grouped by length": speed(2_000, 8_000),
            "MiniLM, 16, blurb bf16": speed(3_000, 12_000),
            "MiniLM, 16, blurb fp32": speed(1_500, 6_000),
            "MiniLM, 32, blurb bf16": speed(9_000, 9_000),
        },
    )
    assert [
        (line["variant"], line["x recipe"], line["x tuned"], line["x tuned1"]) for line in lines
    ] == [
        ("recipe fp32", "1.00", "0.50", "0.50"),
        ("recipe bf16, grouped by length", "2.00", "1.00", "1.00"),
        ("blurb bf16", "3.00", "1.50", "1.50"),
        ("blurb fp32", "1.50", "0.75", "0.75"),
        ("blurb bf16", "", "", ""),  # nothing of its batch size
    ]
    assert lines[2]["training, tokens/s"] == "3,000"


def test_a_row_has_minutes_and_the_mean_of_the_means_of_types() -> None:
    one = {"train": 50.0, "choose": 5.0, "predict": 10.0}
    sets = {
        "bc5-chem": {**one, "test": 80.0},
        "bc2gm": {**one, "test": 90.0},
        "gad": {**one, "test": 75.0},
    }
    assert mean_of_types(sets) == (85 + 75) / 2
    assert mean_of_types({"gad": one}) is None
    cells = {
        "MiniLM, quick, 1": {"wall": 90.0, "jobs": 4, "asked": 3, "sets": sets},
        "MiniLM, quick, 2": {
            "wall": 60.0,
            "jobs": 4,
            "asked": 3,
            "sets": {"gad": sets["gad"]},
            "unfinished": True,
        },
        "MiniLM, quick, 3": {"wall": 60.0, "jobs": 4, "asked": 1, "sets": {"gad": sets["gad"]}},
        "MiniLM, quick, 4": {"wall": 60.0, "jobs": 4, "asked": 3, "sets": {"gad": sets["gad"]}},
    }
    first, *others = table("quick", cells)
    assert first == {
        "encoder": "MiniLM",
        "protocol": "quick",
        "seed": "1",
        "sets": "3",
        "wall minutes": "1.5",
        "trials, minutes": "3.0",
        "at a time": "4",
        "mean of task types": "80.00",
    }
    # A mean stands only where all sets have the seed and none is missing: else it is another quantity.
    found = [(line["sets"], line["mean of task types"]) for line in others]
    assert found == [("1 of 3 so far", ""), ("1", ""), ("1 of 3", "")]


def test_jobs_that_did_not_end_are_compared_with_nothing() -> None:
    eight = {"trials": 8, "seconds": 120.0, "memory": 2.0}
    cells = {
        "1": eight,
        "4": {**eight, "seconds": 40.0},
        "8": {**eight, "unfinished": True},
        "4, MPS": {**eight, "seconds": 30.0},
    }
    assert [
        (line["at a time"], line["MPS"], line["x one at a time"]) for line in table("jobs", cells)
    ] == [("1", "no", "1.00"), ("4", "no", "3.00"), ("4", "yes", "4.00")]


def test_the_other_tables() -> None:
    (line,) = table(
        "estimates",
        {
            "MiniLM, hoc, epochs=2": {
                "predicted": 40,
                "measured": 50,
                "predicted memory": 2e9,
                "measured memory": 1.5e9,
            }
        },
    )
    assert (line["task"], line["ratio"], line["predicted GB"], line["measured GB"]) == (
        "hoc",
        "1.25",
        "2.00",
        "1.50",
    )
    (line,) = table(
        "resume", {"MiniLM, SIGKILL": {"differ": 0, "step": 170, "whole": 30.0, "rest": 22.0}}
    )
    assert (line["went on after step"], line["answers that differ"]) == ("170", "0")
    (line,) = table(
        "resume", {"MiniLM, SIGTERM": {"differ": 0, "step": None, "whole": None, "rest": 22.0}}
    )
    assert (line["went on after step"], line["seconds without"]) == ("the beginning", "")
    (line,) = table(
        "prediction", {"MiniLM, hoc, bf16": {"seconds": 2.0, "tokens": 5_000, "padding": 0.0213}}
    )
    assert (line["test set"], line["tokens/s"], line["padding"]) == ("hoc", "2,500", "2.1%")


def test_what_pytest_counted(tmp_path: Path) -> None:
    (tmp_path / "tests.xml").write_text(
        '<testsuites><testsuite errors="1" failures="1" skipped="1" tests="4" time="2.25"><testcase name="a"/>'
        '<testcase name="b"><failure/></testcase><testcase name="c"><error/></testcase><testcase name="d"><skipped/>'
        "</testcase></testsuite></testsuites>"
    )
    counted = measure_tests.counts(tmp_path / "tests.xml")
    assert counted == {"passed": 1, "failed": 2, "skipped": 1, "seconds": 2.2, "names": ["b", "c"]}
    (line,) = table("tests", {"pytest -m gpu": counted})
    assert line["failed tests"] == "`b`, `c`"


@pytest.mark.parametrize("module", [cards, full_sets, runner], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted
    assert tried.failed == 0


# Several trials at a time: what is known before the clock starts, and what their memory is. The command is made up.


def test_rates_of_every_number_of_workers_are_known_before_it_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They depend on the threads of a worker: else one trial at a time is measured warm and four are measured cold."""
    commands: list[Sequence[str]] = []
    used = iter([(70, 80), (69, 80), *[(50, 80)] * 100])
    monkeypatch.setattr(
        measure_jobs, "ended", lambda context, command: not commands.append(command)
    )
    monkeypatch.setattr(
        measure_jobs, "trials", lambda store: iter(range(8)) if store.name == "jobs" else iter([1])
    )
    found = measure_jobs.measure(Context(tmp_path, False, False, time.monotonic() + 60), 4)
    rates, measured = commands
    assert "--dry-run" in rates
    assert "--dry-run" not in measured
    for command in commands:
        assert command[command.index("--jobs") + 1] == "4"
        assert command[command.index("--seeds") + 1] == "8"
    assert found["trials"] == 8

    def sleeps(context: Context, command: Sequence[str]) -> bool:
        time.sleep(1.2)
        return True

    monkeypatch.setattr(measure_jobs, "ended", sleeps)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: [2**30 * each for each in next(used)])
    found = measure_jobs.measure(Context(tmp_path, False, False, time.monotonic() + 60), 4)
    assert found["memory"] == pytest.approx(20)  # 10 GiB were taken before


def test_a_service_that_a_killed_part_left_is_ended_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the control program would refuse to start a second one; afterwards nothing of ours runs on."""
    control, log = tmp_path / measure_jobs.CONTROL, tmp_path / "log"
    control.write_text(f'#!/bin/sh\necho "$CUDA_MPS_PIPE_DIRECTORY ${{1:-$(cat)}}" >> {log}\n')
    control.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    pipe = tmp_path / "scratch" / "mps"
    assert measure_jobs.with_service(
        Context(tmp_path, False, True, time.monotonic() + 60),
        lambda: {"pipe": os.environ["CUDA_MPS_PIPE_DIRECTORY"]},
    ) == {"pipe": str(pipe)}
    assert log.read_text().splitlines() == [f"{pipe} quit", f"{pipe} -d", f"{pipe} quit"]
    assert "CUDA_MPS_PIPE_DIRECTORY" not in os.environ


# Whole rows: which datasets and seeds are asked for, and what their minutes are of. The command is made up.


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

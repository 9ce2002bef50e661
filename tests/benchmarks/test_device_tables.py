"""The tables of the page from figures that are easy to compute by hand."""

from __future__ import annotations

import doctest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.bench import full_sets
from benchmarks.device import cards, measure_tests, parts, runner
from benchmarks.device.measure_rows import mean_of_types


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
    ratios = [
        (line["variant"], line["x recipe"], line["x tuned"], line["x tuned1"]) for line in lines
    ]
    assert ratios == [
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
    lines = [
        (line["at a time"], line["MPS"], line["x one at a time"]) for line in table("jobs", cells)
    ]
    assert lines == [("1", "no", "1.00"), ("4", "no", "3.00"), ("4", "yes", "4.00")]


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

"""The committed series with a fault in it: gate and plan find from its table what docs/extensions/series.md says."""

import statistics
from pathlib import Path

import pytest

import blurb
from tests.conftest import ROOT
from tests.rewriting import csv_lines

FOLDER = ROOT / "docs" / "results" / "lab" / "series"
RESULTS = FOLDER / "results.csv"
TASKS = "ncbi-disease,gad"


def row(run: str, step: int) -> str:
    return f"{RESULTS}:{run}@{step} sketch"


@pytest.mark.parametrize("run", ["healthy", "faulty"])
def test_the_gate_stops_the_fault_and_nothing_else(run: str, tmp_path: Path) -> None:
    assert {
        outcome.name
        for outcome in {
            step: blurb.check(
                row(run, step),
                row(run, 7000),
                rule="noise",
                tasks=TASKS,
                state=tmp_path / "looks.json",
                looks=20,
            ).outcome
            for step in (8000, 9000, 10000, 11000, 12000, 12689)
        }.values()
    } == {"REGRESSION" if run == "faulty" else "PASS"}


def test_seeds_are_planned_from_its_runs() -> None:
    plan = blurb.plan(row("healthy", 7000), detect=3, split="dev")
    assert [plan[task]["seeds"] for task in TASKS.split(",")] == [21, 25]


def test_the_curve_has_the_means_of_the_table() -> None:
    lines = [
        line for line in csv_lines(RESULTS) if line["split"] == "dev" and line["metric"] == "f1"
    ]
    curve = [
        line
        for line in csv_lines(FOLDER / "sketch" / "series.csv")
        if line["measure"] == "score" and line["dataset"] in TASKS
    ]
    assert len(curve) == 88
    for point in curve:
        own = [
            float(line["value"])
            for line in lines
            if line["model"] == f"{point['run']}@{point['step']}"
            and (line["task"], line["protocol"]) == (point["dataset"], "sketch")
        ]
        assert len(own) == 3
        assert float(point["value"]) == pytest.approx(statistics.fmean(own), abs=0.006)

"""`blurb run --protocol probe`, whole, on the demo suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.learners.frozen.probe import ProbeLearner
from blurb.messages.errors import TrainingError
from blurb.results import from_store
from blurb.results.leaderboard_csv import read_lines
from blurb.store import row_trials as rows
from blurb.store.store import Store

RUN = (
    "run",
    "scratch:tiny",
    "--suite",
    "demo",
    "--protocol",
    "probe",
    "--device",
    "cpu",
    "--precision",
    "fp32",
)


def blurb(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*RUN, *arguments])


@pytest.mark.costly
def test_a_row_of_probes(here: Path) -> None:
    result = blurb("--tasks", "gad,biosses,pubmedqa")
    assert result.exit_code == 0, result.output
    (row,) = from_store.read(Store(here / "runs"))
    assert (row.learner, set(row.records), row.data) == (
        "probe",
        {"gad", "biosses", "pubmedqa"},
        "synthetic",
    )
    assert all(row.values(name)[0] > (row.datasets[name].majority() or 0.0) for name in row.records)
    assert row.note == "probe of the frozen encoder: no ranking of encoders, no run variance"
    lines = [line for _, line in read_lines(here / "runs" / "leaderboard.csv")]
    assert [(line["learner"], line["protocol"], line["score_sd"]) for line in lines] == [
        ("probe", "probe", "")
    ]
    before = (here / "runs" / "results.csv").read_bytes()
    assert blurb("--tasks", "gad,biosses,pubmedqa").stderr.count("already done") == 3
    assert CliRunner().invoke(cli, ["rescore", "--output", "runs"]).exit_code == 0
    assert (here / "runs" / "results.csv").read_bytes() == before


@pytest.mark.costly
def test_a_row_of_probes_that_all_failed_is_one(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What learned is known of what was planned; it was asked of finished trials alone."""

    def fit(*given: object) -> None:
        raise TrainingError("none of this")

    monkeypatch.setattr(ProbeLearner, "fit", fit)
    result = CliRunner().invoke(cli, [RUN[0], "baseline:majority", *RUN[1:], "--tasks", "gad"])
    assert result.exit_code == 1
    store = Store(here / "runs")
    assert {row.model: row.learner for row in rows.read(store)} == {
        "scratch:tiny": "probe",
        "baseline:majority": "",
    }
    assert [(row.model, row.learner) for row in from_store.read(store)] == [
        ("baseline:majority", "baseline")
    ]
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert blurb("--tasks", "gad").exit_code == 0
    assert [(row.model, row.learner) for row in from_store.read(store)] == [
        ("baseline:majority", "baseline"),
        ("scratch:tiny", "probe"),
    ]


@pytest.mark.slow
def test_the_demo_has_a_row_of_probes(here: Path) -> None:
    result = blurb()
    assert result.exit_code == 0, result.output
    (row,) = from_store.read(Store(here / "runs"))
    assert (row.learner, row.complete, row.data) == ("probe", True, "synthetic")
    assert row.spread is None  # one fit has no run variance
    below = [
        name for name in row.records if row.values(name)[0] < (row.datasets[name].majority() or 0.0)
    ]
    assert below == []
    assert row.score is not None

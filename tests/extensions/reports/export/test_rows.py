"""Which row an export takes, and what it says if it cannot know."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Configuration
from tests.cli.test_start_up import loaded
from tests.extensions.reports.export.stores import (
    bioasq,
    export,
    finish as finish_with_answers,
    gad,
)
from tests.store.fakes import CONFIGURATION, finish, row, trial

HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "accelerate",
    "pandas",
    "sklearn",
    "scipy",
    "evaluate",
)


def add(
    store: Store, model: str, configuration: Configuration = CONFIGURATION, score: float = 0.5
) -> None:
    planned = trial("gad", seed=1 + len(store.trial_folders()))
    finish(store, model, planned, score)
    rows.write(store, row(model, planned, configuration=configuration))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Model `a` with three rows, `b` with one, `trial` with one of the demo suite."""
    found = Store(tmp_path / "runs")
    add(found, "alpha")
    add(found, "alpha", replace(CONFIGURATION, precision="bf16"))
    add(found, "alpha", replace(CONFIGURATION, protocol="standard", overrides={}))
    add(found, "beta")
    add(found, "sigma", replace(CONFIGURATION, suite="demo"))
    return found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["latexx"], "Did you mean 'latex'"),
        (["model-index", "alpah"], "Did you mean 'alpha'"),
        (
            ["model-index"],
            "There are 4 such rows; choose one as ROW:\n  'alpha quick lr=0.001 bf16'\n",
        ),
        (["model-index", "alpha quick"], "called 'alpha quick'. Did you mean 'alpha'"),
        (["model-index", "alpha quick lr=0.001 bf61"], "Did you mean 'alpha quick lr=0.001 bf16'"),
        (["model-index", "sigma"], "synthetic demo suite"),
        (["submission", "sigma"], "synthetic demo suite"),
        (["model-index", "beta", "--tasks", "ner"], "beta has no finished trial of bc5-chem"),
        (["bibtex", "--sd"], "--sd does not apply to bibtex, only to latex, markdown"),
        (["markdown", "--published", "gu2012"], "Did you mean 'gu2021'"),
        (["markdown", "sigma", "--published", "gu2021"], "cannot be compared with published ones"),
        (["markdown", "--tasks", "gda"], "Did you mean 'gad'"),
    ],
)
def test_what_is_not_clear_is_an_error_and_writes_nothing(
    store: Store, tmp_path: Path, arguments: list[str], message: str
) -> None:
    code, text = export(*arguments, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert code == 2
    assert message in text
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["beta", "alpha standard", "alpha quick lr=0.001 bf16"])
def test_a_row_is_an_argument_by_the_name_that_tables_print(
    store: Store, tmp_path: Path, name: str
) -> None:
    assert export("model-index", name, folder=tmp_path)[0] == 0


def test_a_table_takes_all_rows_of_a_model_and_each_once(store: Store, tmp_path: Path) -> None:
    code, text = export(
        "markdown", "alpha", "alpha standard", "beta", "--tasks", "gad", folder=tmp_path
    )
    assert code == 0
    assert text.splitlines()[0].count("alpha") == 3
    assert text.splitlines()[0].count("beta") == 1


def test_rows_that_differ_in_their_weights_are_told_apart(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    add(store, "alpha")
    planned = trial("gad", seed=9)
    finish(store, "alpha", planned, 0.6)
    rows.write(store, replace(row("alpha", planned), weights="f" * 64))
    code, text = export("model-index", folder=tmp_path)
    assert code == 2
    assert "'alpha quick lr=0.001 ffffffffffff'" in text
    assert export("model-index", f"alpha quick lr=0.001 {'f' * 12}", folder=tmp_path)[0] == 0


@pytest.mark.costly
def test_nothing_heavy_is_loaded(store: Store, tmp_path: Path) -> None:
    names = ["latex", "markdown", "model-index", "eval-results", "bibtex"]
    lines = [
        ["export", name, "beta", "--output", str(store.root), "--out", str(tmp_path / name)]
        for name in names
    ]
    assert loaded(lines, HEAVY, tmp_path) == [("0", [])] * len(names)
    assert set(names) <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(("wanted", "names"), [("gad", ["gad"]), ("all", ["bioasq", "gad"])])
def test_the_files_of_a_row_are_of_the_datasets_that_were_asked_for(
    tmp_path: Path, wanted: str, names: list[str]
) -> None:
    found = Store(tmp_path / "runs")
    finish_with_answers(found, "gad", gad())
    finish_with_answers(found, "bioasq", bioasq(), verdict="counts only")
    code, text = export("row", "--tasks", wanted, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert code == 0, text
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.parquet")) == names
    assert {
        run["task"] for run in json.loads((tmp_path / "out" / "row.json").read_text())["runs"]
    } == set(names)
    code, text = export("row", "--tasks", "hoc", "--out", str(tmp_path / "none"), folder=tmp_path)
    assert (code, "has no predictions of hoc; check --tasks" in text) == (2, True)

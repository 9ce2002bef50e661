"""Rows from the trials of a store. Oracle: the JSON files of the trials, read by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb.results import from_store
from blurb.results.row import Origin, Row
from blurb.store import row_trials as rows
from blurb.store.record import read_spec
from blurb.store.store import Store
from tests.results import played
from tests.store import fakes

NAMES = ("ncbi-disease", "gad", "biosses")
LIMITED = {"head": "crf", "tagging": "io", "max_train": 9, "max_eval": 0}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three datasets with two seeds each, of invented predictions."""
    store = Store(tmp_path_factory.mktemp("from-store") / "runs")
    played.play(store, "m", dict.fromkeys(NAMES, 0.7), (1, 2), settings=LIMITED)
    return store


def only(store: Store) -> Row:
    (row,) = from_store.read(store, pytest.fail)
    return row


def content(path: Path, name: str) -> Any:
    return json.loads((path / name).read_text(encoding="utf-8"))


def test_figures_are_times_100_and_counts_as_they_are(store: Store) -> None:
    row = only(store)
    assert row.origin is Origin.STORE
    counts = {
        "ncbi-disease": {"true_positives", "predicted", "gold"},
        "biosses": {"constant"},
    }  # docs/csv.md
    for path in store.trial_folders():
        spec, metrics = content(path, "spec.json"), content(path, "metrics.json")
        run = row.datasets[spec["task"]].runs[spec["seed"]]
        assert row.datasets[spec["task"]].metric == metrics["metric"]
        for split in ("dev", "test"):
            assert set(run.figures[split]) == set(metrics[split])
            for name, value in metrics[split].items():
                factor = 1 if name in counts.get(spec["task"], set()) else 100
                assert run.figures[split][name].value == pytest.approx(factor * value)
                assert run.figures[split][name].majority == pytest.approx(
                    factor * metrics["majority"][split][name]
                )
    there = {
        name for path in store.trial_folders() for name in content(path, "metrics.json")["test"]
    }
    assert there > set().union(*counts.values())


def test_what_is_known_of_a_run_is_what_its_files_say(store: Store) -> None:
    row = only(store)
    for path in store.trial_folders():
        spec = content(path, "spec.json")
        run = row.datasets[spec["task"]].runs[spec["seed"]]
        assert (run.trial, run.data_hash, run.verdict) == (
            path.name,
            spec["data"][:12],
            "identical",
        )
        assert run.metrics_version == str(content(path, "metrics.json")["metrics_version"])
        assert (run.settings["head"], run.settings["tagging"], run.settings["pooling"]) == (
            "crf",
            "io",
            "",
        )
        assert (run.settings["max_train"], run.settings["max_eval"]) == ("9", "")
        assert run.record.path == path
    families = {name: one.known("family") for name, one in row.datasets.items()}
    assert [len(found) for found in families.values()] == [1, 1, 1]
    assert len(frozenset().union(*families.values())) == 3


def test_what_is_planned_and_not_done_is_counted(store: Store, tmp_path: Path) -> None:
    shutil.copytree(store.root, tmp_path / "runs")
    mine = Store(tmp_path / "runs")
    (stored,) = rows.read(mine)
    more = [
        fakes.trial(name, 7, weights=f"{'m':w<64}", settings=LIMITED) for name in ("gad", "hoc")
    ]
    row = fakes.row("m", *more, configuration=stored.configuration)
    rows.write(mine, replace(row, weights=stored.weights))
    found = only(mine)
    assert {name: (len(one.runs), one.planned) for name, one in found.datasets.items()} == {
        "ncbi-disease": (2, 2),
        "gad": (2, 3),
        "biosses": (2, 2),
        "hoc": (0, 1),
    }
    planned = {name: one.planned_seeds for name, one in found.datasets.items()}
    assert planned == {"ncbi-disease": (1, 2), "gad": (1, 2, 7), "biosses": (1, 2), "hoc": (7,)}
    assert (found.seeds("gad"), found.run_counts, "hoc" in found.means()) == ((1, 2), [2], False)


def test_a_row_without_a_finished_trial_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    rows.write(store, fakes.row("m", fakes.trial()))
    assert from_store.read(store, pytest.fail) == []


def test_rows_come_by_suite_model_and_configuration(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fakes.finish(store, "b", fakes.trial(), 0.5)
    fakes.finish(store, "a", fakes.trial(), 0.5)
    made = fakes.CONFIGURATION
    for model, configuration in (
        ("b", made),
        ("a", replace(made, suite="demo")),
        ("a", replace(made, protocol="standard")),
        ("a", made),
        ("a", replace(made, precision="bf16")),
    ):
        rows.write(store, fakes.row(model, fakes.trial(), configuration=configuration))
    found = [
        (row.suite, row.model, row.configuration.protocol, row.configuration.precision)
        for row in from_store.read(store)
    ]
    assert found == [
        ("blurb", "a", "quick", "bf16"),
        ("blurb", "a", "quick", "fp32"),
        ("blurb", "a", "standard", "fp32"),
        ("blurb", "b", "quick", "fp32"),
        ("demo", "a", "quick", "fp32"),
    ]
    names = [row.name for row in from_store.read(store)]
    assert len(set(names)) == len(names)


def test_a_task_that_is_not_installed_here_is_read_all_the_same(
    store: Store, tmp_path: Path
) -> None:
    """Trials of a plug-in, in a place where it is not."""
    shutil.copytree(store.root, tmp_path / "runs")
    mine = Store(tmp_path / "runs")
    folder = mine.root / "m"
    (file,) = (folder / "rows").glob("*.json")
    rows = file.read_text().replace('"gad"', '"theirs"')
    for path in sorted((folder / "gad").iterdir()):
        if path.is_dir():
            spec = content(path, "spec.json")
            (path / "spec.json").write_text(json.dumps({**spec, "task": "theirs"}))
            mine.seal(path)
            renamed = path.rename(path.with_name(read_spec(path).hash))
            rows = rows.replace(path.name, renamed.name)
    (folder / "gad").rename(folder / "theirs")
    file.write_text(rows)
    found = only(mine)
    assert (found.datasets["theirs"].type, found.datasets["theirs"].metric) == ("", "f1")
    assert found.values("theirs") == only(store).values("gad")
    assert "theirs" not in found.blurb_means()

"""What a blurb of schema 1 wrote stays readable, with the same figures. Oracle: `figures.json`, committed beside it."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blurb.leaderboard import ranking
from blurb.results import tables
from blurb.results.schema import SCHEMA
from blurb.row_files.references import table_rows
from blurb.store import rescore, row_trials, store
from blurb.store.store import Store
from tests.frozen.make import FIGURES, ZIP, figures

EXPECTED = json.loads(FIGURES.read_text(encoding="utf-8"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The store with its tables."""
    with zipfile.ZipFile(ZIP) as packed:
        packed.extractall(tmp_path)
    return tmp_path / "runs"


def leaves(tree: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every figure with its place."""
    for name, part in tree.items():
        if isinstance(part, dict):
            yield from leaves(part, (*place, name))
        else:
            yield (*place, name), part


def test_the_corpus_has_what_it_is_for() -> None:
    """Runs with two seeds, a probe, a baseline, a task file and numbers of others, in each reader's view."""
    assert {view: len(rows) for view, rows in EXPECTED.items()} == {
        "store": 4,
        "results.csv": 4,
        "leaderboard.csv": 5,
    }
    assert len(dict(leaves(EXPECTED))) > 100


def test_every_figure_is_what_it_was(runs: Path) -> None:
    assert dict(leaves(figures(runs))) == pytest.approx(dict(leaves(EXPECTED)), abs=1e-9)


def test_every_trial_is_done_under_its_hash(runs: Path) -> None:
    store = Store(runs)
    told: list[Any] = []
    planned = {
        hash_
        for row in row_trials.read(store, told.append)
        for seeds in row.trials.values()
        for hash_ in seeds.values()
    }
    assert (told, {path.name for path in store.trial_folders()}) == ([], planned)
    for path in store.trial_folders():
        record = store.read(path)
        assert record.trial.hash == path.name
        assert rescore.is_current(store, path)
        assert record.predictions("test")["id"]


def test_the_tables_are_made_and_merged_from_it(runs: Path, tmp_path: Path) -> None:
    before = {name: table_rows(runs / name) for name in ("results.csv", "leaderboard.csv")}
    rescore.rescore_store(Store(runs), pytest.fail)
    tables.rebuild(Store(runs), runs / "leaderboard.csv", pytest.fail)
    for name, rows in before.items():
        assert [(row.name, row.means()) for row in table_rows(runs / name)] == [
            (row.name, row.means()) for row in rows
        ]
    assert tables.merge([runs / "results.csv"], tmp_path / "merged") > 0
    assert len(ranking.read_rows(runs, [tmp_path / "merged" / "results.csv"])) == 4


def test_a_new_schema_keeps_this_one_or_brings_a_script() -> None:
    """Whoever raises a number decides what becomes of this corpus."""
    assert (store.SCHEMA, SCHEMA) == (1, "1")

"""Intervals that were computed before are those that would be computed now. Oracle: `ranking.of_row`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from blurb import cache
from blurb.leaderboard import kept_intervals, ranking
from blurb.leaderboard.ranking import RankedRow
from blurb.results import from_store
from blurb.results.row_scores import RowScores
from blurb.runs.store import Store
from tests.results import invented
from tests.results.played import play


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "runs")
    for name, skill in (("good", 0.9), ("poor", 0.6)):
        play(store, name, {"gad": skill, "hoc": skill}, (1, 2, 3))
    return store


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models whose intervals were computed."""
    models: list[str] = []
    whole = ranking.of_row

    def of_row(row: RowScores, resampled: bool = True) -> RankedRow:
        models.extend([row.model] if resampled else [])
        return whole(row, resampled)

    monkeypatch.setattr(kept_intervals.ranking, "of_row", of_row)
    return models


def entries(store: Store) -> tuple[Sequence[RowScores], list[RankedRow]]:
    rows = from_store.read(store)
    return rows, kept_intervals.entries(rows, store.root)


def test_they_are_computed_once_and_are_the_same(store: Store, computed: list[str]) -> None:
    rows, first = entries(store)
    assert computed == ["good", "poor"]
    assert entries(store)[1] == first
    assert computed == ["good", "poor"]
    assert first == [ranking.of_row(row) for row in rows]
    assert all(entry.intervals for entry in first)


def test_a_row_is_computed_again_when_a_trial_comes_or_changes(store: Store, computed: list[str]) -> None:
    entries(store)
    play(store, "poor", {"gad": 0.6}, (4,))
    _, now = entries(store)
    assert computed == ["good", "poor", "poor"]
    rows, again = entries(store)
    assert again == now == [ranking.of_row(row) for row in rows]
    del computed[:]
    (trial,) = [record.path for row in rows if row.model == "good" for record in [row.records_of("gad")[2]]]
    (Path(trial) / "history.csv").touch()  # as somebody has who copied it there
    entries(store)
    assert computed == ["good"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"version": 1}',
        '{"version": %, "rows": {"good": 3}}',
        '{"version": %, "rows": {"a": ["b", {"c": [1]}]}}',
    ],
)
def test_a_damaged_file_counts_as_none(content: str, store: Store, computed: list[str]) -> None:
    _, first = entries(store)
    (path,) = (cache.home() / "intervals").iterdir()
    version = json.dumps(json.loads(path.read_text())["version"])
    path.write_text(content.replace("%", version))
    assert entries(store)[1] == first
    assert computed == ["good", "poor"] * 2
    assert entries(store)[1] == first
    assert len(computed) == 4


def test_those_of_another_version_are_not_used(
    store: Store, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entries(store)
    monkeypatch.setattr(kept_intervals.metrics, "VERSION", -1)
    entries(store)
    assert computed == ["good", "poor"] * 2


def test_a_cache_that_cannot_be_written_costs_time_alone(store: Store, home: Path, computed: list[str]) -> None:
    home.write_text("no folder")
    assert entries(store)[1] == entries(store)[1]
    assert computed == ["good", "poor"] * 2


def test_rows_whose_trials_are_not_known_are_not_kept(tmp_path: Path, home: Path) -> None:
    row = invented.row("read", {"gad": [70.0, 72.0]})
    assert kept_intervals.entries([row], tmp_path) == [ranking.of_row(row)]
    assert not (home / "intervals").exists()

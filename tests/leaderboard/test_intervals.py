"""Intervals that were computed before are those that would be computed now. Oracle: `intervals.numbers`."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from blurb.leaderboard import intervals
from blurb.leaderboard.intervals import Value
from blurb.messages.errors import DamageWarning, DataError
from blurb.results import from_store
from blurb.results.row import Row
from blurb.store.store import Store
from blurb.system import cache
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
    whole = intervals.numbers

    def of_row(row: Row, resamples: int = intervals.RESAMPLES) -> dict[str, Value]:
        models.extend([row.model] if resamples else [])
        return whole(row, resamples)

    monkeypatch.setattr(intervals, "numbers", of_row)
    return models


def of_rows(store: Store) -> tuple[Sequence[Row], list[dict[str, Value]]]:
    rows = from_store.read(store)
    return rows, intervals.all_numbers(rows, store.root)


def test_they_are_computed_once_and_are_the_same(store: Store, computed: list[str]) -> None:
    rows, first = of_rows(store)
    assert computed == ["good", "poor"]
    assert of_rows(store)[1] == first
    assert computed == ["good", "poor"]
    assert first == [intervals.numbers(row) for row in rows]
    assert all(values["gad"].basis == "both" for values in first)


@pytest.mark.extensions
def test_the_page_has_those_of_the_table(store: Store, computed: list[str]) -> None:
    from blurb.extensions.reports.html.collect import collect

    rows, shown = of_rows(store)
    (page,) = collect(store.root, with_published=False).boards
    assert computed == ["good", "poor"]
    assert {entry.row.model: entry.datasets["gad"].test for entry in page.entries} == {
        row.model: values["gad"] for row, values in zip(rows, shown, strict=True)
    }


def test_a_row_is_computed_again_when_a_trial_comes_or_changes(
    store: Store, computed: list[str]
) -> None:
    of_rows(store)
    play(store, "poor", {"gad": 0.6}, (4,))
    _, now = of_rows(store)
    assert computed == ["good", "poor", "poor"]
    rows, again = of_rows(store)
    assert again == now == [intervals.numbers(row) for row in rows]
    del computed[:]
    (trial,) = [
        record.path for row in rows if row.model == "good" for record in [row.records_of("gad")[2]]
    ]
    (Path(trial) / "history.csv").touch()  # as somebody has who copied it there
    of_rows(store)
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
    _, first = of_rows(store)
    (path,) = (cache.cache_home() / "intervals").iterdir()
    path.write_text(content.replace("%", json.dumps(json.loads(path.read_text())["version"])))
    assert of_rows(store)[1] == first
    assert computed == ["good", "poor"] * 2
    assert of_rows(store)[1] == first
    assert len(computed) == 4


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (intervals.blurb, "__version__", "0"),
        (intervals.metrics, "VERSION", -1),
        (intervals.bootstrap, "VERSION", -1),
        (intervals, "RESAMPLES", 50),
    ],
    ids=["version of blurb", "of metrics", "of the bootstrap", "number of resamples"],
)
def test_those_of_another_version_or_number_of_resamples_are_not_used(
    module: object,
    name: str,
    value: object,
    store: Store,
    computed: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, first = of_rows(store)
    monkeypatch.setattr(module, name, value)
    assert (of_rows(store)[1] != first) == (name == "RESAMPLES")
    assert computed == ["good", "poor"] * 2


def test_a_cache_that_cannot_be_written_costs_time_alone(
    store: Store, home: Path, computed: list[str]
) -> None:
    home.write_text("no folder")
    assert of_rows(store)[1] == of_rows(store)[1]
    assert computed == ["good", "poor"] * 2


def test_a_disk_that_is_full_costs_time_alone(
    store: Store, computed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise DataError("No space left on device", path)

    monkeypatch.setattr(intervals, "write_whole", full)
    assert of_rows(store)[1] == of_rows(store)[1]
    assert computed == ["good", "poor"] * 2


def test_rows_whose_trials_are_not_known_are_not_kept(tmp_path: Path, home: Path) -> None:
    row = invented.row("read", {"gad": [70.0, 72.0]})
    assert intervals.all_numbers([row], tmp_path) == [intervals.numbers(row)]
    assert not (home / "intervals").exists()


def test_predictions_that_are_damaged_cost_one_interval_and_are_told_every_time(
    store: Store,
) -> None:
    """A flipped bit changes neither size nor time; all other rows have their table."""
    rows, _ = of_rows(store)
    path = next(iter(rows[0].records["gad"].values())).path / "predictions.parquet"
    times, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-4] + b"XXXX")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    intervals.IntervalCache(store.root).path.unlink()
    for _ in range(2):
        with pytest.warns(
            DamageWarning,
            match="gad of good .* has an interval over seeds alone; blurb runs verify",
        ):
            _, values = of_rows(store)
        assert [row["gad"].basis for row in values] == ["seeds", "both"]
        assert values[0]["hoc"].basis == "both"

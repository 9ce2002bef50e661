"""The leaderboard for people; tables from hand to hand, refused where they contradict each other."""

import csv
import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from blurb.leaderboard import ranking
from blurb.messages.errors import BlurbError, DataError
from blurb.results import from_store, published, results_csv, tables
from blurb.results.schema import KEY
from blurb.row_files.references import file_rows
from blurb.statistics.welch import half_width
from blurb.store.store import Store
from tests.cli.in_process import run
from tests.conftest import ROOT
from tests.results import invented
from tests.results.played import NAMES, play
from tests.results.tampered import edited


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two whole rows, a worse one of one dataset, and a name that a spreadsheet would run."""
    folder = tmp_path_factory.mktemp("board")
    store = Store(folder / "runs")
    play(store, "good", dict.fromkeys(NAMES, 0.9), (1, 2, 3))
    play(store, "poor", dict.fromkeys(NAMES, 0.6), (1, 2, 3))
    play(store, "=cmd|'/c calc'!A0", {"gad": 0.7}, (1, 2))
    tables.rebuild(store, folder / "leaderboard.csv")
    return folder


@pytest.fixture
def blurb(folder: Path, here: Path) -> Callable[..., Result]:
    return lambda *arguments: run("leaderboard", *arguments)


def entry(name: str, value: float, half: float | None = None) -> ranking.RankedRow:
    return invented.ranked(name, {"score": value}, {} if half is None else {"score": half})


def test_ranks_are_as_wide_as_the_intervals_leave_them() -> None:
    entries = [
        entry("d", 60, 1),
        entry("a", 80, 1),
        entry("b", 79.5, 2),
        entry("c", 75, 2.6),
        invented.ranked("e", {}),
    ]
    assert [(one.rank, one.entry.name) for one in ranking.in_parts(entries, "score")] == [
        ("1-2", "a"),
        ("1-3", "b"),
        ("2-3", "c"),
        ("4", "d"),
        ("", "e"),
    ]
    entries = [entry("x", 80), entry("y", 79.9), entry("z", 79.9)]
    assert [one.rank for one in ranking.in_parts(entries, "score")] == ["1", "2-3", "2-3"]


def test_rows_of_a_table_have_intervals_over_their_runs(folder: Path) -> None:
    (row,) = (each for each in results_csv.read(folder / "results.csv") if each.model == "good")
    shown = ranking.entry(row)
    low, high = shown.values["gad"].interval or ()
    half = half_width(row.values("gad"))
    mean = shown.values["gad"].mean
    assert (low, high) == (pytest.approx(mean - half), pytest.approx(mean + half))
    score = shown.values["score"]
    assert (score.low or 100) < score.mean < (score.high or 0)
    assert {value.interval for value in ranking.entry(row, resampled=False).values.values()} == {
        None
    }


def test_without_some_units_the_score_is_that_of_the_rest(folder: Path) -> None:
    good = next(row for row in from_store.read(Store(folder / "runs")) if row.model == "good")
    kept = ranking.entry(good, resampled=False, without={"gad": {f"test.{i}" for i in range(100)}})
    assert kept.values["gad"].mean != good.means()["gad"]
    assert kept.values["ddi"].mean == pytest.approx(good.means()["ddi"])
    assert kept.values["relation"].mean != good.type_means()["relation"]


def test_without_all_units_there_is_no_score(folder: Path) -> None:
    good = next(row for row in from_store.read(Store(folder / "runs")) if row.model == "good")
    every = {f"test.{i}" for i in range(200)}
    left = ranking.entry(
        good, without={"gad": every, "biosses": every, "a task of ours": {"test.1"}}
    )
    assert {"gad", "relation", "biosses", "similarity", "score"}.isdisjoint(left.values)
    assert left.values["ddi"].mean == pytest.approx(good.means()["ddi"])


@pytest.mark.real
def test_leaks_of_the_real_data_are_left_out(
    real_data: Path, blurb: Callable[..., Result], folder: Path
) -> None:
    arguments = (
        "show",
        "--output",
        str(folder / "runs"),
        "--model",
        "good",
        "--no-intervals",
        "--without",
        "leaks",
    )
    assert "--data" in str(blurb(*arguments).exception)
    # The ids of invented predictions are none of the real ones but for `test.N` of sentences.
    from blurb import data, tasks
    from blurb.data.schema import leaked_ids

    task = tasks.get("gad")
    found = leaked_ids(
        {split: data.read_split(task, real_data, split) for split in ("train", "test")}
    )
    assert len(found) == 8
    good = next(row for row in from_store.read(Store(folder / "runs")) if row.model == "good")
    assert ranking.entry(good, False, {"gad": found}).values["gad"].mean != good.means()["gad"]


def test_rows_without_predictions_are_not_said_to_be_without_leaks(
    folder: Path, blurb: Callable[..., Result]
) -> None:
    asked = (
        "show",
        "--output",
        "none",
        "--results",
        str(folder / "results.csv"),
        "--data",
        str(folder),
    )
    assert "No row has its predictions here" in str(blurb(*asked, "--without", "leaks").exception)
    assert "--data is for --without leaks" in str(blurb(*asked).exception)


def test_published_rows_recompute(blurb: Callable[..., Result]) -> None:
    rows = list(csv.DictReader(blurb("published", "--format", "csv").output.splitlines()))
    assert len(rows) == len(published.shipped())
    for row in rows:
        if row["recomputed"]:
            assert float(row["score"]) == pytest.approx(float(row["recomputed"]), abs=0.0051), row[
                "row"
            ]


def test_merging_gives_the_tables_of_the_whole(
    folder: Path, blurb: Callable[..., Result], tmp_path: Path
) -> None:
    whole = (folder / "results.csv").read_text().splitlines(keepends=True)
    half = len(whole) // 2
    (tmp_path / "a.csv").write_text("".join(whole[: half + 20]))
    (tmp_path / "b.csv").write_text("".join([whole[0], *whole[half:]]))
    result = blurb("merge", "a.csv", "b.csv", "--out", "merged")
    assert result.exit_code == 0, result.exception
    assert sorted((tmp_path / "merged" / "results.csv").read_text().splitlines()) == sorted(
        "".join(whole).splitlines()
    )
    mine, theirs = (
        {row["model"]: row for row in csv.DictReader((place / "leaderboard.csv").open())}
        for place in (tmp_path / "merged", folder)
    )
    for model, row in theirs.items():
        assert {key: value for key, value in mine[model].items() if key != "note"} == {
            key: value for key, value in row.items() if key != "note"
        }


def test_add_and_show_elsewhere(folder: Path, blurb: Callable[..., Result], tmp_path: Path) -> None:
    result = blurb(
        "add", "--model", "X", "--source", "us2026", "--score", "gad=80.5", "--score", "score=70"
    )
    assert result.exit_code == 0, result.exception
    (row,) = published.read(tmp_path / "runs" / "external.csv")
    assert (row.model, row.means(), row.printed) == ("X", {"gad": 80.5}, 70.0)
    again = blurb("add", "--model", "X", "--source", "us2026", "--score", "gad=10").exception
    assert "already has X of us2026. Use another --version" in str(again)
    # Between the look and the lock somebody may add it
    with pytest.raises(DataError, match="already has "):
        published.add(
            tmp_path / "runs" / "external.csv", published.Printed("us2026", "", "X", {"gad": 10.0})
        )
    for text in ("gad=x", "gad=101", "gad"):
        assert isinstance(
            blurb("add", "--model", "Y", "--source", "s", "--score", text).exception, BlurbError
        )
    assert "Did you mean 'gad'" in str(
        blurb("add", "--model", "Y", "--source", "s", "--score", "gat=1").exception
    )
    fraction = ("add", "--model", "Y", "--source", "s", "--score", "gad=0.85")
    assert "Did you mean gad=85? If not, add --times-100" in str(blurb(*fraction).exception)
    assert blurb(*fraction, "--times-100").output.startswith("Y: 1 dataset added to")
    assert [row.means() for row in published.read(tmp_path / "runs" / "external.csv")] == [
        {"gad": 80.5},
        {"gad": 0.85},
    ]
    assert "2 rows, valid" in blurb("validate", "runs/external.csv").output


def _add(path: Path, number: int) -> None:
    published.add(path, published.Printed("s", "v", f"model {number}", {"gad": 1.0 + number}))


@pytest.mark.costly
def test_sixteen_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "external.csv"
    with multiprocessing.get_context("fork").Pool(16) as workers:
        workers.starmap(_add, [(path, number) for number in range(16)], chunksize=1)
    assert sorted(row.model for row in published.read(path)) == sorted(
        f"model {number}" for number in range(16)
    )


def test_merged_rows_of_one_name_stay_two(
    folder: Path, blurb: Callable[..., Result], tmp_path: Path
) -> None:
    text = (folder / "results.csv").read_text()
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text(
        text.replace(",fp32,", ",bf16,").replace(",3,3,test", ",3,4,test")
    )
    assert blurb("merge", "a.csv", "b.csv", "--out", "merged").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "merged" / "leaderboard.csv").open()))
    assert [row["precision"] for row in rows if row["model"] == "good"] == ["fp32", "bf16"]
    assert [row["complete"] for row in rows if row["model"] == "good"] == ["yes", "no"]


def test_the_order_of_lines_changes_nothing(folder: Path) -> None:
    path = folder / "sorted" / "results.csv"
    path.parent.mkdir()
    head, *lines = (folder / "results.csv").read_text().splitlines(keepends=True)
    path.write_text("".join([head, *sorted(lines, key=lambda line: line.split(",")[17])]))
    assert {row.model: row.means() for row in file_rows(path)} == {
        row.model: row.means() for row in file_rows(folder / "results.csv")
    }


def test_validate_reads_the_file_it_was_given(
    folder: Path, blurb: Callable[..., Result], tmp_path: Path
) -> None:
    text = (folder / "leaderboard.csv").read_text()
    (tmp_path / "results.csv").write_text((folder / "results.csv").read_text())
    head, first, *rest = text.splitlines(keepends=True)
    cells = first.split(",")
    for column, message in (
        (head.split(",").index("score"), "score must be a number (got 'abc')"),
        (head.split(",").index("gad"), "gad must be a number"),
    ):
        broken = [*cells[:column], "abc", *cells[column + 1 :]]
        (tmp_path / "leaderboard.csv").write_text("".join([head, ",".join(broken), *rest]))
        assert message in str(blurb("validate", "leaderboard.csv").exception)
    (tmp_path / "leaderboard.csv").write_text("".join([head, first, first]))
    assert "duplicate of line 2" in str(blurb("validate", "leaderboard.csv").exception)


def test_predictions_from_elsewhere_are_ranked_with_published_rows_where_somebody_asks(
    folder: Path,
) -> None:
    good = next(row for row in from_store.read(Store(folder / "runs")) if row.model == "good")
    row = invented.named(good, learner="external")
    for together in (False, True):
        entries = [ranking.entry(one, resampled=False) for one in (row, *published.shipped())]
        entries[0] = replace(entries[0], standing=ranking.standing(row, together=together))
        mine = next(one for one in ranking.in_parts(entries, "score") if one.entry is entries[0])
        best = max(
            entries[1:], key=lambda one: one.values["score"].mean if "score" in one.values else 0
        )
        theirs = next(one for one in ranking.in_parts(entries, "score") if one.entry is best)
        assert (mine.part == theirs.part) == together
        assert mine.rank == ("1" if together else "external 1")
        assert ("ranked here as you asked" in mine.entry.note) == together
        assert theirs.rank == ("2" if together else "1")


TABLE = ROOT / "docs" / "results" / "minilm" / "quick" / "results.csv"


@pytest.fixture
def two(here: Path) -> tuple[Path, Path]:
    """The same three seeds of GAD in two files."""
    head, *lines = TABLE.read_text().splitlines()
    kept = [
        line for line in lines if ",gad," in line and "all-MiniLM" in line and ",test,f1," in line
    ]
    assert len(kept) == 3
    paths = here / "x.csv", here / "y.csv"
    for path in paths:
        path.write_text("\n".join([head, *kept]) + "\n")
    return paths


CHANGES = {
    "value": "57.65",
    "data_hash": "f" * 12,
    "family": "f" * 16,
    "data": "differs",
    "metrics_version": "2",
    "head": "bilstm",
    "max_eval": "64",
    "trial": "f" * 16,
    "majority": "1.0",
}


@pytest.mark.extensions
@pytest.mark.parametrize("column", CHANGES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_contradiction_is_refused_in_either_order(
    column: str, turned: bool, two: tuple[Path, Path]
) -> None:
    for line in (2, 3, 4):
        edited(two[1], line, **{column: CHANGES[column]})
    first, other = reversed(two) if turned else two
    for command in ("show", "html"):
        arguments = ["leaderboard", command, "--results", str(first), "--results", str(other)]
        result = run(*arguments)
        assert isinstance(result.exception, DataError)
        assert column in str(result.exception)
        assert all(path.name in str(result.exception) for path in two)
        assert not Path("leaderboard.html").exists()
    result = run("leaderboard", "merge", str(first), str(other), "--out", "both")
    assert isinstance(result.exception, DataError)


def test_what_agrees_is_one_row(two: tuple[Path, Path]) -> None:
    (row,) = ranking.read_rows(Path("none"), two)
    assert row.means()["gad"] == pytest.approx(77.65, abs=0.005)


def test_what_makes_another_row_is_no_contradiction(two: tuple[Path, Path]) -> None:
    for line in (2, 3, 4):
        edited(two[1], line, precision="fp32", value="50.0")
    assert "precision" in KEY
    assert len(ranking.read_rows(Path("none"), two)) == 2

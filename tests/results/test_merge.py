"""Seeds are averaged only where they are of one kind; nobody's table is written over."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb.cli import cli
from blurb.messages.errors import DataError, StoreError
from blurb.results import leaderboard_csv, published, results_csv, tables
from blurb.results.references import of_file
from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Trial
from tests.store.fakes import CONFIGURATION, finish, row, stored, trial

GOLDEN = Path(__file__).parents[1] / "golden"


def table(folder: Path, *trials: Trial, **changes: object) -> Path:
    """The results.csv of a store with a row of these trials."""
    store = Store(folder / "runs")
    for each in trials:
        finish(store, "m", each, 0.5)
    rows.write(store, replace(row("m", *trials), **changes))  # type: ignore[arg-type]
    tables.rebuild(store, folder / "leaderboard.csv")
    return folder / "results.csv"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"data": "e" * 64}, "data_hash"),
        ({"settings": {"head": "crf", "pooling": "cls", "max_train": 0, "max_eval": 0}}, "head"),
        ({"settings": {"head": "linear", "pooling": "cls", "max_train": 9, "max_eval": 0}}, "max_train"),
        ({"settings": {"head": "linear", "pooling": "cls", "max_train": 0, "max_eval": 0, "lr": 1.0}}, "family"),
    ],
)
def test_seeds_of_two_kinds_are_refused_with_both_places(changes: dict[str, object], what: str, tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2, **changes))
    with pytest.raises(DataError, match=rf"b/results\.csv:2: .* seed 1 in .*a/results\.csv:2, as .*{what}"):
        tables.merge([first, second], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_metrics_of_two_versions_are_refused_by_merge_and_by_validate(tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2))
    column = results_csv.COLUMNS.index("metrics_version")
    head, *lines = second.read_text().splitlines()
    cells = [line.split(",") for line in lines]
    for cell in cells:
        cell[len(cell) - len(results_csv.COLUMNS) + column] = "2"
    second.write_text("\n".join([head, *(",".join(cell) for cell in cells)]) + "\n")
    with pytest.raises(DataError, match=r"metrics_version.*blurb rescore"):
        tables.merge([first, second], tmp_path / "out")
    both = tmp_path / "both.csv"
    both.write_text(first.read_text() + "\n".join(second.read_text().splitlines()[1:]) + "\n")
    result = CliRunner().invoke(cli, ["leaderboard", "validate", str(both)])
    assert isinstance(result.exception, DataError)
    assert "metrics_version" in str(result.exception)


def test_tables_merged_into_the_folder_of_a_store_are_not_its_own_any_more(tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2))
    tables.merge([first, second], tmp_path / "a")
    merged = first.read_bytes()
    with pytest.raises(StoreError, match=r"m on gad, seed 2, which is not in .*a/runs"):
        tables.rebuild(Store(tmp_path / "a" / "runs"), tmp_path / "a" / "leaderboard.csv")
    assert first.read_bytes() == merged
    tables.merge([first], tmp_path / "c")
    tables.rebuild(Store(tmp_path / "b" / "runs"), tmp_path / "b" / "leaderboard.csv")  # its own still are


def test_merging_keeps_the_numbers_of_others(tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2))
    published.add(tmp_path / "a" / "external.csv", published.Printed("us2026", "", "OurBERT", {"gad": 81.5}))
    tables.merge([first, second], tmp_path / "a")
    lines = [line for _, line in leaderboard_csv.read_lines(tmp_path / "a" / "leaderboard.csv")]
    assert [(line["model"], line["source"], line["gad"]) for line in lines] == [
        ("m", "", "50.00"),
        ("OurBERT", "us2026", "81.50"),
    ]


@pytest.mark.parametrize("name", ["results.csv", "leaderboard.csv"])
@pytest.mark.parametrize(("version", "fix"), [("x", "another --out folder"), ("99", "update"), ("7", r".*to_schema_1")])
def test_merging_leaves_tables_of_another_schema_alone(name: str, version: str, fix: str, tmp_path: Path) -> None:
    content = f"schema,model\n{version},x\n"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    with pytest.raises(StoreError, match=rf"{name} has schema version {version}.* {fix}"):
        tables.merge([table(tmp_path / "a", trial())], tmp_path / "out")
    assert (tmp_path / "out" / name).read_text() == content


def test_rows_of_two_tokenizers_stay_two(tmp_path: Path) -> None:
    first = table(tmp_path / "a", trial(seed=1))
    second = table(tmp_path / "b", trial(seed=2, tokenizer="u" * 64), tokenizer="u" * 64)
    tables.merge([first, second], tmp_path / "out")
    found = [one.name for one in of_file(tmp_path / "out" / "results.csv")]
    assert len(found) == len(set(found)) == 2
    assert all("tokenizer" in name for name in found)


def test_the_golden_tables_come_out_as_they_were(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "store", tmp_path / "store")
    for name in ("leaderboard.csv", "results.csv", "external.csv"):
        shutil.copy(GOLDEN / name, tmp_path / name)
    tables.rebuild(Store(tmp_path / "store"), tmp_path / "leaderboard.csv")
    for name in ("leaderboard.csv", "results.csv"):
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_a_long_table_has_the_name_of_the_wide_one(tmp_path: Path) -> None:
    """Two tables in one folder, of two stores: each with its own runs."""
    for model in ("a", "b"):
        store = stored(tmp_path / f"runs-{model}", model)
        tables.rebuild(store, tmp_path / f"{model}.csv")
    for model in ("a", "b"):
        assert [one.model for one in of_file(tmp_path / f"{model}-results.csv")] == [model]
    assert tables.results_beside(tmp_path / "leaderboard.csv").name == "results.csv"


def test_a_table_of_another_store_is_not_written_over(tmp_path: Path) -> None:
    leaderboard = tmp_path / "leaderboard.csv"
    for model in ("a", "b"):
        stored(tmp_path / f"runs-{model}", model)
    tables.rebuild(Store(tmp_path / "runs-a"), leaderboard)
    before = leaderboard.read_bytes(), (tmp_path / "results.csv").read_bytes()
    for known in (True, False):  # whose they are is noted beside them; without the note the trials say it
        if not known:
            (tmp_path / tables.NOTE).unlink()
        reason = "they belong to the store .*runs-a" if known else "they have a on gad, seed 1, which is not in "
        with pytest.raises(StoreError, match=reason):
            tables.rebuild(Store(tmp_path / "runs-b"), leaderboard)
    assert (leaderboard.read_bytes(), (tmp_path / "results.csv").read_bytes()) == before
    with pytest.raises(DataError, match=r"results\.csv:2: the table has a on gad, seed 1, which is in none of"):
        tables.merge([table(tmp_path / "c", trial(seed=7))], tmp_path)
    assert (leaderboard.read_bytes(), (tmp_path / "results.csv").read_bytes()) == before


def test_two_models_of_the_same_trials_are_two(tmp_path: Path) -> None:
    """Trials are named without the model: a target with both is not written over by a file with one."""
    planned = trial()
    for model in ("m", "n"):
        store = stored(tmp_path / model / "runs", model, planned)
        tables.rebuild(store, tmp_path / model / "leaderboard.csv")
    files = [tmp_path / model / "results.csv" for model in ("m", "n")]
    tables.merge(files, tmp_path / "out")
    with pytest.raises(DataError, match="the table has n on gad"):
        tables.merge(files[:1], tmp_path / "out")


def test_a_protocol_that_changed_under_its_name_makes_another_row(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    finish(store, "m", trial(), 0.5)
    for digit in "01":
        rows.write(store, row("m", trial(), configuration=replace(CONFIGURATION, protocol_hash=digit * 64)))
    found = tables.rebuild(store, tmp_path / "leaderboard.csv")
    names = [one.name for one in of_file(tmp_path / "results.csv")]
    assert len(found) == len(set(names)) == 2
    assert len({one.name for one in found}) == 2


def test_the_runs_of_a_named_table_are_its_own(tmp_path: Path) -> None:
    for model, name in (("m", "leaderboard.csv"), ("n", "mine.csv")):
        store = stored(tmp_path / f"runs-{model}", model)
        tables.rebuild(store, tmp_path / name)
    assert [one.model for one in of_file(tmp_path / "mine.csv")] == ["n"]
    (tmp_path / "mine-results.csv").unlink()
    (one,) = of_file(tmp_path / "mine.csv")  # and not those of results.csv
    assert (one.model, one.run_counts) == ("n", [1])


@pytest.mark.parametrize("name", ["mine-results.csv", "mine.csv"])
def test_a_table_of_the_other_kind_is_left_alone(name: str, tmp_path: Path) -> None:
    store = stored(tmp_path / "runs", "m")
    tables.rebuild(store, tmp_path / "mine.csv")
    if name == "mine.csv":  # a long table where the wide one would go
        shutil.copy(tmp_path / "mine-results.csv", tmp_path / "mine.csv")
    with pytest.raises(StoreError, match="is a table of runs and was not changed"):
        tables.rebuild(store, tmp_path / name)


def test_a_damaged_table_is_told_with_its_line(tmp_path: Path) -> None:
    store = stored(tmp_path / "runs", "m")
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    (tmp_path / tables.NOTE).unlink()
    with (tmp_path / "results.csv").open("ab") as file:
        file.write(b"\xff\xfe")
    with pytest.raises(DataError, match=r"results\.csv:\d+: this line is not UTF-8"):
        tables.rebuild(store, tmp_path / "leaderboard.csv")
    (tmp_path / "results.csv").write_text("schema,metric,trial\n1,f1,abc\n")
    with pytest.raises(DataError, match=r"results\.csv:1: missing columns: model, task, seed"):
        tables.rebuild(store, tmp_path / "leaderboard.csv")


def test_removed_trials_stop_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    for model in ("m", "n"):
        stored(store, model)
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    shutil.rmtree(tmp_path / "runs" / "m")
    assert [one.model for one in tables.rebuild(store, tmp_path / "leaderboard.csv")] == ["n"]

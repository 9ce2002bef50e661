"""Tables from stores with known figures: their owners, and rows that are merged."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.messages.errors import DataError, StoreError
from blurb.results import leaderboard_csv, published, results_csv, tables
from blurb.row_files.references import file_rows
from blurb.store import row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Trial
from tests.cli.in_process import run
from tests.results.tampered import edited
from tests.rewriting import csv_lines
from tests.store.fakes import CONFIGURATION, finish, row, stored, trial

NAMES = [task.name for task in tasks.all() if task.paper_order]


def fill(store: Store, names: list[str], seeds: int = 2, model: str = "m") -> None:
    planned = [trial(name, seed) for name in names for seed in range(1, seeds + 1)]
    for number, each in enumerate(planned):
        finish(store, model, each, 0.5 + number / 100)
    rows.write(store, row(model, *planned))


def kept(store: Store, table: Path, said: str) -> None:
    """A table that is not written over."""
    with pytest.raises(StoreError, match=said):
        tables.rebuild(store, table)


def test_an_unfinished_seed_makes_a_row_incomplete(store: Store, tmp_path: Path) -> None:
    fill(store, NAMES)
    rows.write(store, row("m", trial("gad", 3)))
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert csv_lines(tmp_path / "leaderboard.csv")[0]["complete"] == "no"


def test_unverified_data_is_named(store: Store, tmp_path: Path) -> None:
    finish(store, "m", trial("ebm-pico"), 0.5, verdict="differs")
    rows.write(store, row("m", trial("ebm-pico")))
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert csv_lines(tmp_path / "leaderboard.csv")[0]["data"] == "ebm-pico differs"


def test_demo_rows_never_mix_with_real_ones(store: Store, tmp_path: Path) -> None:
    fill(store, NAMES, seeds=1)
    rows.write(store, row("m", trial("gad"), configuration=replace(CONFIGURATION, suite="demo")))
    assert [
        (r.configuration.suite, r.complete, r.data)
        for r in tables.rebuild(store, tmp_path / "leaderboard.csv")
    ] == [("blurb", True, "verified"), ("demo", False, "synthetic")]


@pytest.mark.parametrize("name", ["leaderboard.csv", "results.csv"])
@pytest.mark.parametrize("content", ["schema,model\n99,x\n", "model,score\nx,1\n"])
def test_a_file_of_another_schema_is_left_alone(
    store: Store, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    fill(store, ["gad"])
    kept(store, tmp_path / "leaderboard.csv", "schema version")
    assert (tmp_path / name).read_text() == content
    assert len(list(tmp_path.glob("*.csv"))) == 1


@pytest.mark.parametrize("name", ["results.csv", "external.csv"])
def test_the_leaderboard_cannot_take_the_name_of_its_neighbours(tmp_path: Path, name: str) -> None:
    kept(Store(tmp_path / "runs"), tmp_path / name, "cannot be")


def test_two_writers_at_once_give_whole_files(store: Store, tmp_path: Path) -> None:
    fill(store, NAMES, seeds=1)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(tables.rebuild, [store] * 4, [tmp_path / "leaderboard.csv"] * 4))
    assert len(csv_lines(tmp_path / "leaderboard.csv")) == 1
    assert len(csv_lines(tmp_path / "results.csv")) == 13 * 2 * 2


@pytest.fixture
def mine(tmp_path: Path) -> Store:
    """The store of the tables in the folder."""
    store = stored(tmp_path / "runs", "mine")
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    return store


def note(folder: Path) -> dict[str, str]:
    return json.loads((folder / tables.NOTE).read_text())


def check(store: Store, folder: Path, name: str = "leaderboard.csv") -> None:
    tables.check_owner(store, folder / name, tables.results_beside(folder / name))


def not_its_own(store: Store, folder: Path, said: str, name: str = "leaderboard.csv") -> None:
    with pytest.raises(StoreError, match=said):
        check(store, folder, name)


def test_the_note_has_the_way_from_the_tables_to_the_store(mine: Store, tmp_path: Path) -> None:
    assert note(tmp_path) == {"leaderboard.csv": "runs"}
    tables.rebuild(mine, tmp_path / "elsewhere" / "board.csv")
    assert note(tmp_path / "elsewhere") == {"board.csv": "../runs"}


def test_tables_of_one_folder_may_be_of_two_stores(mine: Store, tmp_path: Path) -> None:
    theirs = stored(tmp_path / "theirs", "theirs")
    tables.rebuild(theirs, tmp_path / "b.csv")
    assert note(tmp_path) == {"leaderboard.csv": "runs", "b.csv": "theirs"}
    check(mine, tmp_path)
    check(theirs, tmp_path, "b.csv")
    not_its_own(
        mine,
        tmp_path,
        r"b\.csv and b-results\.csv do not belong to the store .*runs: .*theirs",
        "b.csv",
    )


def test_store_and_tables_may_move_together(mine: Store, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in list(tmp_path.iterdir()):
        if path != moved:
            path.rename(moved / path.name)
    check(Store(moved / "runs"), moved)


def test_whoever_made_them_tables_that_are_gone_are_nobody_s(mine: Store, tmp_path: Path) -> None:
    theirs = stored(tmp_path / "theirs", "theirs")
    for name in ("leaderboard.csv", "results.csv"):
        (tmp_path / name).unlink()
    check(theirs, tmp_path)


def test_a_store_that_is_gone_leaves_its_tables_to_whoever_has_their_rows(
    mine: Store, tmp_path: Path
) -> None:
    shutil.copytree(mine.root, tmp_path / "copy")
    theirs = stored(tmp_path / "theirs", "theirs")
    shutil.rmtree(mine.root)
    check(Store(tmp_path / "copy"), tmp_path)
    not_its_own(theirs, tmp_path, r"they have mine on gad, seed 1, which is not in .*theirs")


@pytest.mark.parametrize("damage", ["", "[]", "{", "\xff"])
def test_without_a_note_that_can_be_read_the_trials_decide(
    damage: str, mine: Store, tmp_path: Path
) -> None:
    (tmp_path / tables.NOTE).write_text(damage, encoding="latin-1")
    check(mine, tmp_path)
    not_its_own(stored(tmp_path / "theirs", "theirs"), tmp_path, "they have mine on gad, seed 1")


def test_a_row_that_the_store_never_had_is_named(mine: Store, tmp_path: Path) -> None:
    """Its runs are gone from the long table; what is left of it is its line in the wide one."""
    tables.forget_owner(tmp_path / "leaderboard.csv")
    edited(tmp_path / "leaderboard.csv", 2, weights="0" * 12)
    not_its_own(mine, tmp_path, "they have the row mine, which is not in")


def test_numbers_of_papers_belong_to_every_store(mine: Store, tmp_path: Path) -> None:
    published.add(
        tmp_path / "external.csv", published.Printed("us2026", "", "Theirs", {"gad": 81.5})
    )
    tables.rebuild(mine, tmp_path / "leaderboard.csv")
    tables.forget_owner(tmp_path / "leaderboard.csv")
    check(mine, tmp_path)


def test_a_trial_that_was_planned_or_stands_in_no_row_file_is_the_store_s(
    mine: Store, tmp_path: Path
) -> None:
    tables.forget_owner(tmp_path / "leaderboard.csv")
    shutil.rmtree(mine.path("mine", "gad", trial().hash))
    check(mine, tmp_path)  # the row file has it still
    finish(mine, "mine", trial(), 0.5)
    (tmp_path / "leaderboard.csv").unlink()
    for path in (mine.root / "mine" / "rows").iterdir():
        path.unlink()
    check(mine, tmp_path)  # its folder is there


def test_forgetting_one_table_keeps_what_is_noted_of_others(mine: Store, tmp_path: Path) -> None:
    tables.rebuild(stored(tmp_path / "theirs", "theirs"), tmp_path / "b.csv")
    tables.forget_owner(tmp_path / "leaderboard.csv")
    tables.forget_owner(tmp_path / "never.csv")
    assert note(tmp_path) == {"b.csv": "theirs"}


def test_a_table_without_the_columns_that_tell_is_refused_with_its_name(
    mine: Store, tmp_path: Path
) -> None:
    tables.forget_owner(tmp_path / "leaderboard.csv")
    (tmp_path / "results.csv").write_text("schema,model\n5,mine\n")
    with pytest.raises(DataError, match=r"results\.csv:1: missing columns: task, seed, trial"):
        check(mine, tmp_path)


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
        (
            {"settings": {"head": "linear", "pooling": "cls", "max_train": 9, "max_eval": 0}},
            "max_train",
        ),
        (
            {
                "settings": {
                    "head": "linear",
                    "pooling": "cls",
                    "max_train": 0,
                    "max_eval": 0,
                    "lr": 1.0,
                }
            },
            "family",
        ),
    ],
)
def test_seeds_of_two_kinds_are_refused_with_both_places(
    changes: dict[str, object], what: str, tmp_path: Path
) -> None:
    first, second = (
        table(tmp_path / "a", trial(seed=1)),
        table(tmp_path / "b", trial(seed=2, **changes)),
    )
    with pytest.raises(
        DataError, match=rf"b/results\.csv:2: .* seed 1 in .*a/results\.csv:2, as .*{what}"
    ):
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
    result = run("leaderboard", "validate", str(both))
    assert isinstance(result.exception, DataError)
    assert "metrics_version" in str(result.exception)


def test_tables_merged_into_the_folder_of_a_store_are_not_its_own_any_more(tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2))
    tables.merge([first, second], tmp_path / "a")
    merged = first.read_bytes()
    kept(
        Store(tmp_path / "a" / "runs"),
        tmp_path / "a" / "leaderboard.csv",
        r"m on gad, seed 2, which is not in .*a/runs",
    )
    assert first.read_bytes() == merged
    tables.merge([first], tmp_path / "c")
    # Its own still are
    tables.rebuild(Store(tmp_path / "b" / "runs"), tmp_path / "b" / "leaderboard.csv")


def test_merging_keeps_the_numbers_of_others(tmp_path: Path) -> None:
    first, second = table(tmp_path / "a", trial(seed=1)), table(tmp_path / "b", trial(seed=2))
    published.add(
        tmp_path / "a" / "external.csv", published.Printed("us2026", "", "OurBERT", {"gad": 81.5})
    )
    tables.merge([first, second], tmp_path / "a")
    lines = [line for _, line in leaderboard_csv.read_lines(tmp_path / "a" / "leaderboard.csv")]
    assert [(line["model"], line["source"], line["gad"]) for line in lines] == [
        ("m", "", "50.00"),
        ("OurBERT", "us2026", "81.50"),
    ]


@pytest.mark.parametrize("name", ["results.csv", "leaderboard.csv"])
@pytest.mark.parametrize(
    ("version", "fix"), [("x", "another --out folder"), ("99", "update"), ("7", r".*to_schema_1")]
)
def test_merging_leaves_tables_of_another_schema_alone(
    name: str, version: str, fix: str, tmp_path: Path
) -> None:
    content = f"schema,model\n{version},x\n"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    with pytest.raises(StoreError, match=rf"{name} has schema version {version}.* {fix}"):
        tables.merge([table(tmp_path / "a", trial())], tmp_path / "out")
    assert (tmp_path / "out" / name).read_text() == content


def test_a_long_table_has_the_name_of_the_wide_one(tmp_path: Path) -> None:
    """Two tables in one folder, of two stores: each with its own runs."""
    for model in ("a", "b"):
        tables.rebuild(stored(tmp_path / f"runs-{model}", model), tmp_path / f"{model}.csv")
    for model in ("a", "b"):
        assert [one.model for one in file_rows(tmp_path / f"{model}-results.csv")] == [model]
    assert tables.results_beside(tmp_path / "leaderboard.csv").name == "results.csv"


def test_a_table_of_another_store_is_not_written_over(tmp_path: Path) -> None:
    leaderboard = tmp_path / "leaderboard.csv"
    for model in ("a", "b"):
        stored(tmp_path / f"runs-{model}", model)
    tables.rebuild(Store(tmp_path / "runs-a"), leaderboard)
    before = leaderboard.read_bytes(), (tmp_path / "results.csv").read_bytes()
    # Whose they are is noted beside them; without the note the trials say it
    for known in (True, False):
        if not known:
            (tmp_path / tables.NOTE).unlink()
        reason = (
            "they belong to the store .*runs-a"
            if known
            else "they have a on gad, seed 1, which is not in "
        )
        kept(Store(tmp_path / "runs-b"), leaderboard, reason)
    assert (leaderboard.read_bytes(), (tmp_path / "results.csv").read_bytes()) == before
    with pytest.raises(
        DataError, match=r"results\.csv:2: the table has a on gad, seed 1, which is in none of"
    ):
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


def test_a_protocol_that_changed_under_its_name_makes_another_row(
    store: Store, tmp_path: Path
) -> None:
    finish(store, "m", trial(), 0.5)
    for digit in "01":
        rows.write(
            store, row("m", trial(), configuration=replace(CONFIGURATION, protocol_hash=digit * 64))
        )
    found = tables.rebuild(store, tmp_path / "leaderboard.csv")
    assert len(found) == len({one.name for one in file_rows(tmp_path / "results.csv")}) == 2
    assert len({one.name for one in found}) == 2


def test_the_runs_of_a_named_table_are_its_own(tmp_path: Path) -> None:
    for model, name in (("m", "leaderboard.csv"), ("n", "mine.csv")):
        tables.rebuild(stored(tmp_path / f"runs-{model}", model), tmp_path / name)
    assert [one.model for one in file_rows(tmp_path / "mine.csv")] == ["n"]
    (tmp_path / "mine-results.csv").unlink()
    (one,) = file_rows(tmp_path / "mine.csv")  # and not those of results.csv
    assert (one.model, one.run_counts) == ("n", [1])


@pytest.mark.parametrize("name", ["mine-results.csv", "mine.csv"])
def test_a_table_of_the_other_kind_is_left_alone(name: str, tmp_path: Path) -> None:
    store = stored(tmp_path / "runs", "m")
    tables.rebuild(store, tmp_path / "mine.csv")
    if name == "mine.csv":  # a long table where the wide one would go
        shutil.copy(tmp_path / "mine-results.csv", tmp_path / "mine.csv")
    kept(store, tmp_path / name, "is a table of runs and was not changed")


def test_a_table_whose_header_is_cut_is_not_called_another_one(tmp_path: Path) -> None:
    store = stored(tmp_path / "runs", "m")
    (tmp_path / "results.csv").write_text("schema,suite,mod")
    kept(store, tmp_path / "leaderboard.csv", r"is no table of runs .*, or move it away")


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


def test_removed_trials_stop_nothing(store: Store, tmp_path: Path) -> None:
    for model in ("m", "n"):
        stored(store, model)
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    shutil.rmtree(tmp_path / "runs" / "m")
    assert [one.model for one in tables.rebuild(store, tmp_path / "leaderboard.csv")] == ["n"]

"""One row from each origin says the same. Oracle: the store's own figures, and tables with lines taken out."""

from dataclasses import replace
from pathlib import Path

import pytest

from blurb import regression
from blurb.results import from_store, results_csv, tables
from blurb.results.row import Row, label_rows
from blurb.row_files.references import table_rows
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import NAMES, play


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("rows")
    play(Store(top / "runs"), "whole", dict.fromkeys(NAMES, 0.8))
    tables.rebuild(Store(top / "runs"), top / "leaderboard.csv")
    return top


def test_store_and_tables_give_one_row(folder: Path) -> None:
    (stored,) = from_store.read(Store(folder / "runs"))
    (long,) = results_csv.read(folder / "results.csv")
    (wide,) = table_rows(folder / "leaderboard.csv")
    assert stored.primary_key == long.primary_key == wide.primary_key
    assert stored.name == long.name == wide.name
    assert stored.complete
    assert long.complete
    for split in ("dev", "test"):
        assert long.means(split) == pytest.approx(stored.means(split), abs=1e-4)
    assert wide.means() == pytest.approx(stored.means(), abs=0.005)
    assert wide.means("dev") == {}
    assert wide.score == pytest.approx(stored.score, abs=0.005)
    assert tuple(long.spread or ()) == pytest.approx(tuple(stored.spread or (0,)), abs=1e-3)
    assert {name: long.datasets[name].majority() for name in NAMES} == pytest.approx(
        {name: stored.datasets[name].majority() for name in NAMES}, abs=1e-4
    )
    assert (stored.data, stored.note, stored.capped) == (long.data, long.note, long.capped)


def test_a_table_of_one_split_is_read_and_cannot_be_judged_on_the_other(
    folder: Path, tmp_path: Path
) -> None:
    head, *lines = (folder / "results.csv").read_text().splitlines(keepends=True)
    path = tmp_path / "results.csv"
    path.write_text("".join([head, *(line for line in lines if ",dev," in line)]))
    (row,) = results_csv.read(path)
    assert row.means() == {}
    assert row.datasets["gad"].majority() is None
    assert row.missing == list(NAMES)
    (whole,) = from_store.read(Store(folder / "runs"))
    rules = regression.Rules(split="test")
    assert regression.decide_check(row, whole, rules).outcome == regression.Outcome.CANNOT_JUDGE
    assert (
        regression.decide_check(row, whole, replace(rules, split="dev")).outcome
        == regression.Outcome.PASS
    )


def names(rows: list[Row]) -> list[str]:
    return [row.name for row in label_rows(rows)]


def test_a_name_has_what_differs_and_nothing_else() -> None:
    one = invented.row("m", {"gad": [80.0]})
    other = invented.named(one, configuration=replace(one.configuration, precision="bf16"))
    assert names([one, other]) == ["m quick fp32", "m quick bf16"]
    assert names([one, invented.named(one, weights="w" * 64)]) == [
        "m quick",
        "m quick wwwwwwwwwwww",
    ]
    assert [row.detail for row in label_rows([one, invented.named(one, model="n")])] == [
        "quick",
        "quick",
    ]
    assert names([one, invented.named(one, learner="probe")]) == [
        "m quick encoder",
        "m quick probe",
    ]


def test_a_name_does_not_change_when_another_suite_enters_the_store() -> None:
    """`scratch:tiny smoke` was `scratch:tiny smoke blurb` after the demo suite ran."""

    def of(suite: str, protocol: str) -> Row:
        one = invented.row("m", {"gad": [80.0]})
        return invented.named(
            one, configuration=replace(one.configuration, suite=suite, protocol=protocol)
        )

    rows = [
        of(suite, protocol)
        for suite in ("blurb", "demo")
        for protocol in ("smoke", "demo", "quick@2")
    ]
    alone = [name for one in rows for name in names([one])]
    assert (
        names(rows)
        == alone
        == ["m smoke", "m demo blurb", "m quick@2", "m smoke demo", "m demo", "m quick@2 demo"]
    )


def test_a_mean_over_datasets_is_of_the_seeds_that_all_have() -> None:
    row = invented.row("m", {"gad": [60.0, 80.0, 100.0], "hoc": [20.0, 40.0]})
    assert row.mean_values(["gad", "hoc"]) == [40.0, 60.0]
    assert row.mean_values(["gad", "ddi"]) == []

"""The long table. Oracle: the rows that were written, and the csv module on the same file."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.results import from_store, results_csv, tables
from blurb.results.row import Origin, Row
from blurb.results.schema import SCHEMA
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.results import tampered
from tests.results.tampered import edited
from tests.rewriting import csv_lines, write_lines
from tests.store import fakes

QUIET = replace(fakes.CONFIGURATION, note="")
"""A table keeps no words of a protocol."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets with two seeds each, three of which were planned for GAD."""
    folder = tmp_path_factory.mktemp("table")
    store = Store(folder / "runs")
    trials = [fakes.trial(name, seed) for name in ("biosses", "gad") for seed in (1, 2)]
    for number, trial in enumerate(trials):
        metric = "pearson" if trial.task == "biosses" else "f1"
        fakes.finish(store, "m", trial, 0.5 + number / 7, metric, configuration=QUIET)
    rows.write(store, fakes.row("m", *trials, fakes.trial("gad", 3), configuration=QUIET))
    tables.rebuild(store, folder / "leaderboard.csv")
    return folder


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    (tmp_path / "results.csv").write_bytes((made / "results.csv").read_bytes())
    return tmp_path / "results.csv"


def told(path: Path) -> str:
    return tampered.told(results_csv.read, path)


def alike(row: Row, other: Row, unknown: str = "") -> None:
    """The same numbers to the four digits of a table, and the same facts but for a setting that `other` cannot know."""
    assert row.primary_key == other.primary_key
    assert row.datasets.keys() == other.datasets.keys()
    for name, one in row.datasets.items():
        two = other.datasets[name]
        assert (one.type, one.metric, one.planned, set(one.runs)) == (
            two.type,
            two.metric,
            two.planned,
            set(two.runs),
        )
        for seed, run in one.runs.items():
            again = two.runs[seed]
            facts = [
                (r.verdict, r.data_hash, r.metrics_version, dict(r.settings), r.family, r.trial)
                for r in (run, again)
            ]
            for name in filter(None, (unknown, unknown and "plugins")):
                facts[0][3].pop(name, None)
            assert facts[0] == facts[1]
            for split, figures in run.figures.items():
                for metric, figure in figures.items():
                    value, majority = again.figures[split][metric]
                    assert value == pytest.approx(figure.value, abs=5e-5)
                    assert (majority is None) == (figure.majority is None)
                    assert majority == pytest.approx(figure.majority, abs=5e-5)


@pytest.mark.parametrize(
    ("empty", "data"), [(["gad"], "gad not known"), (["gad", "biosses"], "not known")]
)
def test_data_without_a_verdict_are_not_verified(path: Path, empty: list[str], data: str) -> None:
    write_lines(
        path,
        [
            {**line, "data": "" if line["task"] in empty else line["data"]}
            for line in csv_lines(path)
        ],
    )
    (read,) = results_csv.read(path)
    assert read.data == data


def test_what_was_written_is_read_back(made: Path, path: Path) -> None:
    (stored,) = from_store.read(Store(made / "runs"))
    (read,) = results_csv.read(path)
    assert read.origin is Origin.RESULTS
    alike(stored, read)
    assert list(read.datasets) == ["gad", "biosses"]  # the paper's order
    assert (read.complete, read.run_counts, read.data) == (False, [2], "verified")
    results_csv.write(path.with_name("again.csv"), [read])
    assert path.with_name("again.csv").read_bytes() == path.read_bytes()


def test_a_line_is_one_figure(path: Path) -> None:
    found = csv_lines(path)
    assert tuple(found[0]) == results_csv.COLUMNS
    places = [
        tuple(line[column] for column in ("task", "seed", "split", "metric")) for line in found
    ]
    metrics = {"gad": ("f1", "accuracy_of_nothing"), "biosses": ("pearson", "accuracy_of_nothing")}
    assert places == [
        (task, str(seed), split, metric)
        for task in ("gad", "biosses")
        for seed in (1, 2)
        for split in ("dev", "test")
        for metric in metrics[task]
    ]
    first = next(line for line in found if (line["task"], line["seed"]) == ("gad", "2"))
    assert first["value"] == f"{100 * (0.5 + 3 / 7):.4f}"
    assert (first["schema"], first["planned"], first["majority"]) == (SCHEMA, "3", "10.0000")


def test_the_main_metric_of_a_task_file_is_known_whenever_it_was_loaded(path: Path) -> None:
    declaration = path.with_name("mine.toml")
    declaration.write_text(
        'name = "mine"\ntype = "relation"\nlabels = ["0", "1"]\npositive = "1"\n[format]\nkind = "tsv"\n'
        'dummies = ["@A$", "@B$"]\n[files]\ntrain = "a"\ndev = "b"\ntest = "c"\n'
    )
    head, *rest = path.read_text().replace(",gad,", ",mine,").splitlines(keepends=True)
    # As a spreadsheet would: another metric comes first
    path.write_text("".join([head, *sorted(rest)]))
    assert results_csv.read(path)[0].datasets["mine"].metric == "accuracy_of_nothing"
    tasks.load(str(declaration))
    assert results_csv.read(path)[0].datasets["mine"].metric == "f1"


def test_lines_of_one_seed_only_are_a_row_of_one_run(path: Path) -> None:
    head, *rest = path.read_text().splitlines(keepends=True)
    seed = results_csv.COLUMNS.index("seed") - len(results_csv.COLUMNS)
    path.write_text("".join([head, *(line for line in rest if line.split(",")[seed] == "2")]))
    (row,) = results_csv.read(path)
    assert (row.run_counts, row.seeds("gad"), row.complete, row.spread) == ([1], (2,), False, None)
    assert row.values("gad") == [pytest.approx(100 * (0.5 + 3 / 7), abs=5e-5)]
    assert {name: one.planned for name, one in row.datasets.items()} == {"gad": 3, "biosses": 2}


def test_a_table_of_a_newer_version_is_refused_with_both_versions(path: Path) -> None:
    newer = str(int(SCHEMA) + 1)
    path.write_text(path.read_text().replace(f"\n{SCHEMA},", f"\n{newer},"))
    assert {newer, SCHEMA} <= set(re.findall(r"\d+", told(path).removeprefix(str(path))))


def test_lines_of_two_versions_in_one_table_are_refused(path: Path) -> None:
    edited(path, 4, schema="4")
    assert told(path).startswith(f"{path}:4: ")
    edited(path, 4, schema="")
    assert told(path).startswith(f"{path}:4: ")


@pytest.mark.parametrize("column", results_csv.COLUMNS)
def test_a_missing_column_is_named(column: str, path: Path) -> None:
    head, rest = path.read_text().split("\n", 1)
    path.write_text(
        ",".join("other" if name == column else name for name in head.split(",")) + "\n" + rest
    )
    text = told(path)
    assert ":1: " in text or column == "schema"  # without it the version is not known
    assert column in text


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ({"value": "nan"}, "value"),
        ({"value": ""}, "value"),
        ({"value": "1e999"}, "value"),
        ({"value": "1e30"}, "value"),
        ({"value": "٨٠"}, "value"),
        ({"value": "8_0"}, "value"),
        ({"value": "0x50"}, "value"),
        ({"value": "100.01"}, "cannot be"),
        ({"value": "-0.01", "metric": "precision"}, "cannot be"),
        ({"majority": "half"}, "majority"),
        ({"seed": "-1"}, "seed"),
        ({"seed": ""}, "seed"),
        ({"seed": "²"}, "seed"),
        ({"planned": "9" * 5_000}, "planned"),
        ({"split": "Test"}, "split"),
        ({"split": "train"}, "split"),
        ({"split": ""}, "split"),
        ({"planned": "2.0"}, "planned"),
        ({"max_eval": "all"}, "max_eval"),
        ({"max_train": "-5"}, "max_train"),
    ],
)
def test_a_cell_that_cannot_be_is_told_with_its_line_and_column(
    cells: dict[str, str], what: str, path: Path
) -> None:
    edited(path, 5, **cells)
    assert re.search(rf"^{re.escape(str(path))}:5: .*{what}", told(path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda made, lines: [*lines[:3], lines[3].rpartition(",")[0], *lines[4:]],
            rf":4: .*{len(results_csv.COLUMNS)}",
            id="a cell too few",
        ),
        pytest.param(
            lambda made, lines: [*lines[:3], lines[3] + ",x", *lines[4:]],
            rf":4: .*{len(results_csv.COLUMNS)}",
            id="a cell too many",
        ),
        pytest.param(lambda made, lines: [*lines, lines[2]], ":LAST: .*line 3", id="twice"),
        pytest.param(lambda made, lines: lines[:1], "", id="no lines"),
        pytest.param(
            lambda made, lines: (made / "leaderboard.csv").read_text().splitlines(),
            "",
            id="a leaderboard",
        ),
    ],
)
def test_damage_is_told(
    change: Callable[[Path, list[str]], list[str]], said: str, made: Path, path: Path
) -> None:
    content = change(made, path.read_text().splitlines())
    path.write_text("\n".join(content) + "\n")
    assert re.match(re.escape(str(path)) + said.replace("LAST", str(len(content))), told(path))


@pytest.mark.parametrize("column", results_csv.MADE)
def test_seeds_that_were_made_otherwise_are_not_averaged(column: str, path: Path) -> None:
    for line, cells in enumerate(csv_lines(path), 2):
        if (cells["task"], cells["seed"]) == ("gad", "2"):
            edited(path, line, **{column: "7"})
    text = told(path)
    assert column in text
    assert re.search(r"gad.* 2 .*\b1\b", text)


def test_seeds_on_other_data_are_read_and_never_compared(path: Path) -> None:
    """Such rows exist; a comparison says why it cannot judge them (tests/results/test_comparison.py)."""
    for line, cells in enumerate(csv_lines(path), 2):
        if (cells["task"], cells["seed"]) == ("gad", "2"):
            edited(path, line, data_hash="other")
    (row,) = results_csv.read(path)
    assert row.datasets["gad"].known("data_hash") == {"d", "other"}


def test_whatever_comes_back_is_read_or_told(path: Path) -> None:
    def read(path: Path) -> None:
        assert all(row.name for row in results_csv.read(path))

    tampered.check_any(path, read)

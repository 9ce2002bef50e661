"""The wide table. Oracle: figures worked out by hand from the runs that were written, and the csv module."""

import math
import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scipy import stats

from blurb import tasks
from blurb.messages.errors import DataError
from blurb.results import from_store, leaderboard_csv, published
from blurb.results.row import Origin, Row
from blurb.results.schema import SCHEMA
from blurb.row_files.references import resolve, table_rows
from blurb.store.store import Store
from tests.results import invented, tampered
from tests.results.tampered import edited
from tests.rewriting import csv_lines
from tests.store.fakes import stored, trial

NAMES = tuple(task.name for task in tasks.all() if task.paper_order)
WHOLE = {name: [50.0 + place, 52.0 + place, 51.5 + place] for place, name in enumerate(NAMES)}


def written(path: Path, *rows: Row) -> list[dict[str, str]]:
    leaderboard_csv.write(path, rows)
    return csv_lines(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A whole row of runs, one of two datasets, and numbers of a paper."""
    path = tmp_path / "leaderboard.csv"
    part = invented.named(
        invented.row("part", {"gad": [80.0], "ddi": [70.0, 71.0]}), weights="v" * 64
    )
    other = published.Printed("us2026", "v1", "Theirs", {"gad": 81.5}, {"gad": 3}, 77.0).row
    written(path, invented.named(invented.row("whole", WHOLE), weights="w" * 64), part, other)
    return path


def told(path: Path) -> str:
    return tampered.told(table_rows, path)


def test_a_line_has_the_means_the_score_and_its_spread(path: Path) -> None:
    """By hand: means over seeds, types, the mean of six; sd and error of a sum of independent parts."""
    line, part, other = csv_lines(path)
    means = {name: statistics.fmean(values) for name, values in WHOLE.items()}
    assert {name: line[name] for name in NAMES} == {
        name: f"{mean:.2f}" for name, mean in means.items()
    }
    groups = dict(
        zip(
            tasks.TYPES,
            (NAMES[:5], NAMES[5:6], NAMES[6:9], NAMES[9:10], NAMES[10:11], NAMES[11:]),
            strict=True,
        )
    )
    kinds = {
        kind: statistics.fmean(means[name] for name in group) for kind, group in groups.items()
    }
    assert {kind: line[kind] for kind in kinds} == {
        kind: f"{mean:.2f}" for kind, mean in kinds.items()
    }
    score = statistics.fmean(kinds.values())
    parts = [
        (statistics.stdev(WHOLE[name]) / 6 / len(group)) ** 2
        for group in groups.values()
        for name in group
    ]
    assert (line["score"], line["score_sd"]) == (f"{score:.2f}", f"{math.sqrt(sum(parts)):.2f}")
    # Satterthwaite; the tail by SciPy
    freedom = sum(parts) ** 2 / sum(part**2 / 2 for part in parts)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts) / 3)
    assert float(line["score_low"]) == pytest.approx(score - half, abs=0.01)
    assert float(line["score_high"]) == pytest.approx(score + half, abs=0.01)
    assert (line["seeds"], line["complete"], line["weights"]) == ("3", "yes", "w" * 12)
    assert (part["seeds"], part["complete"], part["score"], part["relation"]) == (
        "ddi:2 gad:1",
        "no",
        "",
        "",
    )
    assert (part["gad"], part["ddi"]) == ("80.00", "70.50")
    assert (other["source"], other["score"], other["gad"], other["seeds"]) == (
        "us2026 (v1)",
        "77.00",
        "81.50",
        "",
    )
    assert {
        other[column] for column in ("weights", "protocol", "precision", "learner", "score_sd")
    } == {""}


def test_what_was_written_is_read_back_without_its_runs(path: Path) -> None:
    whole, part, other = table_rows(path)
    assert [row.origin for row in (whole, part, other)] == [Origin.LEADERBOARD] * 2 + [
        Origin.PUBLISHED
    ]
    assert whole.means() == pytest.approx(
        {name: statistics.fmean(values) for name, values in WHOLE.items()}, abs=0.005
    )
    assert (whole.means("dev"), whole.run_counts, whole.spread) == ({}, [3], None)
    assert whole.primary_key == invented.named(invented.row("whole"), weights="w" * 64).primary_key
    assert part.means() == {"gad": 80.0, "ddi": 70.5}
    assert (other.model, other.source, other.version, other.score) == (
        "Theirs",
        "us2026",
        "v1",
        77.0,
    )
    again = path.with_name("again.csv")
    leaderboard_csv.write(again, [other])
    assert again.read_text().splitlines()[1] == path.read_text().splitlines()[3]


def test_numbers_of_two_papers_on_one_model_are_two_rows(tmp_path: Path) -> None:
    papers = [
        published.Printed(source, version, "Theirs", {"gad": 80.0}).row
        for source, version in (
            ("us2026", "v1"),
            ("us2026", "v2"),
            ("them (2025)", ""),
            ("you2024", ""),
        )
    ]
    path = tmp_path / "leaderboard.csv"
    leaderboard_csv.write(path, papers)
    names = [row.name for row in table_rows(path)]
    assert len(set(names)) == 4
    assert names[0] == "Theirs (us2026) v1"
    assert resolve(f"{path}:{names[3]}", tmp_path / "runs").source == "you2024"


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    (line,) = written(
        tmp_path / "leaderboard.csv", invented.row("m", {name: [70.0] for name in NAMES})
    )
    assert (line["score"], line["seeds"]) == ("70.00", "1")
    assert [line[column] for column in ("score_sd", "score_low", "score_high")] == ["", "", ""]


@pytest.mark.parametrize("column", leaderboard_csv.COLUMNS)
def test_a_missing_column_is_named(column: str, path: Path) -> None:
    head, rest = path.read_text().split("\n", 1)
    path.write_text(
        ",".join("other" if name == column else name for name in head.split(",")) + "\n" + rest
    )
    assert column in told(path)


@pytest.mark.parametrize("column", leaderboard_csv.NUMBERS)
def test_what_is_no_number_is_told_with_its_line_and_column(column: str, path: Path) -> None:
    for text in ("x", "nan", "inf", "8o.1", "٨٠", "8_0", "0x50"):
        edited(path, 3, **{column: text})
        assert re.search(rf"^{re.escape(str(path))}:3: {column}\b", told(path))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(
            lambda head, one, two, *rest: [head, one, two.rpartition(",")[0], *rest],
            ":3: ",
            id="a cell too few",
        ),
        pytest.param(
            lambda head, one, two, *rest: [head, one, two + ",x", *rest],
            ":3: ",
            id="a cell too many",
        ),
        pytest.param(lambda head, one, *rest: [head, one, one, *rest], ":3: ", id="twice"),
        pytest.param(lambda head, *rest: [head], "", id="no lines"),
        pytest.param(
            lambda head, one, two, *rest: [head, one, two.replace(f"{SCHEMA},", "4,", 1), *rest],
            ":3: schema version 4 ",
            id="another version",
        ),
    ],
)
def test_damage_is_told(change: Callable[..., list[str]], line: str, path: Path) -> None:
    path.write_text("\n".join(change(*path.read_text().splitlines())) + "\n")
    assert told(path).startswith(f"{path}{line}")


def test_rows_of_one_model_are_two_where_anything_that_makes_a_row_differs(tmp_path: Path) -> None:
    one = invented.named(
        invented.row("m", {"gad": [80.0]}), weights="w" * 64, tokenizer="t" * 64, recipe="1"
    )
    made = one.configuration
    others = [
        invented.named(one, model="n"),
        invented.named(one, weights="v" * 64),
        invented.named(one, tokenizer="u" * 64),
        invented.named(one, learner="probe"),
        invented.named(one, recipe="2"),
        *(
            invented.named(one, configuration=replace(made, **change))
            for change in (  # type: ignore[arg-type]
                {"suite": "demo"},
                {"protocol": "standard"},
                {"protocol_hash": "1" * 64},
                {"precision": "bf16"},
                {"overrides": {"lr": 0.1}},
            )
        ),
    ]
    path = tmp_path / "leaderboard.csv"
    written(path, one, *others)
    assert len([row.name for row in table_rows(path)]) == len(others) + 1
    written(path, one, *others, one)
    assert told(path).startswith(f"{path}:{len(others) + 3}: ")


@pytest.mark.parametrize(
    "overrides",
    [
        {"head": "crf", "lr": "0.1"},
        {"head": "bilstm,layers=2", "lr": "0.1"},
        {"head": "bilstm, size=2", "lr": "0.1"},  # `size` sorts behind `lr`
        {"head": "bilstm, layers = 2", "lr": "0.1"},
        {"head": "bilstm , layers= 2 ,size =3", "pooling": "mean"},
        {"head": "my head.py:Head"},
        {},
    ],
)
def test_what_was_overridden_comes_back_as_it_was_typed(
    overrides: dict[str, str], tmp_path: Path
) -> None:
    """Else a row would be another one after it was read and written again."""
    configuration = replace(invented.CONFIGURATION, overrides=overrides)
    row = invented.named(invented.row("m", {"gad": [80.0]}), configuration=configuration)
    path = tmp_path / "leaderboard.csv"
    written(path, row)
    (read,) = table_rows(path)
    assert (read.configuration.overrides, read.primary_key) == (overrides, row.primary_key)


def test_whatever_comes_back_is_read_or_told(path: Path) -> None:
    def read(path: Path) -> None:
        assert all(row.score is None or math.isfinite(row.score) for row in table_rows(path))

    tampered.check_any(path, read)


def test_tasks_of_ones_own_have_columns_behind_the_fixed_ones(store: Store, tmp_path: Path) -> None:
    stored(store, "m", *[trial(seed=seed) for seed in (1, 2)])
    (mine,) = from_store.read(store)
    own = replace(mine.datasets["gad"], task="my-task")
    wide = replace(mine, datasets={**mine.datasets, "my-task": own, "score": own})
    path = tmp_path / "leaderboard.csv"
    leaderboard_csv.write(path, [wide])
    header = path.read_text().split("\n")[0].split(",")
    # A task of the name of a column has no other
    assert header == [*leaderboard_csv.COLUMNS, "my-task"]
    (back,) = leaderboard_csv.rows(leaderboard_csv.read_lines(path))
    assert back.means() == {"gad": 50.0, "my-task": 50.0}
    path.write_text(path.read_text().replace(",50.00\n", ",fifty\n"))
    with pytest.raises(DataError, match=r":2: my-task must be a number"):
        leaderboard_csv.rows(leaderboard_csv.read_lines(path))

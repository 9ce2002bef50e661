"""What both tables share. Oracle: the csv module, and the cells as they were typed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from blurb.messages.errors import DataError
from blurb.results import published, schema
from blurb.table_files import FileLine
from tests.rewriting import csv_lines

COLUMNS = ("schema", *schema.KEY, "value")
CELLS = {
    "suite": "blurb",
    "model": "m",
    "weights": "w",
    "precision": "fp32",
    "protocol": "quick",
    "value": "1",
}


def written(
    path: Path, *lines: dict[str, str], version: str = schema.SCHEMA, without: tuple[str, ...] = ()
) -> Path:
    """A table of these lines in a schema, which lacks some columns."""
    columns = [column for column in COLUMNS if column not in without]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, columns, restval="", extrasaction="ignore", lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows({"schema": version, **CELLS, **line} for line in lines)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def told(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        schema.read_lines(path, COLUMNS)
    return str(caught.value).removeprefix(str(path))


def test_lines_come_with_their_numbers_in_the_file(path: Path) -> None:
    written(path, {"value": "1"}, {"value": "2"})
    head, first, second = path.read_text().splitlines()
    path.write_text("\n".join([head, "", first, "", "", second]) + "\n")
    assert [(at.number, line["value"]) for at, line in schema.read_lines(path, COLUMNS)] == [
        (3, "1"),
        (6, "2"),
    ]


def test_what_today_s_schema_has_may_not_be_missing(path: Path) -> None:
    written(path, {}, without=("learner", "recipe"))
    assert told(path) == ":1: missing columns: learner, recipe."


@pytest.mark.parametrize(
    ("version", "fix"),
    [
        ("2", "; update blurb"),
        ("8", "; update blurb"),
        ("", "."),
        ("x", "."),
        *(
            (before, "; rewrite it once with python -m benchmarks.to_schema_1")
            for before in "34567"
        ),
    ],
)
def test_another_version_is_refused_with_its_line_and_what_to_do(
    version: str, fix: str, path: Path
) -> None:
    written(path, {}, version=version)
    what = f":2: schema version {version or 'none'}, but this version of blurb reads {schema.SCHEMA}{fix}"
    assert told(path).startswith(what)


def test_a_table_of_a_head_alone_has_no_rows(path: Path) -> None:
    assert told(written(path)) == ": the table has no rows."


@pytest.mark.parametrize("text", ["1.5", "-2", "1e3", " 7 "])
def test_a_number_is_what_float_reads(text: str, path: Path) -> None:
    assert schema.number(text, "value", FileLine(path, 7)) == float(text)


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e999", "1,5", "x" * 50])
def test_anything_else_is_told_with_place_column_and_cell(text: str, path: Path) -> None:
    with pytest.raises(DataError) as caught:
        schema.number(text, "value", FileLine(path, 7))
    assert str(caught.value) == f"{path}:7: value must be a number (got {text[:20]!r})."


def test_a_published_row_has_neither_configuration_nor_learner() -> None:
    row = published.Printed("us2026", "", "Theirs", {"gad": 80.0}).row
    assert schema.identity_columns(row) == {"suite": "blurb", "model": "Theirs"}


def test_a_name_that_a_spreadsheet_would_run_is_written_as_text_and_read_as_it_was(
    path: Path,
) -> None:
    names = ["=1+1", "@x", "-m", "'=x", "plain"]
    schema.write(
        path,
        COLUMNS,
        [{"schema": schema.SCHEMA, **CELLS, "model": name, "value": "-1"} for name in names],
    )
    lines = csv_lines(path)
    assert [line["model"][0] for line in lines] == ["'", "'", "'", "'", "p"]
    assert {line["value"] for line in lines} == {"-1"}  # a number stays one
    assert {line["tokenizer"] for line in lines} == {""}
    assert [line["model"] for _, line in schema.read_lines(path, COLUMNS)] == names

"""CSV files as people hand them in. Oracle: the lines of the file as an editor counts them."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb.messages.errors import DataError, ErrorCollector
from blurb.planning import ablations
from blurb.results import leaderboard_csv, published, results_csv, schema
from blurb.table_files import FileLine, head_of, table_of
from tests.results import invented
from tests.rewriting import csv_lines


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_columns_and_lines_come_with_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", b'a,b\n1,2\n\n3,"x\ny"\r\n\n\n5,6\n')
    columns, lines = table_of(path)
    assert columns == ("a", "b") == head_of(path)[0]
    # A cell of two lines ends in the second of them.
    assert [(at.number, line) for at, line in lines] == [
        (2, {"a": "1", "b": "2"}),
        (5, {"a": "3", "b": "x\ny"}),
        (8, {"a": "5", "b": "6"}),
    ]


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", b"\xef\xbb\xbfa,b\n1,2\n")  # as spreadsheets write it
    assert head_of(path)[0] == table_of(path).columns == ("a", "b")


def test_lines_that_are_too_short_or_too_long_say_so(tmp_path: Path) -> None:
    path, errors = written(tmp_path / "t.csv", b"a,b\n1\n1,2,3\n4,5\n"), ErrorCollector()
    assert [line for _, line in table_of(path, errors).rows] == [{"a": "4", "b": "5"}]
    assert [str(error) for error in errors.errors] == [
        f"{path}:{line}: expected 2 cells." for line in (2, 3)
    ]
    assert table_of(written(path, b"a,b\n1\n"), short=True).rows[0][1] == {"a": "1", "b": ""}


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_of_nothing_has_no_columns(content: bytes, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", content)
    assert table_of(path) == ((), [])
    assert head_of(path)[0] == ()


def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path) -> None:
    for content, line in (
        (b"a\n1\n\n\xff\n", ":4: "),
        (b"a\n1\n\n" + b"x" * 200_000 + b"\n", ":4: "),
    ):
        path = written(tmp_path / "t.csv", content)
        with pytest.raises(DataError) as caught:
            table_of(path)
        assert str(caught.value).startswith(f"{path}{line}")
    for missing in (tmp_path / "none.csv", tmp_path):
        for read in (table_of, head_of):
            with pytest.raises(DataError) as caught:
                read(missing)  # type: ignore[operator]
            assert str(caught.value).startswith(f"{missing}: ")


def _ablation(path: Path) -> object:
    from blurb.extensions.reports.html.collect import read_ablations

    return read_ablations(path.parent)


def _table(columns: tuple[str, ...], **cells: str) -> str:
    return f"{','.join(columns)}\n{','.join(cells.get(column, '') for column in columns)}\n"


@pytest.mark.extensions
@pytest.mark.parametrize("kind", ["results", "leaderboard", "external", "ablation"])
def test_every_table_counts_empty_lines_as_an_editor_does(kind: str, tmp_path: Path) -> None:
    """A line of one cell, behind two empty ones: it is the fifth of the file."""
    path = tmp_path / f"{kind}.csv"
    readers: dict[str, Callable[[Path], object]] = {
        "results": results_csv.read_lines,
        "leaderboard": leaderboard_csv.read_lines,
        "external": published.read,
        "ablation": _ablation,
    }
    row = invented.row("m", {"gad": [80.0]})
    if kind == "results":
        results_csv.write(path, [row])
    elif kind == "leaderboard":
        leaderboard_csv.write(path, [row])
    elif kind == "external":
        published.add(path, published.Printed("s", "v", "m", {"gad": 80.0}))
    else:
        path.write_text(_table(ablations.COLUMNS, schema=str(ablations.SCHEMA), task="gad"))
    readers[kind](path)
    head, line, *_ = path.read_text().splitlines()
    path.write_text(f"{head}\n{line}\n\n\nx\n")
    with pytest.raises(DataError) as caught:
        readers[kind](path)
    assert str(caught.value).startswith(f"{path}:5: ")


@pytest.mark.parametrize(
    "cell", ["=1+1", "+a", "-x", "@y", "\ta", "-1.5", "-", "plain", "", "1e3", "it's", "-inf"]
)
def test_a_cell_that_a_spreadsheet_would_run_is_made_safe_and_comes_back(cell: str) -> None:
    safe = schema.neutral(cell)
    assert schema.undo_neutral(safe) == cell
    try:
        float(safe)
    except ValueError:
        assert not safe.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("\x1b]0;OWNED\x07\x1b[31mred", "\\x1b]0;OWNED\\x07\\x1b[31mred"),
        ("a\rb\nc", "a\\rb\\nc"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("Größe, 模型", "Größe, 模型"),
    ],
)
def test_characters_that_command_a_terminal_are_escapes_once_and_for_all(
    cell: str, shown: str
) -> None:
    assert schema.undo_neutral(cell) == shown
    assert schema.undo_neutral(schema.neutral(shown)) == shown


# What both tables share. Oracle: the csv module, and the cells as they were typed.


COLUMNS = ("schema", *schema.KEY, "value")
CELLS = {
    "suite": "blurb",
    "model": "m",
    "weights": "w",
    "precision": "fp32",
    "protocol": "quick",
    "value": "1",
}


def table_of_lines(path: Path, *lines: dict[str, str], version: str = schema.SCHEMA) -> Path:
    """A table of these lines in a schema."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, COLUMNS, restval="", extrasaction="ignore", lineterminator="\n"
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
    table_of_lines(path, {"value": "1"}, {"value": "2"})
    head, first, second = path.read_text().splitlines()
    path.write_text("\n".join([head, "", first, "", "", second]) + "\n")
    assert [(at.number, line["value"]) for at, line in schema.read_lines(path, COLUMNS)] == [
        (3, "1"),
        (6, "2"),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            _table(
                tuple(column for column in COLUMNS if column not in ("learner", "recipe")),
                schema=schema.SCHEMA,
            ),
            ":1: missing columns: learner, recipe.",
        ),
        ("{\n  1\n}\n", ":1: not a table of blurb, as columns are missing: schema."),
        (",".join(COLUMNS) + "\n", ": the table has no rows."),
    ],
)
def test_what_is_no_table_of_today_s_schema_is_told(text: str, what: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    assert told(path) == what


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
    table_of_lines(path, {}, version=version)
    what = f":2: schema version {version or 'none'}, but this version of blurb reads {schema.SCHEMA}{fix}"
    assert told(path).startswith(what)


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

"""Text files read line by line. Oracles: the lines as an editor counts them, and what remains without the bad ones."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from blurb import table_files, tasks
from blurb.data import read_split
from blurb.messages.errors import DataError, ErrorCollector
from tests.data.samples import SAMPLES, put

CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=4)


def all_of(read: Callable[..., Any], path: Path, *more: Any) -> tuple[list[Any], list[int | None]]:
    """What a reader gives, and the lines of its faults."""
    errors = ErrorCollector()
    items = list(read(path, *more, errors=errors))
    return items, [error.line for error in errors.errors if isinstance(error, DataError)]


def test_every_line_with_another_number_of_cells_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('x\ty\na\t"b\nc\nd\te\tf\ng\th\u2028i\r\n')
    rows, faults = all_of(table_files.rows_of, tmp_path / "a.tsv", 2, ("x", "y"))
    assert [(line.number, cells) for line, cells in rows] == [
        (2, ["a", '"b']),
        (5, ["g", "h\u2028i"]),
    ]
    assert faults == [3, 4]
    assert all_of(table_files.rows_of, tmp_path / "a.tsv", 2, ("x", "z")) == ([], [1])


@pytest.mark.parametrize("head", ["a,b,a", 'b,"a",a', "a,a"])
def test_a_name_of_two_columns_is_told_by_all_who_read_the_header(
    head: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(f"{head}\n1,2,3\n", encoding="utf-8")
    for read in (table_files.table_of, table_files.head_of):
        with pytest.raises(DataError, match=r"a\.csv:1: two columns have the name 'a'; remove one"):
            read(tmp_path / "a.csv")


def test_columns_without_a_name_are_no_doubled_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,,\n1,,\n", encoding="utf-8")
    assert table_files.table_of(tmp_path / "a.csv").columns == ("a", "", "")


def test_every_line_that_is_no_object_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"a": 1}\n[]\n{\n{"a": 1, "a": 2}\n{"a": "\\ud800"}\n{"b": "\\ud83d\\ude00"}\n'
    )
    records, faults = all_of(table_files.json_lines, tmp_path / "a.jsonl")
    assert [(line.number, record) for line, record in records] == [
        (1, {"a": 1}),
        (6, {"b": "\U0001f600"}),
    ]
    assert faults == [2, 3, 4, 5]


def test_a_sentence_with_a_bad_line_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("a O\nb O O\nc\n\nd O\n\n-DOCSTART- 7\n\ne O O\n\nf O\n")
    sentences, faults = all_of(table_files.read_conll, tmp_path / "a.conll")
    assert [(line.number, each.rows, each.document) for line, each in sentences] == [
        (5, [["d", "O"]], None),
        (11, [["f", "O"]], "7"),
    ]
    assert faults == [2, 3, 9]


@given(rows=st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=8))
def test_rows_are_those_of_the_csv_module_that_are_whole(
    rows: list[list[str]], tmp_path_factory: Any
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["a", "b"], *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    errors = ErrorCollector()
    table = table_files.table_of(path, errors)
    there = [row for row in csv.reader(io.StringIO(text.getvalue(), newline="\n")) if row][1:]
    assert [list(cells.values()) for _, cells in table.rows] == [
        row for row in there if len(row) == 2
    ]
    assert len(errors.errors) == sum(len(row) != 2 for row in there)


@pytest.mark.parametrize(
    "name", ["bc5-chem", "ebm-pico", "chemprot", "gad", "biosses", "hoc", "bioasq"]
)
def test_the_first_fault_is_raised_and_all_of_them_are_collected(name: str, tmp_path: Path) -> None:
    """Lines of nonsense between those of a file: what is left are the examples of the file without them."""
    task = tasks.get(name)
    put(tmp_path / "good", name, SAMPLES[name])
    put(tmp_path / "bad", name, f"{SAMPLES[name].rstrip()}\n\nx\tx\tx\tx\tx\n\ny\n")
    errors = ErrorCollector()
    rows = read_split(task, tmp_path / "bad", "train", errors)
    assert rows == read_split(task, tmp_path / "good", "train")
    assert len(errors.errors) >= 2
    with pytest.raises(DataError) as caught:
        read_split(task, tmp_path / "bad", "train")
    assert str(caught.value) == str(errors.errors[0])

"""The ledger of a board: what fits, what was taken away, what was changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.extensions.board import ledger
from blurb.extensions.board.ledger import FILE, Event, LedgerEntry, append, problems, read
from blurb.messages.errors import DataError
from blurb.row_files.reading import manifest_of


def entry(
    event: Event, row: str, board: Path, date: str = "2026-11-24", **more: object
) -> LedgerEntry:
    files = board / "rows" / row
    hash_ = manifest_of(files) if files.is_dir() and event is not Event.WITHDRAWN else ""
    return LedgerEntry(date, event, row, "us", hash_, **more)  # type: ignore[arg-type]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Two rows, of which one was verified, and one that was withdrawn."""
    for name in ("one", "other"):
        (tmp_path / "rows" / name).mkdir(parents=True)
        (tmp_path / "rows" / name / "MANIFEST.json").write_text(name)
        append(tmp_path, entry(Event.ADDED, name, tmp_path))
    append(tmp_path, entry(Event.VERIFIED, "one", tmp_path, level="recomputed"))
    append(tmp_path, replace(entry(Event.ADDED, "one", tmp_path), row="gone"))
    append(tmp_path, entry(Event.WITHDRAWN, "gone", tmp_path, reason="trained on test"))
    return tmp_path


def test_what_fits_has_no_problems_and_is_read_as_it_was_written(board: Path) -> None:
    assert list(problems(board)) == []
    assert [(each.event.value, each.row) for each in read(board / FILE)] == [
        ("added", "one"),
        ("added", "other"),
        ("verified", "one"),
        ("added", "gone"),
        ("withdrawn", "gone"),
    ]
    assert [each.line for each in read(board / FILE)] == (board / FILE).read_text().splitlines()


def test_a_row_that_is_scored_again_has_other_files(board: Path) -> None:
    (board / "rows" / "one" / "MANIFEST.json").write_text("scored again")
    assert list(problems(board)) == ["one: its files are not those of its last entry"]
    append(board, entry(Event.RESCORED, "one", board, old=81.2, new=81.3))
    assert list(problems(board)) == []


def without_the_row(board: Path) -> None:
    (board / "rows" / "other" / "MANIFEST.json").unlink()
    (board / "rows" / "other").rmdir()


def with_a_stranger(board: Path) -> None:
    (board / "rows" / "stranger").mkdir()


def with_a_verdict_on_other_files(board: Path) -> None:
    append(
        board, replace(entry(Event.VERIFIED, "one", board, level="recomputed"), manifest="0" * 64)
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without_the_row, "other: the row is gone, and no entry says that it was withdrawn"),
        (with_a_stranger, "stranger: no entry says that the row was added"),
        (
            with_a_verdict_on_other_files,
            "one: verified on 2026-11-24 with files that were never added",
        ),
    ],
)
def test_what_does_not_fit(change: Callable[[Path], None], told: str, board: Path) -> None:
    change(board)
    assert list(problems(board)) == [told]


@pytest.mark.parametrize("line", [0, 2, 4])
def test_no_line_of_an_earlier_release_may_go_or_change(
    line: int, board: Path, tmp_path: Path
) -> None:
    released = tmp_path / "released.jsonl"
    released.write_text((board / FILE).read_text())
    assert list(problems(board, released)) == []
    append(board, entry(Event.VERIFIED, "other", board, level="claimed"))
    assert list(problems(board, released)) == []
    lines = (board / FILE).read_text().splitlines(keepends=True)
    (board / FILE).write_text("".join(lines[:line] + lines[line + 1 :]))
    assert f"{FILE}:{line + 1}: the entry of " in next(iter(problems(board, released)))
    (board / FILE).write_text("".join(lines).replace("us", "them"))
    assert f"{FILE}:1: the entry of one (added, 2026-11-24) is gone or was changed" in list(
        problems(board, released)
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "is no JSON"),
        ("[]", "expected an object of date"),
        ('{"date": "2026-11-24", "event": "liked", "row": "a", "by": "b"}', "event must be one of"),
        (
            '{"date": "2026-11-24", "event": "withdrawn", "row": "a", "by": "b"}',
            "withdrawn: reason is missing",
        ),
        (
            '{"date": "2026-11-24", "event": "added", "row": "../a", "by": "b", "manifest": "c"}',
            "the name of a folder",
        ),
        (
            '{"date": "today", "event": "added", "row": "a", "by": "b", "manifest": "c"}',
            "date must be",
        ),
        (
            '{"date": "2020-01-01", "event": "added", "row": "a", "by": "b", "manifest": "c"}',
            "earlier than the line",
        ),
    ],
)
def test_a_line_that_is_no_entry(line: str, told: str, board: Path) -> None:
    with (board / FILE).open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(DataError, match=told) as error:
        list(problems(board))
    assert error.value.line == 6


def test_nothing_is_written_before_the_last_entry(board: Path) -> None:
    before = (board / FILE).read_text()
    with pytest.raises(DataError, match="later than 2026-11-23"):
        append(board, entry(Event.ADDED, "one", board, date="2026-11-23"))
    assert (board / FILE).read_text() == before
    assert ledger.read(board / "nowhere") == []


def test_a_ledger_without_its_last_line_end_is_added_to(board: Path) -> None:
    """An editor or a merge may take it: two entries in one line could not be read again."""
    path = board / FILE
    path.write_text(path.read_text().rstrip("\n"))
    before = ledger.read(path)
    append(board, replace(before[-1], row="one-more"))
    assert [entry.row for entry in ledger.read(path)] == [
        *(entry.row for entry in before),
        "one-more",
    ]

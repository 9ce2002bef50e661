"""A board from its first row to a withdrawn one, by the commands; what was done behind the ledger's back is told."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.board import boards, ledger
from blurb.extensions.board.ledger import FILE, Event, LedgerEntry, append, problems, read, today
from blurb.messages.errors import DataError, SettingsError
from blurb.row_files.reading import manifest_of
from tests.cli.in_process import blurb as command, done, failed, refused
from tests.extensions.board.test_listing import better, edit, of_an_older_version
from tests.golden import schemas
from tests.scoring.test_forms import answers

VERIFY = ("leaderboard", "verify", "board", "--suite", "demo")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with two rows of predictions, verified; and the files of the rows beside it."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "board" / "rows").mkdir(parents=True)
    (folder / "board" / ledger.FILE).touch()
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    for name in ("one", "other"):
        found = answers("gad", units)
        blurb.score(
            "gad",
            found if name == "one" else found[::-1],
            suite="demo",
            add=name,
            output=folder / "runs",
        )
        done(["export", "row", name, "--output", "runs", "--out", name], folder)
        submit = ["leaderboard", "submit", "board", name, "--as", f"row-{name}", "--by", "a group"]
        code, out, err = command(submit, folder)
        assert (code, out) == (0, f"Added: board/rows/row-{name}\n"), err
    code, _, err = command([*VERIFY, "--record", "the board"], folder)
    assert (code, err) == (0, "New entries in the ledger: 2\n")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def events(folder: Path) -> list[tuple[str, str]]:
    return [(entry.event.value, entry.row) for entry in ledger.read(folder / "board" / ledger.FILE)]


def test_rows_are_added_and_verified(folder: Path) -> None:
    names = ("row-one", "row-other")
    assert events(folder) == [
        *(("added", name) for name in names),
        *(("verified", name) for name in names),
    ]
    out = done([*VERIFY, "--format", "json"], folder)
    jsonschema.validate(json.loads(out), schemas.of_command("leaderboard verify"))
    content = json.loads(out)
    assert [(row["row"], row["level"], row["recorded"]) for row in content["rows"]] == [
        (name, "recomputed", "recomputed") for name in names
    ]
    assert content["problems"] == []
    code, _, err = command([*VERIFY, "--record", "the board"], folder)
    assert (code, err) == (0, "New entries in the ledger: 0\n")


def test_nothing_is_recorded_of_files_that_nobody_looked_at(folder: Path) -> None:
    """A row that is replaced while the board is verified: the ledger would say *recomputed* of an edited figure."""
    board = folder / "board"
    verified = boards.verify_board(board, demo.prepare())
    edited = Path(shutil.copytree(board / "rows" / "row-one", folder / "edited"))
    edit(edited, better)
    boards.withdraw(board, "row-one", "me", "a typo", today())
    boards.submit(board, edited, "row-one", "me", today())
    boards.withdraw(board, "row-other", "me", "gone", today())
    before = events(folder)
    assert boards.record(board, verified, "the board", today()) == (0, ["row-one", "row-other"])
    assert events(folder) == before


def test_what_is_hidden_among_the_rows_is_told(folder: Path) -> None:
    hidden = folder / "board" / "rows" / ".hid"
    hidden.mkdir()
    (hidden / "x.html").write_text("<script>")
    (folder / "board" / "rows" / ".gitkeep").touch()
    code, out, _ = command(VERIFY, folder)
    assert (code, "Problem: rows/.hid: is hidden, and no row; remove it." in out) == (1, True)
    assert "gitkeep" not in out


@pytest.mark.parametrize("name", ["con", "NUL", "com1.txt", "a.", "ROW-One"])
def test_names_are_folders_on_every_system(name: str, folder: Path) -> None:
    boards.withdraw(folder / "board", "row-other", "me", "to be added again", today())
    with pytest.raises(SettingsError, match=r"on every system|are one folder on macOS and Windows"):
        boards.submit(folder / "board", folder / "other", name, "me", today())
    assert sorted(path.name for path in (folder / "board" / "rows").iterdir()) == ["row-one"]


def test_twins_by_case_are_told(folder: Path) -> None:
    board = folder / "board"
    shutil.copytree(board / "rows" / "row-one", board / "rows" / "Row-One")
    append(
        board,
        LedgerEntry(today(), Event.ADDED, "Row-One", "me", manifest_of(board / "rows" / "row-one")),
    )
    out = failed(VERIFY, folder)
    assert "Row-One and row-one: are one folder on macOS and Windows; withdraw all but one" in out


def test_an_entry_dated_tomorrow_is_told(folder: Path) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    append(folder / "board", LedgerEntry(tomorrow, Event.WITHDRAWN, "row-one", "me", reason="why"))
    shutil.rmtree(folder / "board" / "rows" / "row-one")
    assert f"row-one: withdrawn on {tomorrow}, which is still to come" in failed(VERIFY, folder)


def test_a_rescoring_that_was_killed_at_its_end_leaves_nothing(folder: Path) -> None:
    rows = folder / "board" / "rows"
    shutil.copytree(rows / "row-one", rows / ".row-one.before")
    with pytest.raises(SettingsError, match="which this blurb has"):
        boards.rescore(folder / "board", "row-one", demo.prepare(), "me", today())
    assert not (rows / ".row-one.before").exists()


def test_a_withdrawn_row_leaves_its_entry(folder: Path) -> None:
    released = shutil.copy(folder / "board" / ledger.FILE, folder / "released.jsonl")
    withdraw = [
        "leaderboard",
        "withdraw",
        "board",
        "row-one",
        "--by",
        "a group",
        "--reason",
        "test was in pretraining",
    ]
    assert command(withdraw, folder)[0] == 0
    assert not (folder / "board" / "rows" / "row-one").exists()
    assert events(folder)[-1] == ("withdrawn", "row-one")
    assert command([*VERIFY, "--since", released], folder)[0] == 0
    assert "there is no row 'row-one'" in refused(withdraw, folder)


def test_a_row_that_is_gone_without_an_entry(folder: Path) -> None:
    shutil.rmtree(folder / "board" / "rows" / "row-one")
    out = failed(VERIFY, folder)
    assert "Problem: row-one: the row is gone, and no entry says that it was withdrawn." in out


def test_an_entry_that_is_gone_with_its_row(folder: Path) -> None:
    released = shutil.copy(folder / "board" / ledger.FILE, folder / "released.jsonl")
    lines = (folder / "board" / ledger.FILE).read_text().splitlines(keepends=True)
    (folder / "board" / ledger.FILE).write_text(
        "".join(line for line in lines if "row-one" not in line)
    )
    shutil.rmtree(folder / "board" / "rows" / "row-one")
    assert command(VERIFY, folder)[0] == 0
    out = failed([*VERIFY, "--since", released], folder)
    assert "Problem: ledger.jsonl:1: the entry of row-one" in out


def test_figures_edited_on_the_board(folder: Path) -> None:
    edit(folder / "board" / "rows" / "row-one", better)
    before = events(folder)
    out = failed([*VERIFY, "--record", "the board"], folder)
    assert "Problem: row-one: its files are not those of its last entry." in out
    assert "Problem: row-one: was recomputed when it was verified, and is only claimed now." in out
    assert events(folder) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["submit", "board", "one", "--as", "row-one", "--by", "me"], "is on the board already"),
        (["submit", "board", "one", "--as", "../out", "--by", "me"], "must be letters, digits"),
        (["submit", "board", "runs", "--as", "new", "--by", "me"], "runs"),
        (
            ["submit", "nowhere", "one", "--as", "new", "--by", "me"],
            "is no board, as it has no ledger.jsonl",
        ),
        (
            ["verify", "board", "--suite", "demo", "--rerun", "one"],
            "--beside and --rerun are for a single row",
        ),
        (
            ["submit", "board", "one", "--as", "copy", "--by", "me"],
            "on the board already, as row-one",
        ),
        (["verify", "board", "--data", "runs", "--record", "me"], "runs"),
        (
            ["verify", "board", "--suite", "demo", "--since", "nowhere.jsonl"],
            "nowhere.jsonl: there is no such ledger",
        ),
        (
            ["verify", "one", "--suite", "demo", "--record", "me"],
            "--since, --submitted, --reproduced and --record are for a board",
        ),
    ],
)
def test_bad_input_changes_nothing(words: list[str], told: str, folder: Path) -> None:
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    assert told in refused(["leaderboard", *words], folder)
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


class Killed(BaseException):
    """What a kill leaves: whatever came after it did not happen."""


def _killed(*arguments: object) -> None:
    raise Killed


def test_a_submission_that_was_killed_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = folder / "board"
    boards.withdraw(board, "row-one", "me", "to be added again", today())
    rename = Path.rename
    monkeypatch.setattr(
        Path,
        "rename",
        lambda path, target: _killed() if path.name == ".again" else rename(path, target),
    )
    with pytest.raises(Killed):
        boards.submit(board, folder / "one", "again", "me", today())
    monkeypatch.undo()
    assert list(ledger.problems(board)) == [
        "again: the row is gone, and no entry says that it was withdrawn"
    ]
    with pytest.raises(
        SettingsError, match="the ledger has a row 'again' of other files, which are gone"
    ):
        boards.submit(board, folder / "other", "again", "me", today())
    boards.submit(board, folder / "one", "again", "me", today())
    assert list(ledger.problems(board)) == []
    assert events(folder)[-2:] == [("withdrawn", "row-one"), ("added", "again")]


def test_a_withdrawal_that_was_killed_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = folder / "board"
    monkeypatch.setattr(shutil, "rmtree", _killed)
    with pytest.raises(Killed):
        boards.withdraw(board, "row-one", "me", "why", today())
    monkeypatch.undo()
    boards.withdraw(board, "row-one", "me", "why", today())
    assert list(ledger.problems(board)) == []
    assert events(folder).count(("withdrawn", "row-one")) == 1


@pytest.mark.parametrize("rename", [1, 2])
def test_a_rescoring_that_was_killed_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rename: int
) -> None:
    board, place = folder / "board", folder / "board" / "rows" / "row-one"
    edit(place, of_an_older_version)
    append(
        board,
        LedgerEntry(today(), Event.RESCORED, "row-one", "me", manifest_of(place), old=1.0, new=1.0),
    )
    left = board / "rows" / ".row-one.before"
    left.mkdir()
    (left / "row.json").write_text("{}")  # of an earlier kill
    count, rename_of = [0], os.rename

    def dies(source: Path, target: Path) -> None:
        count[0] += 1
        if count[0] == rename:
            raise Killed
        rename_of(source, target)

    monkeypatch.setattr(os, "rename", dies)
    with pytest.raises(Killed):
        boards.rescore(board, "row-one", demo.prepare(), "me", today())
    monkeypatch.undo()
    entry = boards.rescore(board, "row-one", demo.prepare(), "me", today())
    assert list(ledger.problems(board)) == []
    assert ledger.read(board / ledger.FILE)[-1] == entry
    assert events(folder).count(("rescored", "row-one")) == 2
    assert not left.exists()


def test_two_submissions_of_one_name_are_one(folder: Path) -> None:
    board = folder / "board"
    for name in ("row-one", "row-other"):
        boards.withdraw(board, name, "me", "to be added again", today())
    tried = [
        subprocess.Popen(
            [sys.executable, "-m", "blurb", "leaderboard", "submit", "board", row, "--as", "new", "--by", "me"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for row in ("one", "other")
    ]  # fmt: skip
    outputs = [process.communicate() for process in tried]
    assert sorted(process.returncode for process in tried) == [0, 2]
    assert any("the name is on the board already" in err for _, err in outputs)
    assert list(ledger.problems(board)) == []


def test_a_row_that_no_entry_knows_is_no_reason_to_stop(folder: Path) -> None:
    shutil.copytree(folder / "board" / "rows" / "row-one", folder / "board" / "rows" / "stray")
    assert "stray: no entry says that the row was added" in failed(
        [*VERIFY, "--record", "the board"], folder
    )


def test_no_row_is_scored_again_outside_of_the_board(folder: Path) -> None:
    shutil.copytree(folder / "board" / "rows" / "row-one", folder / "elsewhere" / "row-one")
    before = events(folder)
    with pytest.raises(SettingsError, match="there is no row"):
        boards.rescore(folder / "board", "../../elsewhere/row-one", demo.prepare(), "me", today())
    assert events(folder) == before


def test_a_withdrawal_takes_what_a_kill_left(folder: Path) -> None:
    rows = folder / "board" / "rows"
    (rows / "row-one").rename(rows / ".row-one.before")
    boards.withdraw(folder / "board", "row-one", "me", "why", today())
    assert not (rows / ".row-one.before").exists()
    assert list(ledger.problems(folder / "board")) == []


# The ledger of a board: what fits, what was taken away, what was changed.


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


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without_the_row, "other: the row is gone, and no entry says that it was withdrawn"),
        (
            lambda board: (board / "rows" / "stranger").mkdir(),
            "stranger: no entry says that the row was added",
        ),
        (
            lambda board: append(
                board,
                replace(entry(Event.VERIFIED, "one", board, level="recomputed"), manifest="0" * 64),
            ),
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
        ('{"by": "a", "by": "b"}', "the key 'by' has two values"),
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

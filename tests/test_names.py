"""Names of models as folders: those of 53549ab where they are free, reversible ones where they are not, or refused."""

import os
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, strategies as st

from blurb import names
from blurb.messages.errors import SettingsError
from blurb.protocols import protocol
from blurb.row_files.references import table_rows
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.cli.in_process import ran, run
from tests.store.fakes import stored, trial

SMOKE = ["run", "baseline:majority", "--suite", "demo", "--protocol", "smoke", "--tasks", "gad"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("scratch:tiny", "scratch-tiny"),
        ("org/model", "org-model"),
        ("a b/c", "a-b-c"),
        ("..", "model"),
        ("x", "x"),
    ],
)
def test_a_name_keeps_the_folder_that_it_had(name: str, folder: str, tmp_path: Path) -> None:
    assert Store(tmp_path).folder(name) == folder


def test_names_that_would_share_a_folder_get_their_own(tmp_path: Path) -> None:
    asked = ["@x", "x", "-x", "β", "γ", "model", "org/model", "org-model"]
    for number, name in enumerate(asked):
        planned = trial("gad", number + 1)
        stored(Store(tmp_path), name, planned)
    folders = {name: Store(tmp_path).folder(name) for name in asked}
    assert len(set(folders.values())) == len(asked)
    assert (folders["@x"], folders["org/model"]) == ("x", "org-model")
    for name, folder in folders.items():
        assert folder == names.plain(name) or unquote(folder) == name
    assert sorted(found.model for found in rows.read(Store(tmp_path))) == sorted(asked)


@given(st.text(min_size=1), st.text(min_size=1))
def test_encoded_names_are_reversible_and_never_a_plain_one(first: str, second: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in first + second):
        return
    assert unquote(names.encoded(first)) == first
    assert "%" in names.encoded(first)
    assert "%" not in names.plain(second)


@pytest.mark.parametrize(
    "name",
    [
        "a\rb",
        "a\nb",
        "a\u2028b",
        "a\u0085b",
        "a\x0bb",
        "a\x0cb",
        "a\tb",
        "",
        "  ",
        "x" * 300,
        os.fsdecode(b"bert-\xe9"),
    ],
)
def test_what_no_table_can_hold_is_refused(name: str, here: Path) -> None:
    with pytest.raises(SettingsError, match="--name"):
        names.check(name, "the name of the model,")
    if "\x00" not in name and name.strip():
        result = run(*SMOKE, "--name", name)
        assert isinstance(result.exception, SettingsError), result.output
        assert list(here.iterdir()) == []  # nothing was written


def test_a_character_that_turns_a_line_around_is_named() -> None:
    with pytest.raises(SettingsError, match=r"has the character U\+202E in it"):
        names.check("a\u202eb", "The model name")


def test_a_protocol_file_of_such_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mi\rne.toml"
    path.write_text('note = """two\n  lines"""\n')
    with pytest.raises(SettingsError, match=r"U\+000D.*--protocol"):
        protocol.load_protocol_file(str(path))
    assert protocol.load_protocol_file(str(path.rename(tmp_path / "mine.toml"))).note == "two lines"


@pytest.mark.parametrize(
    "name", ["a,b", 'a"b', "=cmd", "'x", "β-model", "a\u00a0b", "[/red]", "[bold]x[/]"]
)
def test_every_name_that_is_taken_comes_back_from_the_tables(name: str, here: Path) -> None:
    result = ran([*SMOKE, "--name", name])
    for table in ("results.csv", "leaderboard.csv"):
        assert [row.model for row in table_rows(here / "runs" / table)] == [name]
    assert name in result.output

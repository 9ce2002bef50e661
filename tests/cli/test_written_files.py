"""What a command writes replaces neither what it was given nor a file of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.in_process import done, refused

STORE = [
    "check a --baseline b --junit {}",
    "check a --baseline b --summary {}",
    "predict a b.txt --out {}",
    "ablate a --axis head --out {}",
    "data export --suite demo --out {}",
    "tasks new farm --type ner --train a.tsv --out {}",
]
EXTENSIONS = [
    "leaderboard html --out {}",
    "export latex --out {}",
    "compare a b --plot {}",
    "data audit --out {}",
    "series a --out {}",
    "attention a --text b --out {}",
]
INPUTS = [
    ("predict a {0} --out {0}", "[FILE]"),
    ("check a --baseline b --rules {0} --junit ./{0}", "--rules"),
    ("check {0} --baseline b --junit {0}", "CANDIDATE"),
    ("check a --baseline b --junit new.xml --summary new.xml", "--junit"),
    ("tasks new farm --type ner --train {0} --out {0}", "--train"),
]


def _store(folder: Path) -> None:
    (folder / "runs" / "model").mkdir(parents=True)
    (folder / "runs" / "store.json").write_text('{"schema": 4}', encoding="utf-8")


@pytest.mark.parametrize(
    "command", [*STORE, *(pytest.param(each, marks=pytest.mark.extensions) for each in EXTENSIONS)]
)
def test_nothing_is_written_into_a_store(command: str, tmp_path: Path) -> None:
    _store(tmp_path)
    there = sorted(tmp_path.rglob("*"))
    told = refused(command.format("runs/model/new").split(), tmp_path)
    assert f"runs/model/new is in the store {tmp_path / 'runs'}" in told
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize(("command", "other"), INPUTS)
def test_an_input_is_not_replaced(command: str, other: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    told = refused(command.format("a.txt").split(), tmp_path)
    assert f"is the file of '{other}" in told
    assert [each.read_text("utf-8") for each in tmp_path.iterdir()] == ["a"]


def test_a_word_that_is_also_a_name_of_a_file_to_write(tmp_path: Path) -> None:
    """`export latex --out latex`: the format is no file."""
    done(["data", "export", "--suite", "demo", "--tasks", "gad", "--out", "gad"], tmp_path)
    assert (tmp_path / "gad" / "gad" / "test.jsonl").is_file()

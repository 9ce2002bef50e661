"""What a command writes replaces neither what it was given nor a file of a store."""

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
    (folder / "runs" / "model" / "models.json").write_text('{"models": ["model"]}')


@pytest.mark.parametrize(
    "command", [*STORE, *(pytest.param(each, marks=pytest.mark.extensions) for each in EXTENSIONS)]
)
def test_nothing_is_written_into_a_store(command: str, tmp_path: Path) -> None:
    _store(tmp_path)
    there = sorted(tmp_path.rglob("*"))
    told = refused(command.format("runs/model/new").split(), tmp_path)
    assert f"runs/model/new is of the store {tmp_path / 'runs'}" in told
    assert sorted(tmp_path.rglob("*")) == there


@pytest.mark.parametrize("name", ["store.json", "leaderboard.csv", "results.csv", "external.csv"])
def test_files_of_a_store_are_known_before_they_are_there(name: str, tmp_path: Path) -> None:
    _store(tmp_path)
    told = refused(["predict", "a", "b.txt", "--out", f"runs/{name}"], tmp_path)
    assert f"runs/{name} is of the store" in told


def test_beside_the_files_of_a_store_there_is_place(tmp_path: Path) -> None:
    _store(tmp_path)
    done(["data", "export", "--suite", "demo", "--tasks", "gad", "--out", "runs/gad"], tmp_path)


@pytest.mark.parametrize(("command", "other"), INPUTS)
def test_an_input_is_not_replaced(command: str, other: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    assert f"is the file of '{other}" in refused(command.format("a.txt").split(), tmp_path)
    assert [each.read_text("utf-8") for each in tmp_path.iterdir()] == ["a"]

"""Suites of one's own: a folder with `suite.toml` and task files, through every command; and all that may be wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb import tasks
from blurb.cli import cli
from blurb.messages import BlurbError

WORDS = ("mice", "rats", "yeast", "maize", "wheat", "flies", "frogs", "worms", "ducks", "goats")
TASK = """name = "{name}"
type = "ner"
labels = ["{label}"]
files = {{ train = "{folder}/train.tsv", dev = "{folder}/dev.tsv", test = "{folder}/test.tsv" }}
{more}

[format]
kind = "conll"

[entity]
{label} = "species"
"""
SUITE = 'name = "farm"\ntitle = "Beasts and plants"\nprotocol = "{protocol}"\n'


def write_suite(folder: Path, protocol: str = "smoke") -> Path:
    """A suite of two tasks that share an entity word, `barn` and `field`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.toml").write_text(SUITE.format(protocol=protocol), encoding="utf-8")
    for name, label in (("barn", "Animal"), ("field", "Species")):
        text = TASK.format(name=name, label=label, folder=name.title(), more="")
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def write_data(folder: Path) -> Path:
    """Their data in BLURB's layout; splits share some of their words."""
    for shift, name in enumerate(("Barn", "Field")):
        (folder / name).mkdir(parents=True)
        for at, split in enumerate(tasks.SPLITS):
            named = [WORDS[(each + at + shift) % len(WORDS)] for each in range(6)]
            text = "".join(
                f"{place}\tO\nsaw\tO\n{word}\tB\n.\tO\n\n" for place, word in enumerate(named)
            )
            (folder / name / f"{split}.tsv").write_text(text, encoding="utf-8")
    return folder


def invoke(*words: str) -> Result:
    result = CliRunner().invoke(cli, [*words])
    assert result.exception is None or isinstance(result.exception, SystemExit | BlurbError), result
    return result


@pytest.fixture
def farm(here: Path) -> str:
    """The folder of the suite, beside `data`; whatever is loaded is forgotten afterwards."""
    write_data(here / "data")
    return str(write_suite(here / "suite"))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites are known in a process by name once they are loaded: no test may see those of another one."""
    monkeypatch.setattr(tasks, "_loaded", dict(tasks._loaded))
    monkeypatch.setattr(tasks, "_files", dict(tasks._files))


def test_a_strangers_suite_works_from_its_folder(here: Path, farm: str) -> None:
    verified = invoke("data", "verify", "--suite", farm, "--data", "data", "--format", "json")
    assert verified.exit_code == 0, verified.output
    listed = json.loads(verified.stdout)
    assert [(one["task"], one["train"], one["verdict"]) for one in listed] == [
        ("barn", 6, "not known"),
        ("field", 6, "not known"),
    ]
    ran = invoke("run", "baseline:dictionary", "--suite", farm, "--data", "data")
    assert ran.exit_code == 0, ran.output
    with open("runs/results.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["task"] for line in lines} == {"barn", "field"}
    assert {line["suite"] for line in lines} == {"farm"}
    assert {line["protocol"].partition("@")[0] for line in lines} == {"smoke"}
    with open("runs/leaderboard.csv", encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == []
    # No file that a row makes has the place of the suite: other machines have it elsewhere.
    for path in (here / "runs").rglob("*.json"):
        assert str(here) not in path.read_text(encoding="utf-8") or path.name == "job.json", path
    for words in (("--suite", farm), ()):
        shown = invoke("leaderboard", "show", *words, "--format", "json", "--datasets")
        assert shown.exit_code == 0, shown.output
        (row,) = json.loads(shown.stdout)
        assert row["score"] is None if "score" in row else True
        assert 0 < row["barn"] < 100
    known = invoke("generalisation", "baseline:dictionary", "--suite", farm, "--data", "data")
    assert known.exit_code == 0, known.output
    assert "barn" in known.stdout
    moved = invoke("transfer", "baseline:dictionary", "--suite", farm, "--data", "data")
    assert moved.exit_code == 0, moved.output
    assert "species" in moved.stdout
    page = invoke("leaderboard", "html", "--out", "page.html")
    assert page.exit_code == 0, page.output
    text = Path("page.html").read_text(encoding="utf-8")
    assert "Beasts and plants" in text
    assert "--suite farm --data DATA" in text

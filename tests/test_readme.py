"""The commands of the README work as they stand, on the demo suite with a smoke test's protocol and tiny models.

The wheel job runs this file without the package beside it, so that `blurb` is the installed one.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.cli import cli
from blurb.corpora import demo
from blurb.messages.errors import DataError, SettingsError
from blurb.planning.request import check_files
from tests.corpora.originals import NAMES, punkt, put, small_lists

README = Path(__file__).parent.parent / "README.md"
NOT_HERE = ("pip install", "blurb data download")
"""Commands that need a network."""
SYNTHETIC = {"blurb data verify": 1}
"""Exit codes where the originals are made up: their files are not BLURB's."""
QUICKLY = {
    "run ./checkpoint --data DATA --tasks blurb-12": "run ./checkpoint --suite demo --tasks ncbi-disease,gad",
    "--data DATA --tasks ncbi-disease,gad": "--suite demo --tasks ncbi-disease,gad",
    "--protocol quick": "--protocol smoke",
    "--max-drop 5": "--max-drop 100",
    " quick@2": " smoke demo",
}


def journeys() -> list[list[str]]:
    """The commands of each block."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [[line.split(" #")[0].strip() for line in block.splitlines()] for block in blocks]


@pytest.mark.costly
@pytest.mark.parametrize("commands", journeys(), ids=lambda commands: commands[-1][:30])
def test_a_journey(commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nltk_data = pytest.importorskip("nltk.data")
    monkeypatch.setattr(nltk_data, "path", [str(punkt(tmp_path / "nltk"))])
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if any("--raw RAW" in command for command in commands):
        for name in NAMES:
            put(folder / "RAW", name)
    for command in commands:
        if command.startswith(NOT_HERE):
            continue
        for written, quick in QUICKLY.items():
            command = command.replace(written, quick)
        words = shlex.split(command)[1:]
        expected = next((code for start, code in SYNTHETIC.items() if command.startswith(start)), 0)
        for arguments in _quickly(words) if words[0] == "run" else [words]:
            with small_lists():
                result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
            assert result.exit_code == expected, (command, result.output[-2000:])
    if "blurb leaderboard html" in commands:
        assert (folder / "leaderboard.html").is_file()


def _quickly(arguments: list[str]) -> list[list[str]]:
    """A run for each model, of a tiny one under the name that the README gives, on two tasks, as a smoke test."""
    models = [word for word in arguments if word.startswith("./")]
    shared = [word for word in arguments[1:] if word not in models]
    if "--tasks" not in shared:
        shared += ["--tasks", "ncbi-disease,gad"]
    if "--protocol" not in shared:
        shared += ["--protocol", "smoke"]
    return [["run", "scratch:tiny", "--name", model.removeprefix("./"), *shared] for model in models] or [
        ["run", *shared]
    ]


def test_no_journey_needs_the_dataset_that_needs_a_registration(tmp_path: Path) -> None:
    data = Path(shutil.copytree(demo.prepare(), tmp_path / "data", ignore=shutil.ignore_patterns("BioASQ")))
    runs = [command.split() for journey in journeys() for command in journey if "--data DATA" in command]
    for words in (words for words in runs if words[1] == "run"):
        check_files(tasks.select(words[words.index("--tasks") + 1] if "--tasks" in words else "all"), data)
    with pytest.raises(DataError, match=r"BioASQ/test.tsv\). To run the others: --tasks blurb-12$"):
        check_files(tasks.select("all"), data)


def test_the_readme_is_read_in_two_minutes() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) <= 600
    assert len(text.splitlines()) <= 90


def test_the_journeys_are_there() -> None:
    assert len(journeys()) == 3
    with pytest.raises(SettingsError):
        CliRunner().invoke(cli, ["run", "scratch:tiny"], catch_exceptions=False)


def test_the_figures_of_the_miniature_are_those_of_the_committed_study() -> None:
    text = " ".join(README.read_text(encoding="utf-8").split())
    study = README.parent / "docs" / "results" / "lab" / "vocabulary-and-masking" / "study.csv"
    with study.open(encoding="utf-8") as file:
        cells = {(line["protocol"], line["dataset"], line["variant"]): line for line in csv.DictReader(file)}
    own, general, untrained = (
        cells["quick", "ncbi-disease", name] for name in ("own-whole-word", "general-sub-token", "untrained")
    )
    means = [round(float(cell["mean"])) for cell in (own, general, untrained)]
    assert (
        "has {} on NCBI-disease with its text's own vocabulary and whole words masked, {} with neither, {} ".format(
            *means
        )
        in text
    )
    count = {"2": "two", "3": "three"}[min(own["pretrainings"], general["pretrainings"])]
    assert f"These are {count} pretrainings each" in text

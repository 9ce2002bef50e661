"""The commands of the README work as they stand, on the demo suite with a smoke test's protocol and tiny models.

The wheel job runs this file without the package beside it, so that `blurb` is the installed one.
"""

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
from blurb.planning.steps import available_tasks, check_files
from tests.corpora.originals import NAMES, put, small_lists

README = Path(__file__).parent.parent / "README.md"
NOT_HERE = ("pip install", "make ")
"""Commands that install."""
SYNTHETIC = {"blurb data get": 1}
"""Exit codes where the originals are made up: their files are not BLURB's."""
QUICKLY = {
    "data get": "data get --accept-licences",
    "run ./checkpoint": "run ./checkpoint --suite demo --tasks ncbi-disease,gad",
    "--tasks ncbi-disease,gad --protocol quick": "--suite demo --tasks ncbi-disease,gad --protocol smoke",
    "--max-drop 5": "--max-drop 100",
    "compare checkpoint ": "compare 'checkpoint smoke demo' ",
}


def journeys() -> list[list[str]]:
    """The commands of each block."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [[line.split(" #")[0].strip() for line in block.splitlines()] for block in blocks]


@pytest.mark.costly
@pytest.mark.parametrize("commands", journeys(), ids=lambda commands: commands[-1][:20])
def test_a_journey(commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("BLURB_DATA", str(folder / "own" / "data"))
    for name in NAMES:
        put(folder / "own" / "originals", name)
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
    return [
        ["run", "scratch:tiny", "--name", model.removeprefix("./"), *shared] for model in models
    ] or [["run", *shared]]


def test_the_first_lines_have_two_commands_that_set_up_all_they_need() -> None:
    assert [
        line.split(" #")[0].strip()
        for line in README.read_text(encoding="utf-8").splitlines()[:32]
        if line.startswith("make ")
    ] == ["make demo", "make test"]


def test_what_always_works_needs_no_registration(tmp_path: Path) -> None:
    (selection,) = re.findall(r"`--tasks (\S+)` needs none", README.read_text(encoding="utf-8"))
    assert all(task.source and task.source.downloads for task in tasks.select_tasks(selection))
    left_out = shutil.ignore_patterns("BioASQ", "BIOSSES", "chemprot")
    data = Path(shutil.copytree(demo.prepare(), tmp_path / "data", ignore=left_out))
    check_files(tasks.select_tasks(selection), data)
    assert len(available_tasks(tasks.select_tasks("all"), data)) == 10
    with pytest.raises(DataError, match=r"biosses .* To run the others: --tasks bc5-chem"):
        check_files(tasks.select_tasks("all"), data)


def test_the_readme_is_read_in_two_minutes() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.split()) <= 700
    assert len(text.splitlines()) <= 100


def test_the_journeys_are_there() -> None:
    assert len(journeys()) == 4
    with pytest.raises(SettingsError):
        CliRunner().invoke(cli, ["run", "scratch:tiny"], catch_exceptions=False)

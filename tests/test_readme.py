"""The commands of the README work as they stand, on the demo suite with a smoke test's protocol and tiny models."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from blurb import tasks
from blurb.api.request import check_files
from blurb.cli import cli
from blurb.corpora import demo
from blurb.errors import DataError, SettingsError

README = Path(__file__).parent.parent / "README.md"
NOT_HERE = ("pip install", "blurb data download", "blurb data prepare", "blurb data verify")
"""Commands that fetch, or whose data the demo suite does not have; they have tests of their own."""
QUICKLY = {
    "--tasks blurb-12": "--tasks ncbi-disease,gad", "--data DATA": "--suite demo",
    "--protocol quick": "--protocol smoke",
    "--max-drop 5": "--max-drop 100", " standard ": " smoke ", " quick@2": " smoke",
}  # fmt: skip


def journeys() -> list[list[str]]:
    """The commands of each block."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [[line.split("  #")[0].strip() for line in block.splitlines()] for block in blocks]


@pytest.mark.parametrize("commands", journeys(), ids=lambda commands: commands[-1][:30])
def test_a_journey(commands: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands:
        if command.startswith(NOT_HERE):
            continue
        for written, quick in QUICKLY.items():
            command = command.replace(written, quick)
        arguments = shlex.split(command)[1:]
        if arguments[0] in ("run", "ablate"):
            arguments = _quickly(arguments)
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (command, result.output[-2000:])


def _quickly(arguments: list[str]) -> list[str]:
    """A tiny model under the name that the README gives, on two tasks, with a smoke test's protocol."""
    model = next((word for word in arguments if word.startswith("./")), "")
    found = [word.replace(model, "scratch:tiny") if model else word for word in arguments]
    if model:
        found += ["--name", model.removeprefix("./")]
    if "--tasks" not in found:
        found += ["--tasks", "ncbi-disease,gad"]
    if "--protocol" not in found:
        found += ["--protocol", "smoke"]
    return found


def test_no_journey_needs_the_dataset_that_needs_a_registration(tmp_path: Path) -> None:
    data = Path(shutil.copytree(demo.prepare(), tmp_path / "data", ignore=shutil.ignore_patterns("BioASQ")))
    runs = [command.split() for journey in journeys() for command in journey if "--data DATA" in command]
    for words in (words for words in runs if words[1] in ("run", "ablate")):
        check_files(tasks.select(words[words.index("--tasks") + 1] if "--tasks" in words else "all"), data)
    with pytest.raises(DataError, match=r"BioASQ/test.tsv\). To run the others: --tasks blurb-12$"):
        check_files(tasks.select("all"), data)


def test_the_journeys_are_there() -> None:
    assert len(journeys()) == 4
    with pytest.raises(SettingsError):
        CliRunner().invoke(cli, ["run", "scratch:tiny"], catch_exceptions=False)

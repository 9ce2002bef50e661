"""What the user waits for: `--help` and `tasks` load nothing heavy; every command and option has help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from blurb.cli import cli
from tests.cli.in_process import ran

HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "accelerate",
    "pandas",
    "pyarrow",
    "sklearn",
    "scipy",
    "evaluate",
)


LIGHT = [
    ["--help"],
    ["tasks"],
    ["run", "--help"],
    ["data", "verify", "--help"],
    ["ablate", "x", "--axis", "tagging", "--tasks", "gad", "--dry-run"],
    ["run", "x", "--tasks", "nothing"],
    ["runs"],
]
REFUSED = (
    "--device gpu",
    "--set lr=-1",
    "--head crf --tasks gad",
    "hoc --tasks gad",
    "--precision fp16",
    "--relation-input original --tasks gad",
    "--track wandb",
    "--engine ray",
    "--engine slurm",
    "--tagging biou",
)
IN_A_ROW = """
import importlib.util, json, sys
from blurb.cli import cli
from blurb.messages.errors import BlurbError
from blurb.training import devices
devices._has_no_gpu = lambda: True
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in ("wandb", "ray") else found(name, *more)
for line in json.loads(sys.argv[1]):
    try:
        cli(line)
    except (SystemExit, BlurbError) as error:
        told = str(error)
    heavy = sorted({module.partition(".")[0] for module in sys.modules} & set(json.loads(sys.argv[2])))
    print("\\nLOADED " + json.dumps([line, told, heavy]))
"""


def loaded(
    lines: list[list[str]], heavy: Sequence[str], folder: Path
) -> list[tuple[str, list[str]]]:
    """What each of some command lines says at its end, and what heavy there is after it, in one process for all."""
    command = [sys.executable, "-c", IN_A_ROW, json.dumps(lines), json.dumps(heavy)]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
    answers = [
        json.loads(line.removeprefix("LOADED "))
        for line in out.splitlines()
        if line.startswith("LOADED ")
    ]
    assert [line for line, _, _ in answers] == lines
    return [(told, found) for _, told, found in answers]


def test_start_up_loads_nothing_heavy(tmp_path: Path) -> None:
    assert [found for _, found in loaded(LIGHT, HEAVY, tmp_path)] == [[]] * len(LIGHT)


@pytest.mark.costly
def test_refusals_that_need_no_model_load_none(tmp_path: Path) -> None:
    lines = [["run", "scratch:tiny", "--suite", "demo", *typed.split()] for typed in REFUSED]
    for told, found in loaded(lines, ("torch", "transformers"), tmp_path):
        assert told not in ("", "0")
        assert found == []
    assert list(tmp_path.iterdir()) == []


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in commands(cli)], ids=" ".join)
def test_every_command_and_option_has_help(path: tuple[str, ...]) -> None:
    command = dict(commands(cli))[path]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
    ran([*path, "--help"])


def test_help_reads_of_the_source_what_the_commands_say() -> None:
    """Oracle: the commands themselves, loaded."""
    context = click.Context(cli)
    for name in cli.list_commands(context):  # type: ignore[attr-defined]
        command = cli.get_command(context, name)  # type: ignore[attr-defined]
        assert cli.line_of(context, name, 60) == command.get_short_help_str(60), name  # type: ignore[attr-defined]


@pytest.mark.costly
def test_a_model_that_is_not_known_loads_nothing(tmp_path: Path) -> None:
    """The names are looked up first: the libraries took five times as long as the answer."""
    names = (
        "nosuch",
        "nosuch another",
        "./nosuch",
        "baseline:nosuch",
        "scratch:nosuch",
        "PubMedBrt",
    )
    lines = [["run", *name.split(), "--suite", "demo", "--tasks", "gad"] for name in names]
    for told, found in loaded(lines, ("torch", "transformers"), tmp_path):
        assert "nosuch" in told or "PubMedBrt" in told
        assert found == []


@pytest.mark.costly
@pytest.mark.parametrize(
    "words", [("run", "scratch:tiny", "--suite", "demo", "--dry-run"), ("leaderboard", "html")]
)
def test_an_interrupt_while_libraries_load(words: tuple[str, ...], tmp_path: Path) -> None:
    """It ended with a traceback before the handler was set, and by SIGINT where code of C was interrupted."""
    code = "import os, signal, sys; sys.argv = ['blurb', *sys.argv[2:]]; import blurb.__main__ as own; "
    code += "sys.setprofile(lambda frame, event, value: leave(frame)); own.main()"
    before = """
import os, signal, sys
def leave(frame):
    if frame.f_globals.get("__name__") == os.environ["AT"]:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
"""
    for place in (
        "click",
        "click.core",
        "blurb.cli",
        "blurb.cli._exit",
        "blurb.system.signals",
        "blurb.messages.text",
    ):
        done = subprocess.run(
            [sys.executable, "-c", f"{before}\n{code}", "-", *words],
            cwd=tmp_path, env={**os.environ, "AT": place}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (place, done.returncode, done.stderr.partition(".")[0]) == (
            place,
            130,
            "Interrupted",
        )


@pytest.mark.extensions
def test_a_repeatable_number_is_each_checked() -> None:
    """Each value is a number by itself; the option as a whole was asked to be one."""
    result = CliRunner().invoke(cli, ["series", "gone", "--require", "4", "--require", "-1"])
    assert "Invalid value for '--require': it must be at least 0 (got -1)" in result.output

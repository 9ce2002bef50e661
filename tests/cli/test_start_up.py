"""What the user waits for: `--help` and `tasks` load nothing heavy; every command and option has help."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from blurb.cli import cli

HEAVY = ("torch", "transformers", "datasets", "accelerate", "pandas", "pyarrow", "sklearn", "scipy", "evaluate")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["tasks"], ["run", "--help"], ["data", "verify", "--help"],
        ["ablate", "x", "--axis", "tagging", "--tasks", "gad", "--dry-run"],
        ["run", "x", "--tasks", "nothing"],
    ],
)  # fmt: skip
def test_start_up_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys, json\nfrom blurb.cli import cli\nfrom blurb.messages.errors import BlurbError\n"
        f"try:\n    cli({arguments!r})\nexcept (SystemExit, BlurbError):\n    pass\n"
        "print('LOADED ' + json.dumps(sorted(m for m in sys.modules if '.' not in m)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = json.loads(output.split("LOADED ")[1])
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize(
    "typed",
    [
        "--device gpu", "--set lr=-1", "--head crf --tasks gad", "hoc --tasks gad", "--precision fp16",
        "--relation-input original --tasks gad", "--track wandb", "--engine ray", "--engine slurm", "--tagging biou",
    ],
)  # fmt: skip
def test_refusals_that_need_no_model_load_none(typed: str, tmp_path: Path) -> None:
    arguments = ["run", "scratch:tiny", "--suite", "demo", *typed.split()]
    code = (
        "import sys, json, importlib.util\nfrom blurb.cli import cli\nfrom blurb.messages.errors import BlurbError\n"
        "found = importlib.util.find_spec\n"
        "from blurb.training import devices\ndevices._has_no_gpu = lambda: True\n"
        "importlib.util.find_spec = lambda name, *more: None if name in ('wandb', 'ray') else found(name, *more)\n"
        f"try:\n    cli({arguments!r})\nexcept BlurbError as error:\n    print(error)\n"
        "print('LOADED ' + json.dumps(sorted(m for m in sys.modules if '.' not in m)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    told, _, loaded = done.stdout.partition("LOADED ")
    assert told, done.stderr
    assert not {"torch", "transformers"} & set(json.loads(loaded))
    assert list(tmp_path.iterdir()) == []


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
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
    result = CliRunner().invoke(cli, [*path, "--help"])
    assert result.exit_code == 0


def test_tasks_in_all_formats() -> None:
    rows = json.loads(CliRunner().invoke(cli, ["tasks", "--format", "json"]).output)
    assert len(rows) == 13
    assert rows[6]["name"] == "chemprot"
    assert rows[6]["train"] == 18_035
    lines = CliRunner().invoke(cli, ["tasks", "--format", "csv"]).output.splitlines()
    assert lines[0].startswith("name,type,metric,train,dev,test,seeds")
    table = CliRunner().invoke(cli, ["tasks"]).output
    assert "339,167" in table
    assert "…" not in table


def test_one_task_with_its_citation() -> None:
    task = json.loads(CliRunner().invoke(cli, ["tasks", "show", "chemprot", "--format", "json"]).output)
    assert task["citation"].startswith("@inproceedings{")
    assert task["declared_in"].endswith("chemprot.py")
    assert "micro_f1_without" in CliRunner().invoke(cli, ["tasks", "show", "chemprot"]).output
    declared = [line.split() for line in CliRunner().invoke(cli, ["tasks", "show", "gad"]).output.splitlines()]
    assert ["dummified", "yes"] in declared
    assert not {"released", "explanation", "original", "layout", "file"} & {line[0] for line in declared if line}
    assert "dummified" not in CliRunner().invoke(cli, ["tasks", "show", "bc2gm"]).output
    hallmarks = CliRunner().invoke(cli, ["tasks", "show", "hoc"]).output
    assert "tumor promoting inflammation" in " ".join(hallmarks.split())
    assert "…" not in hallmarks

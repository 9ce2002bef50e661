"""Commands and options that other packages bring: each costs itself alone where something is wrong with it."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from blurb import registry
from blurb.cli import cli
from blurb.cli._group import added
from tests.cli.in_process import ran, run

PLUGINS = """
import click

@click.command(help="Say hello.")
@click.argument("name")
def hello(name):
    click.echo(f"Hello, {name}.")

NUMBER = 3
FORMAT = click.Option(["--format"], help="One that is there already.")
STRANGE = click.Option(["--strange"], help="A value that the command does not take.")
LOUD = click.Option(["--loud"], is_flag=True, expose_value=False, help="Also beep.",
                    callback=lambda context, parameter, value: click.echo("beep") if value else None)
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Adds entry points `path=object of PLUGINS` to those that are installed."""
    (tmp_path / "blurb_test_added.py").write_text(PLUGINS)
    monkeypatch.syspath_prepend(tmp_path)
    installed = registry._installed_points

    def plug(**targets: str) -> None:
        points = [
            SimpleNamespace(
                name=path,
                value=target if ":" in target else f"blurb_test_added:{target}",
                dist=None,
            )
            for path, target in targets.items()
        ]
        monkeypatch.setattr(registry, "_installed_points", lambda group: [*installed(group), *(
            points if group == added.group else [])])  # fmt: skip
        for name in ("entries", "_sorted_out"):
            added.__dict__.pop(name, None)

    yield plug
    monkeypatch.undo()
    for name in ("entries", "_sorted_out"):
        added.__dict__.pop(name, None)
    sys.modules.pop("blurb_test_added", None)


def test_a_package_brings_a_command_and_an_option(plug_in: object) -> None:
    plug_in(**{"hello": "hello", "tasks.hello": "hello", "gc.--loud": "LOUD"})  # type: ignore[operator]
    assert run("hello", "you").output == "Hello, you.\n"
    assert run("tasks", "hello", "you").output == "Hello, you.\n"
    assert "Say hello." in run("--help").output
    assert "Also beep." in run("gc", "--help").output
    assert run("gc", "--loud", "--output", "nowhere").output.startswith("beep\n")


@pytest.mark.parametrize("target", ["no_such_module:hello", "NUMBER"])
def test_one_that_is_broken_costs_itself_alone(plug_in: object, target: str) -> None:
    plug_in(**{"broken": target, "tasks.broken": target, "tasks.list.--broken": target})  # type: ignore[operator]
    for words in (["--help"], ["tasks", "--help"]):
        shown = run(*words)
        assert (shown.exit_code, "cannot be loaded" in shown.output) == (0, True)
    assert run("tasks").exit_code == 0
    refused = run("broken")
    assert refused.exception is not None
    assert "this is a bug" not in refused.output


@pytest.mark.parametrize("option", ["FORMAT", "STRANGE", "NUMBER"])
def test_an_option_that_a_command_cannot_take_is_left_out(plug_in: object, option: str) -> None:
    plug_in(**{"tasks.show.--more": option, "tasks.show.--loud": "LOUD"})  # type: ignore[operator]
    shown = ran(["tasks", "show", "gad", "--loud"])
    assert shown.output.partition("beep\n")[1]
    assert "tasks.show.--more" in shown.stderr


def test_a_command_of_the_core_keeps_its_name(plug_in: object) -> None:
    plug_in(gc="hello")  # type: ignore[operator]
    assert "Say hello." not in run("--help").output
    assert EntryPoint("gc", "blurb_test_added:hello", added.group).name in cli.list_commands(
        click.Context(cli)
    )

"""Options as they are declared: one that is missing is said, one that is given twice is an error, and lists add up."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from blurb import registry
from blurb.cli import cli
from blurb.cli._group import Group, added, with_options
from tests.cli.in_process import blurb as command, ran, refused, run

Declared = tuple[tuple[str, ...], click.Command]
LISTS = {
    "--tasks",
    "--predictions",
    "--set",
    "--across",
    "--results",
    "--published",
    "--map",
    "--allow-code",
}
"""Options whose values add up."""


def all_commands(group: Group, words: tuple[str, ...] = ()) -> Iterator[Declared]:
    """Each command with the options that extensions bring, and the groups that are commands themselves."""
    context = click.Context(group)
    for name in group.list_commands(context):
        declared = group.get_command(context, name)
        assert declared is not None
        if isinstance(declared, Group):
            yield from all_commands(declared, (*words, name))
        yield (*words, name), with_options(".".join((*words, name)), declared)


COMMANDS = [*all_commands(cli)]  # type: ignore[arg-type]


def options_of(declared: click.Command) -> list[click.Option]:
    return [each for each in declared.params if isinstance(each, click.Option)]


def some_value(option: click.Parameter) -> str:
    kind = option.type
    if isinstance(kind, click.Choice):
        return str(next(iter(kind.choices)))
    if option.metavar and "=" in option.metavar:
        return "a=b"
    about = getattr(kind, "about", None)
    return (
        "a"
        if about is None
        else "1"
        if about.low is None and about.above is None
        else "0.5"
        if about.most
        else "2"
    )


REQUIRED = [
    (words, declared, option)
    for words, declared in COMMANDS
    for option in options_of(declared)
    if option.required and not isinstance(declared, Group)
]
SINGLE = [
    (words, option)
    for words, declared in COMMANDS
    for option in options_of(declared)
    if not option.is_flag and not option.multiple
]


def named(given: tuple[object, ...]) -> str:
    return " ".join([*given[0], given[-1].opts[0]])  # type: ignore[misc, attr-defined]


def test_the_declarations_are_found() -> None:
    assert len(COMMANDS) > 40
    assert {"--baseline", "--axis", "--out", "--predictions", "--type"} <= {
        each[2].opts[0] for each in REQUIRED
    }
    assert {"--baseline", "--format"} <= {each[1].opts[0] for each in SINGLE}


@pytest.mark.parametrize("given", REQUIRED, ids=map(named, REQUIRED))
def test_a_required_option_that_is_missing_is_said(
    given: tuple[tuple[str, ...], click.Command, click.Option], tmp_path: Path
) -> None:
    words, declared, missing = given
    typed = [*words]
    for each in declared.params:
        if each.required and each is not missing:
            typed += [each.opts[0]] if isinstance(each, click.Option) else []
            typed.append(some_value(each))
    assert f"Missing option '{missing.opts[0]}'" in refused(typed, tmp_path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("given", SINGLE, ids=map(named, SINGLE))
def test_an_option_that_is_given_twice_is_an_error_that_names_both_values(
    given: tuple[tuple[str, ...], click.Option], tmp_path: Path
) -> None:
    words, name = given[0], given[1].opts[0]
    for first, more in (("one", [name, "two"]), ("same", [name, "same"]), ("one", [f"{name}=two"])):
        assert (
            f"{name} is given twice, as '{first}' and as '{'same' if first == 'same' else 'two'}'"
            in refused([*words, name, first, *more], tmp_path)
        )
    assert [*tmp_path.iterdir()] == []


def test_lists_are_declared_as_such() -> None:
    for words, declared in COMMANDS:
        for option in options_of(declared):
            if option.opts[0] in LISTS:
                assert option.multiple, (words, option.opts)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            ["run", "m", "--set", "lr=1", "--set", "lr=2"],
            "--set lr is given twice, as '1' and as '2'.",
        ),
        (
            ["score", "--predictions", "p", "--map", "a=0", "--map", "b=1", "--map", " a = 0"],
            "--map a is given twice, as '0' and as '0'.",
        ),
    ],
)
def test_a_key_that_is_given_twice(typed: list[str], said: str, tmp_path: Path) -> None:
    assert said in refused(typed, tmp_path)


def test_tasks_add_up(tmp_path: Path) -> None:
    typed = [
        "data",
        "export",
        "--suite",
        "demo",
        "--out",
        "o",
        "--tasks",
        "gad",
        "--tasks",
        "biosses,hoc",
    ]
    assert command(typed, tmp_path)[0] == 0
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"gad", "biosses", "hoc"}


def test_an_option_over_a_run_file_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        'model = "baseline:bilstm"\ntasks = "hoc"\nsuite = "demo"\nseeds = 2\n'
    )
    code, out, err = command(
        ["run", "--config", "run.toml", "--tasks", "gad", "--seeds", "1", "--dry-run"], tmp_path
    )
    assert code == 0, err
    assert "hoc" not in out + err


# Commands and options that other packages bring: each costs itself alone where something is wrong with it.


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

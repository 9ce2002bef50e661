"""What people type wrongly is answered with what they meant."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import blurb
from blurb.cli import cli
from blurb.errors import BlurbError, SettingsError, UnknownName

RUN = ("run", "scratch:tiny", "--suite", "demo")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["leaderbord", "show"], "There is no command called 'leaderbord'. Did you mean 'leaderboard'?"),
        (["leaderboard", "shwo"], "Did you mean 'show'? Available: add, html,"),
        (["runs", "list"], "'blurb runs' alone is the list. There is no command called 'list'."),
        (["tasks", "list"], "'blurb tasks' alone is the list."),
        (["--data", "DATA", "run", "m"], "Options come after the command: blurb run ... --data"),
        (["--datta"], "No such option '--datta'."),
    ],
)
def test_of_commands_and_their_options(typed: list[str], answer: str) -> None:
    result = CliRunner().invoke(cli, typed, prog_name="blurb")
    assert result.exit_code == 2
    assert answer in result.output.replace("No such option: --", "No such option '--")


def test_no_group_is_without_suggestions() -> None:
    for name, command in ((name, cli.get_command(None, name)) for name in cli.list_commands(None)):  # type: ignore[attr-defined, arg-type]
        if hasattr(command, "commands"):
            assert "Did you mean" in CliRunner().invoke(cli, [name, f"{next(iter(command.commands))}x"]).output, name


def test_tasks_with_a_blank_between() -> None:
    error = CliRunner().invoke(cli, [*RUN, "--dry-run", "--tasks", "biosses", "gad"]).exception
    assert isinstance(error, SettingsError)
    assert "MODEL 'gad' is a task; separate tasks by commas" in str(error)


@pytest.mark.parametrize(("typed", "meant"), [("learning_rate", "lr"), ("max_seq_length", "max_length")])
def test_settings_by_the_names_of_transformers(typed: str, meant: str) -> None:
    error = CliRunner().invoke(cli, [*RUN, "--set", f"{typed}=1"]).exception
    assert isinstance(error, UnknownName)
    assert f"Did you mean '{meant}'?" in str(error)


@pytest.mark.parametrize(
    ("typed", "meant"), [("protcol", "protocol"), ("task", "tasks"), ("warm_up", "warmup"), ("num_epochs", "epochs")]
)
def test_keywords_of_python(typed: str, meant: str) -> None:
    with pytest.raises(BlurbError, match=f"no option or setting called '{typed}'. Did you mean '{meant}'"):
        blurb.run("scratch:tiny", suite="demo", **{typed: "1"})

"""What people type wrongly is answered with what they meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner

import blurb
from blurb.cli import SECTIONS, cli
from blurb.learners import building
from blurb.messages.errors import BlurbError, ErrorGroup, UnknownName
from blurb.planning import preflight, trials
from blurb.planning.options import RunOptions
from tests.store.fakes import stored, trial

RUN = ("run", "scratch:tiny", "--suite", "demo")


@pytest.mark.extensions
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


ORIGINAL = "MTL/data/gad.zip"


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ([*RUN, "--head", "./m.sh:MyHead"], "a head of your own is in a Python file, ./NAME.py:MyHead"),
        ([*RUN, "--head", "my_head.py"], "Write ./my_head.py:CLASS"),
        ([*RUN, "--wandb"], "No such option '--wandb'. Did you mean '--track wandb'?"),
        ([*RUN, "-o", "out"], "No such option '-o'. Did you mean '--output'?"),
        ([*RUN, "--dataset", "gad"], "No such option '--dataset'. Did you mean '--tasks'?"),
        ([*RUN, "--fp16"], "Did you mean '--precision fp16'?"),
        (["leaderboard", "html", "-o", "page.html"], "No such option '-o'. Did you mean '--out'?"),
        (["leaderboard", "html", "--open"], "blurb opens no browser: open the file that it names."),
        (["-v"], "No such option '-v'. Did you mean '--version'?"),
        (["resume"], "There is no command called 'resume'. Did you mean 'run'?"),
        (["rseume"], " run, runs, score, "),
        (["download"], "Did you mean 'data get'?"),
        (["errors", "row", "ncbi-disease"], "Did you mean --task ncbi-disease?"),
        (["errors", "row", "NCBI_disease"], "Did you mean --task NCBI_disease?"),
        (["status", "raw"], "Did you mean --output raw?"),
        (["leaderboard", "show", "raw"], "Did you mean --output raw?"),
        (["tasks", "show", "BC5CDR"], "Did you mean 'bc5-chem,bc5-disease'?"),
        ([*RUN, "--tasks", "nosuch"], "all, blurb-12."),
        ([*RUN, "--learning-rate", "1e-5"], "No such option '--learning-rate'. Did you mean '--lr'?"),
        ([*RUN, "--warmup", "0"], "No such option '--warmup'. It is a setting: --set warmup=..."),
        ([*RUN, "--seeds", "1,2,3"], "give a number: --seeds 3 runs seeds 1 to 3 (got '1,2,3')."),
        (["run", "scratch:tiny", "--data", "raw"], "BLURB's files are made from them by blurb data prepare --raw raw"),
        (["leaderboard", "html", "page.html"], "Did you mean --out page.html?"),
        (["heads", "show", "crff"], "There is no head or pooling called 'crff'. Did you mean 'crf'?"),
        (["list"], "There is no command called 'list'. Did you mean 'runs'?"),
        (["eval"], "Did you mean 'run'?"),
        (["version"], "Did you mean '--version'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_answers_name_what_was_meant(typed: list[str], answer: str, here: Path) -> None:
    (here / "raw" / ORIGINAL).parent.mkdir(parents=True)
    (here / "raw" / ORIGINAL).touch()
    result = CliRunner().invoke(cli, typed, prog_name="blurb")
    assert result.exit_code != 0
    assert answer in (str(result.exception) if isinstance(result.exception, BlurbError) else result.output)
    assert [path.name for path in here.iterdir()] == ["raw"]


def test_what_works_now() -> None:
    assert CliRunner().invoke(cli, ["-V"], prog_name="blurb").output == f"blurb, version {blurb.__version__}\n"
    shown = CliRunner().invoke(cli, ["heads", "show", "bilstm"]).output
    assert "hidden=" in shown
    assert "blurb/heads/bilstm.py:" in shown


def test_every_command_stands_in_one_section_of_the_help_and_fits() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted([*listed, *cli.added_commands(Context(cli))]) == cli.list_commands(None)  # type: ignore[arg-type]
    for words in ([], ["data"], ["leaderboard"], ["models"], ["runs"], ["tasks"], ["protocols"], ["cache"]):
        shown = CliRunner().invoke(cli, [*words, "--help"], prog_name="blurb", terminal_width=80).output
        commands = shown.partition("Run:" if not words else "Commands:")[2]
        assert "..." not in commands.replace("MODEL...", ""), words


ALL_AT_ONCE: list[tuple[list[str], list[str]]] = [
    (["compare", "chekpoint", "chekpiont"], ["'chekpoint'", "'chekpiont'"]),
    (["compare", "checkpoint", "none.csv", "noen.csv"], ["none.csv: no such file", "noen.csv: no such file"]),
    (["compare", "chekpoint", "none.csv", "--plot", "plot.txt"], ["plot.txt", "'chekpoint'", "none.csv: no such file"]),
    (["check", "chekpoint", "--baseline", "chekpiont"], ["'chekpoint'", "'chekpiont'"]),
    (["check", "chekpoint", "--baseline", "none.csv", "--tasks", "gda"], ["'gda'", "'chekpoint'", "none.csv: no such"]),
    (
        ["check", "chekpoint", "--baseline", "checkpoint", "--rules", "none.toml", "--tasks", "gda"],
        ["none.toml", "'gda'", "'chekpoint'"],
    ),
    (["errors", "chekpoint", "--task", "gda"], ["'chekpoint'", "task called 'gda'. Did you mean 'gad'?"]),
    (["diff", "chekpoint", "chekpiont", "--task", "gda"], ["'chekpoint'", "'gda'", "'chekpiont'"]),
    (["diff", "none.csv", "chekpoint"], ["none.csv: no such file", "'chekpoint'"]),
    (["predict", "chekpoint", "none.txt", "--task", "gda"], ["'chekpoint'", "'gda'", "none.txt"]),
]


@pytest.mark.extensions
@pytest.mark.parametrize(("typed", "told"), ALL_AT_ONCE, ids=lambda value: " ".join(value))
def test_all_that_is_mistyped_is_told_at_once(typed: list[str], told: list[str], here: Path) -> None:
    stored(Path("runs"), "checkpoint", trial("gad"), score=0.8)
    error = CliRunner().invoke(cli, typed).exception
    assert isinstance(error, ErrorGroup)
    assert len(error.errors) == len(told)
    assert [one.partition(".")[0] for one in str(error).split("\n") if one[:1].isdecimal()][1:] == [
        str(number) for number in range(1, len(told) + 1)
    ]
    for one, words in zip(error.errors, told, strict=True):
        assert words in str(one)
    rows_told = sum("Did you mean 'checkpoint'?" in str(one) for one in error.errors)
    assert rows_told == sum("'chek" in words for words in told)


@pytest.mark.parametrize("letters", [str.upper, str.title, lambda name: name.replace("-", "_")])
def test_names_are_those_without_case_and_signs(letters: Callable[[str], str], here: Path) -> None:
    """The oracle is the trials of the plain names: task, type, protocol, head, pooling and settings of words."""

    def planned(spell: Callable[[str], str], tasks: str, **named: str) -> list[str]:
        given = {option: spell(value) for option, value in named.items()}
        options = RunOptions(model="scratch:tiny", suite="demo", tasks=spell(tasks), **given)  # type: ignore[arg-type]
        return [job.trial.hash for job in trials.prepare(preflight.checked(options)[0]).jobs]

    for tasks, named in (
        ("ncbi-disease,bc5-chem", {"head": "bilstm-crf", "protocol": "quick", "tagging": "bioul"}),
        ("similarity,gad", {"pooling": "mean", "protocol": "smoke", "relation_input": "typed-markers"}),
    ):
        assert planned(letters, tasks, **named) == planned(str, tasks, **named)


def test_names_of_a_show_command_and_of_python() -> None:
    shown = CliRunner().invoke(cli, ["heads", "show", "BiLSTM_CRF"], catch_exceptions=False).output
    assert shown.startswith("head bilstm-crf (")
    assert blurb.load_dataset("GAD", suite="demo") is not None
    assert building.resolve("baseline:Majority").weights == "baseline:majority"
    assert CliRunner().invoke(cli, ["protocols", "show", "Quick"], catch_exceptions=False).exit_code == 0
    assert CliRunner().invoke(cli, ["tasks", "show", "NCBI_disease"], catch_exceptions=False).exit_code == 0


def test_a_file_of_that_name_is_proposed(here: Path) -> None:
    for name in ("my-doc", "mine"):
        Path(f"{name}.toml").touch()
    for typed in (["--tasks", "my-doc"], ["--protocol", "mine"]):
        error = CliRunner().invoke(cli, [*RUN, "--dry-run", *typed]).exception
        assert f"Write ./{typed[1]}.toml for the file of that name." in str(error)

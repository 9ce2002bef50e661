"""What people type wrongly is answered with what they meant."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from click import Context
from click.testing import CliRunner

import blurb
from blurb.cli import SECTIONS, cli
from blurb.learners import building
from blurb.messages import errors
from blurb.messages.errors import BlurbError, ErrorGroup, Notice, UnknownName, notify
from blurb.planning import trials
from blurb.planning.options import RunOptions
from blurb.planning.request import make_request
from tests.cli.in_process import ran, run
from tests.store.fakes import stored, trial

RUN = ("run", "scratch:tiny", "--suite", "demo")


def test_no_group_is_without_suggestions() -> None:
    for name, command in ((name, cli.get_command(None, name)) for name in cli.list_commands(None)):  # type: ignore[attr-defined, arg-type]
        if hasattr(command, "commands"):
            assert "Did you mean" in run(name, f"{next(iter(command.commands))}x").output, name


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([*RUN, "--tasks", ""], "--tasks"),
        ([*RUN, "--tasks", "gad", "--tasks", ""], "--tasks"),
        ([*RUN, "--output="], "--output"),
        ([*RUN, "--protocol", ""], "--protocol"),
        (["run", ""], "model"),
        (["run", "scratch:tiny", ""], "model"),
        (["score", "--suite", "demo", "--task", "gad", "--predictions", ""], "--predictions"),
        (["leaderboard", "show", "--results", ""], "--results"),
        (["doctor", ""], "what"),
    ],
)
def test_nothing_is_no_value(words: list[str], named: str) -> None:
    """As of a variable of a shell that is not set: `--tasks ""` was all, `--predictions ""` the working folder."""
    done = run(*words)
    assert done.exit_code == 2
    assert f"{named} is given as an empty text" in done.output


def test_nothing_may_be_typed_where_it_is_the_default() -> None:
    words = ["leaderboard", "add", "--model", "m", "--source", "s", "--version", ""]
    assert "empty text" not in run(*words).output


@pytest.mark.parametrize(
    ("typed", "meant"), [("learning_rate", "lr"), ("max_seq_length", "max_length")]
)
def test_settings_by_the_names_of_transformers(typed: str, meant: str) -> None:
    error = run(*RUN, "--set", f"{typed}=1").exception
    assert isinstance(error, UnknownName)
    assert f"Did you mean '{meant}'?" in str(error)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("protcol", "protocol"), ("task", "tasks"), ("warm_up", "warmup"), ("num_epochs", "epochs")],
)
def test_keywords_of_python(typed: str, meant: str) -> None:
    with pytest.raises(
        BlurbError, match=f"no option or setting called '{typed}'. Did you mean '{meant}'"
    ):
        blurb.run("scratch:tiny", suite="demo", **{typed: "1"})


def test_every_command_stands_in_one_section_of_the_help_and_fits() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted([*listed, *cli.added_commands(Context(cli))]) == cli.list_commands(None)  # type: ignore[arg-type]
    for words in (
        [],
        ["data"],
        ["leaderboard"],
        ["models"],
        ["runs"],
        ["tasks"],
        ["protocols"],
        ["cache"],
    ):
        shown = (
            CliRunner().invoke(cli, [*words, "--help"], prog_name="blurb", terminal_width=80).output
        )
        commands = shown.partition("Run:" if not words else "Commands:")[2]
        assert "..." not in commands.replace("MODEL...", ""), words


ALL_AT_ONCE: list[tuple[list[str], list[str]]] = [
    (["compare", "chekpoint", "chekpiont"], ["'chekpoint'", "'chekpiont'"]),
    (
        ["compare", "checkpoint", "none.csv", "noen.csv"],
        ["none.csv: no such file", "noen.csv: no such file"],
    ),
    (
        ["compare", "chekpoint", "none.csv", "--plot", "plot.txt"],
        ["plot.txt", "'chekpoint'", "none.csv: no such file"],
    ),
    (["check", "chekpoint", "--baseline", "chekpiont"], ["'chekpoint'", "'chekpiont'"]),
    (
        ["check", "chekpoint", "--baseline", "none.csv", "--tasks", "gda"],
        ["'chekpoint'", "none.csv: no such", "'gda'"],
    ),
    (
        [
            "check",
            "chekpoint",
            "--baseline",
            "checkpoint",
            "--rules",
            "none.toml",
            "--tasks",
            "gda",
        ],
        ["'chekpoint'", "none.toml", "'gda'"],
    ),
    (
        ["errors", "chekpoint", "--task", "gda"],
        ["'chekpoint'", "task called 'gda'. Did you mean 'gad'?"],
    ),
    (["diff", "chekpoint", "chekpiont", "--task", "gda"], ["'chekpoint'", "'gda'", "'chekpiont'"]),
    (["diff", "none.csv", "chekpoint"], ["none.csv: no such file", "'chekpoint'"]),
    (["predict", "chekpoint", "none.txt", "--task", "gda"], ["'chekpoint'", "'gda'", "none.txt"]),
]


@pytest.mark.extensions
@pytest.mark.parametrize(("typed", "told"), ALL_AT_ONCE, ids=lambda value: " ".join(value))
def test_all_that_is_mistyped_is_told_at_once(
    typed: list[str], told: list[str], here: Path
) -> None:
    stored(Path("runs"), "checkpoint", trial("gad"), score=0.8)
    error = run(*typed).exception
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
        return [job.trial.hash for job in trials.prepare(make_request(options)[0]).jobs]

    for tasks, named in (
        ("ncbi-disease,bc5-chem", {"head": "bilstm-crf", "protocol": "quick", "tagging": "bioul"}),
        (
            "similarity,gad",
            {"pooling": "mean", "protocol": "smoke", "relation_input": "typed-markers"},
        ),
    ):
        assert planned(letters, tasks, **named) == planned(str, tasks, **named)


def test_names_of_a_show_command_and_of_python() -> None:
    shown = CliRunner().invoke(cli, ["heads", "show", "BiLSTM_CRF"], catch_exceptions=False).output
    assert shown.startswith("head bilstm-crf (")
    assert blurb.load_dataset("GAD", suite="demo") is not None
    assert building.resolve_model("baseline:Majority").weights == "baseline:majority"
    ran(["protocols", "show", "Quick"])
    ran(["tasks", "show", "NCBI_disease"])


def test_a_file_of_that_name_is_proposed(here: Path) -> None:
    for name in ("my-doc", "mine"):
        Path(f"{name}.toml").touch()
    for typed in (["--tasks", "my-doc"], ["--protocol", "mine"]):
        error = run(*RUN, "--dry-run", *typed).exception
        assert f"Write ./{typed[1]}.toml for the file of that name." in str(error)


def test_a_head_that_fits_no_task_is_one_error_with_a_way_out(tmp_path: Path) -> None:
    result = run(*RUN, "--head", "crf", "--output", str(tmp_path))
    told = str(result.exception)
    assert not isinstance(result.exception, ErrorGroup)
    assert told.count("does not support") == 1
    assert all(
        name in told for name in ("chemprot", "ddi", "gad", "biosses", "hoc", "pubmedqa", "bioasq")
    )
    assert "--tasks ner,pico" in told


def test_a_typo_is_answered_with_the_nearest_of_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "LISTED", 12)  # the core alone has fewer commands than the whole
    told = run("leaderbord").output
    assert "Did you mean 'leaderboard'? Available: " in told
    assert told.count(",") < 8


def test_an_empty_store_is_not_called_a_wrong_option(tmp_path: Path) -> None:
    for more, said in (
        ((), "no finished row yet; blurb run"),
        (("--model", "x*"), "matches the options."),
    ):
        assert said in str(run("leaderboard", "show", "--output", str(tmp_path), *more).exception)


# Small things that people type or see once, each with the answer that it should have.


@pytest.mark.extensions
def test_a_text_that_is_missing_is_named_once() -> None:
    with pytest.raises(BlurbError) as caught:
        blurb.pretrain("out", "nosuch.txt")
    assert str(caught.value).count("nosuch.txt") == 1


@pytest.mark.extensions
@pytest.mark.parametrize("text", ["60k", "60K", "0.06m", "0.06M"])
def test_letters_of_numbers_of_words_have_no_case(text: str) -> None:
    from blurb.extensions.lab.pretraining import request

    assert request.words(text) == 60_000


def test_scores_show_themselves_in_a_line(here: Path) -> None:
    gold = blurb.load_dataset("gad", suite="demo")["test"]
    scores = blurb.score("gad", {row["id"]: "1" for row in gold}, suite="demo")
    assert repr(scores) == f"<Scores: gad {scores['gad'].score:.2f}>"


def test_a_notice_shows_no_line_of_code() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notify("Something is left out.")
    (warning,) = caught
    shown = warnings.formatwarning(warning.message, Notice, warning.filename, warning.lineno)
    assert shown == "blurb:0: Notice: Something is left out.\n"

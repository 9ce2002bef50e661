"""What the user waits for: `--help` and `tasks` load nothing heavy; every command and option has help."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from blurb.cli import cli
from blurb.protocols.protocol import protocol_names
from blurb.results import published
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.cli.in_process import ran
from tests.store.fakes import CONFIGURATION, row, stored, trial

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


COMPLETED = (
    ["runs", "show", "--output", "mine"],
    ["run", "m", "--head"],
    ["run", "m", "--tasks"],
    ["run"],
)


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import blurb", (*HEAVY, "click", "rich", "numpy")),
        ("import blurb.metrics", (*HEAVY, "seqeval")),
        ("import blurb.heads", ("torch", "transformers", "blurb.heads._base")),
        ("from blurb import tasks; tasks.select_tasks('all')", (*HEAVY, "numpy")),
        (
            "import blurb; blurb.score('gad', ['0'] * 240, suite='demo')",
            ("torch", "transformers", "datasets", "pandas", "sklearn"),
        ),
        (
            "from click.shell_completion import ShellComplete; from blurb.cli import cli; "
            "complete = ShellComplete(cli, {}, 'blurb', 'X').get_completions; "
            f"[complete(line, '') for line in {COMPLETED!r}]",
            HEAVY,
        ),
    ],
    ids=["blurb", "metrics", "heads", "tasks", "score", "completion"],
)
def test_python_loads_nothing_heavy(code: str, heavy: tuple[str, ...], store: Path) -> None:
    shown = f"import sys; {code}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, check=True, cwd=store.parent
    )
    assert done.stdout == "[]\n"


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


# Completion, through click's own interface.


def complete(line: str, typed: str = "") -> list[str]:
    found = ShellComplete(cli, {}, "blurb", "_BLURB_COMPLETE").get_completions(line.split(), typed)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.fixture
def store(here: Path) -> Path:
    """A store with a model of one row and a model of two."""
    found = Store(here / "mine")
    for model in ("my-bert", "other"):
        stored(found, model)
    rows.write(
        found,
        row(
            "other",
            trial(),
            configuration=replace(CONFIGURATION, protocol="standard", overrides={}),
        ),
    )
    return found.root


@pytest.mark.extensions
@pytest.mark.parametrize(
    ("line", "typed", "values"),
    [
        ("run m --tasks", "ga", ["gad"]),
        ("run m --tasks", "gad,bio", ["gad,bioasq", "gad,biosses"]),
        ("run m --tasks", "gad,ga", ["<file>"]),
        ("data verify --tasks", "ne", ["ner"]),
        ("run m --protocol", "", protocol_names()),
        ("run m --protocol", "./my", ["<file>"]),
        ("run m --precision", "f", ["fp32", "fp16"]),
        ("run m --suite", "", ["blurb", "demo", "mtl-ner"]),
        ("run m --suite", "./fa", ["<dir>"]),
        ("run", "./my", ["<dir>"]),
        (
            "ablate m --axis",
            "",
            ["head", "tagging", "relation", "pooling", "rate", "warmup", "word-borders"],
        ),
        ("tasks show", "bc5", ["bc5-chem", "bc5-disease"]),
        ("protocols show", "st", ["standard", "standard-short"]),
        ("errors x --task", "hoc", ["hoc"]),
    ],
)
def test_values(line: str, typed: str, values: list[str]) -> None:
    assert sorted(complete(line, typed)) == sorted(values)


@pytest.mark.extensions
@pytest.mark.parametrize(
    "line",
    [
        "runs show --output mine",
        "runs rm --output mine",
        "runs rename --output mine",
        "errors --output mine",
        "export latex --output mine",
        "export latex --output mine other",
        "compare --output mine",
        "check --output mine",
        "check my-bert --output mine --baseline",
        "run m --output mine --check",
    ],
)
def test_rows_of_the_store(store: Path, line: str) -> None:
    assert complete(line, "my") == ["my-bert"]
    assert complete(line, "other") == ["other quick lr=0.001", "other standard"]


def test_published_rows_where_they_can_be_compared() -> None:
    assert len(complete("compare", "published:")) == len(
        {row.name for row in (*published.shipped(), *published.ablations())}
    )
    assert complete("runs show", "published:") == []


def test_a_store_that_is_missing_or_damaged_completes_nothing_and_says_nothing(
    store: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    assert complete("runs show --output nowhere") == []
    (file,) = (store / "my-bert" / "rows").iterdir()
    file.write_text("{")
    assert complete("runs show --output mine", "my") == []
    assert complete("runs show --output mine", "other s") == ["other standard"]
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


@pytest.fixture
def shell(store: Path) -> Callable[..., list[str]]:
    """Runs a script in a shell that has the command `blurb`; skips the test without that shell."""
    folder = store.parent / "bin"
    folder.mkdir()
    blurb = folder / "blurb"
    blurb.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m blurb "$@"\n')
    blurb.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "TERM": "dumb",
    }

    def run(name: str, *arguments: str) -> list[str]:
        there = shutil.which(name)
        if there is None:
            pytest.skip(f"needs {name}")
        done = subprocess.run(
            [there, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=store.parent,
            timeout=100,
        )
        assert not done.stderr
        return done.stdout.splitlines()

    return run


@pytest.mark.costly
def test_names_with_blanks_stay_whole_in_bash(shell: Callable[..., list[str]]) -> None:
    """Oracle: bash itself, with the function that click writes."""
    script = r"""
eval "$(_BLURB_COMPLETE=bash_source blurb)"
COMP_WORDS=(blurb runs show --output mine "$1"); COMP_CWORD=5
_blurb_completion blurb
printf '%s\n' "${COMPREPLY[@]}"
"""
    assert shell("bash", "-c", script, "-", "oth") == ["other quick lr=0.001", "other standard"]
    assert shell("bash", "-c", script, "-", r"other\ st") == ["other standard"]


def test_what_fish_offers(shell: Callable[..., list[str]]) -> None:
    """Oracle: fish itself, which escapes what it inserts."""
    script = "_BLURB_COMPLETE=fish_source blurb | source; for line in $argv; complete -C $line; echo; end"
    lines = {
        "blurb run m --tasks ga": ["gad"],
        "blurb run m --set head_d": ["head_dropout="],
        "blurb run baseline:m": ["baseline:majority"],
        r"blurb runs show --output mine other\ s": ["other standard"],
        "blurb runs show --output mine 'other s": ["other standard"],
        "blurb errors ./min": ["./mine/"],
    }
    told = "\n".join(shell("fish", "--no-config", "-c", script, *lines)).split("\n\n")
    assert [part.split() if "/" in part else part.strip().splitlines() for part in told] == [
        *lines.values()
    ]


def test_what_zsh_makes_of_a_tab(shell: Callable[..., list[str]]) -> None:
    """Oracle: zsh itself, on a terminal of its own; a widget tells the line as it is after the tab."""
    script = r"""
zmodload zsh/zpty zsh/zselect
zpty -b shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -D -u; eval "$(_BLURB_COMPLETE=zsh_source blurb)"'
zpty -w shell 'told() { print -r -- "$BUFFER" >> told }; zle -N told; bindkey "^X^X" told; PS1=RE""ADY'
until [[ $seen == *READY* ]]; do zpty -r shell chunk && seen+=$chunk; zselect -t 5; done
for line; do
  zpty -w -n shell "$line"$'\t\x18\x18\x15'  # tab, the widget, an empty line again
  (( ++sent ))
  until [[ -e told && $(wc -l < told) -ge $sent ]]; do zpty -r shell chunk; zselect -t 5; done
done
zpty -d shell
cat told
"""
    lines = {
        "blurb run m --tasks ga": "blurb run m --tasks gad ",
        "blurb run m --tasks gad,bioa": "blurb run m --tasks gad,bioasq ",
        "blurb run m --set head_d": "blurb run m --set head_dropout= ",
        "blurb run baseline:m": "blurb run baseline:majority ",
        r"blurb runs show --output mine other\ s": r"blurb runs show --output mine other\ standard ",
        "blurb runs show --output mine 'other s": "blurb runs show --output mine 'other standard' ",
        "blurb errors ./min": "blurb errors ./mine/",
    }
    assert shell("zsh", "-f", "-c", script, "zsh", *lines) == [*lines.values()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "None")],
)
def test_waiting_threads_sleep_soon_unless_the_user_chose(
    given: dict[str, str], expected: str
) -> None:
    code = (
        "import atexit, os, sys; sys.argv = ['blurb', '--version']; "
        "atexit.register(lambda: print(os.environ.get('GOMP_SPINCOUNT'))); "
        "from blurb.__main__ import main; main()"
    )
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("GOMP", "OMP"))
    }
    told = subprocess.run(
        [sys.executable, "-c", code], env=own | given, capture_output=True, text=True, check=True
    )
    assert told.stdout.split()[-1] == expected

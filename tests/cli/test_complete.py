"""Completion, through click's own interface."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from blurb.cli import cli
from blurb.protocols.protocol import protocol_names
from blurb.results import published
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.cli.test_start_up import HEAVY
from tests.store.fakes import CONFIGURATION, row, stored, trial


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
        ("run m --suite", "", ["blurb", "demo"]),
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
    found = complete(line, typed)
    assert sorted(found) == sorted(values)


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


def test_completion_loads_nothing_heavy(store: Path) -> None:
    lines = (
        ["runs", "show", "--output", "mine"],
        ["run", "m", "--head"],
        ["run", "m", "--tasks"],
        ["run"],
    )
    code = (
        "import sys\nfrom click.shell_completion import ShellComplete\nfrom blurb.cli import cli\n"
        f"for line in {lines!r}:\n    ShellComplete(cli, {{}}, 'blurb', 'X').get_completions(line, '')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=store.parent
    )
    assert done.stdout == "[]\n"

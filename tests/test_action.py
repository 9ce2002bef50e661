"""`action.yml`: its steps run as a runner of GitHub would run them, with a pip that notes what it was asked for."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from defusedxml import ElementTree

from blurb.cli.check import command
from blurb.store.store import Store
from tests.conftest import ROOT
from tests.results.played import play

yaml = pytest.importorskip("yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
REQUIRED = {"candidate": "new", "baseline": "old"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with rows, and programs in `bin`: this blurb, and a python that only notes its arguments."""
    store = Store(tmp_path / "runs")
    for name, share in (("old", 0.9), ("new", 0.9), ("fell", 0.4), ("$(touch hacked) --help", 0.9)):
        play(store, name, {"gad": share, "hoc": 0.9})
    programs = {
        "blurb": f'exec "{sys.executable}" -m blurb "$@"',
        "python": f'echo "$@" >> "{tmp_path}/asked"',
    }
    (tmp_path / "bin").mkdir()
    for name, line in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def value(text: str, inputs: dict[str, str]) -> str:
    """What the runner puts in the place of an expression."""
    expression = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)
    assert expression is not None, text
    return str(inputs.get(expression[1], ACTION["inputs"][expression[1]].get("default")))


def step(which: dict[str, Any], folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    inputs = {name.replace("_", "-"): given for name, given in {**REQUIRED, **inputs}.items()}
    environment = {
        **os.environ,
        **{name: value(text, inputs) for name, text in which.get("env", {}).items()},
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }
    script = folder / "step.sh"
    script.write_text(which["run"])
    shell = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}[which["shell"]]
    return subprocess.run(
        [*shell, str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_installs_its_own_checkout(folder: Path) -> None:
    assert step(INSTALL, folder).returncode == 0
    assert (folder / "asked").read_text() == f"-m pip install {ROOT}\n"
    assert (ROOT / "pyproject.toml").is_file()


def test_every_input_is_an_option_of_the_command_and_reaches_it() -> None:
    assert set(ACTION["inputs"]) - {"candidate"} <= {
        one.opts[0].removeprefix("--") for one in command.params if isinstance(one, click.Option)
    }
    assert set(CHECK["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}
    assert "${{" not in CHECK["run"] + INSTALL["run"]  # an input is never a part of a script
    assert {name for name, about in ACTION["inputs"].items() if about.get("required")} == set(
        REQUIRED
    )


@pytest.mark.costly
@pytest.mark.parametrize(
    ("inputs", "code", "said"),
    [
        ({}, 0, "pass"),
        ({"candidate": "fell"}, 1, "regression"),
        ({"candidate": "fell", "rule": "and", "max_drop": "99"}, 0, "pass"),
        ({"state": "looks.json", "looks": "40"}, 0, "Look 1 of 40"),
        ({"looks": "40"}, 2, "--state"),
        ({"tasks": "hoc", "candidate": "fell", "split": "test"}, 0, "pass"),
        ({"candidate": "$(touch hacked) --help"}, 0, "pass"),
        ({"candidate": "none"}, 2, "none"),
    ],
)
def test_it_exits_as_the_command_does(
    folder: Path, inputs: dict[str, str], code: int, said: str
) -> None:
    done = step(CHECK, folder, **inputs)
    assert done.returncode == code, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert not (folder / "hacked").exists()
    assert (folder / "looks.json").exists() is ("state" in inputs)
    if code < 2:
        assert ElementTree.parse(folder / "blurb-junit.xml").getroot().tag == "testsuites"
        assert "blurb check" in (folder / "summary.md").read_text()

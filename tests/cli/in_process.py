"""A command line as a process of its own would run it, but here: Python's libraries take seconds to import."""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import _exit, cli
from blurb.system import signals


def blurb(arguments: Sequence[str], folder: Path) -> tuple[int, str, str]:
    """Its exit code, what it printed and what it said aside. Its signals stay those of the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["blurb", *arguments])
        patch.setattr(signals, "on_first", lambda *_: None)
        code = _exit.run(cli)
    return code, out.getvalue(), err.getvalue()


def done(arguments: Sequence[str], folder: Path) -> str:
    """Prints of a command that must succeed."""
    code, out, err = blurb(arguments, folder)
    assert code == 0, err
    return out


def failed(arguments: Sequence[str], folder: Path) -> str:
    """Prints of a command that must end with 1."""
    code, out, err = blurb(arguments, folder)
    assert code == 1, err
    return out


def refused(arguments: Sequence[str], folder: Path) -> str:
    """What a command says aside that must end with 2, and prints nothing."""
    code, out, err = blurb(arguments, folder)
    assert (code, out) == (2, ""), err
    return err


def run(*arguments: str) -> Result:
    """A command as click's runner has it."""
    return CliRunner().invoke(cli, arguments)


def ran(arguments: Sequence[str]) -> Result:
    """A command that must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result

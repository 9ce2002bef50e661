"""Exit codes of every command, in one place (docs/ci.md).

0: all is well. 1: a part of what was asked for is missing (trials failed, something in the store is damaged); of a
gate: a regression, and nothing else. 2: nothing can be said (bad input, a gate that cannot judge, whatever nobody
foresaw). 128 + the number of a signal: interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from blurb.errors import BlurbError, DamageWarning

PARTLY = 1
UNKNOWN = 2
GATE = "blurb.gate"
GOES_ON = "blurb.goes_on"


class Terminated(BaseException):
    """SIGTERM, as an exception: what is half-written is removed on the way out."""


def gate() -> None:
    """Says that this command is a gate: 1 is a regression, and all else that is not well is 2."""
    click.get_current_context().meta[GATE] = True


def goes_on() -> None:
    """Says that this command, typed again after an interrupt, goes on from where it was."""
    click.get_current_context().meta[GOES_ON] = True


@contextmanager
def damage() -> Iterator[list[str]]:
    """Prints each warning of damage once, and collects them."""
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamageWarning)
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
            if not issubclass(category, DamageWarning):
                before(message, category, *place, **more)  # type: ignore[arg-type]
            elif str(message) not in told:
                told.append(str(message))
                click.secho(f"Damaged: {message}", fg="yellow", err=True)

        warnings.showwarning = show
        yield told


def invoked(context: click.Context, command: Callable[[], object]) -> object:
    """Runs a command and lets its exit code say that something was damaged, or that nobody foresaw what happened."""
    code, result = 0, None
    with damage() as told:
        try:
            result = command()
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0 if error.code is None else UNKNOWN
        except (KeyboardInterrupt, Terminated):
            again = " The same command goes on from here: finished trials are not run again."
            click.secho("Interrupted." + again * (GOES_ON in context.meta), fg="yellow", err=True)
            raise
        except (BlurbError, OSError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # noqa: BLE001 - Python would exit with 1, which of a gate says that there is a regression
            traceback.print_exc()
            click.secho("Error: this is a mistake of blurb's own; please report what stands above.", fg="red", err=True)
            code = UNKNOWN
    if told:
        code = UNKNOWN if GATE in context.meta else max(code, PARTLY)
    if code:
        context.exit(code)
    return result


def run(command: click.Group) -> int:
    """Runs the command line; every way in which it can end has its exit code here."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        result = command.main(prog_name="blurb", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return UNKNOWN
    except (KeyboardInterrupt, click.Abort):
        return 128 + signal.SIGINT
    except Terminated:
        return 128 + signal.SIGTERM
    except BrokenPipeError:  # `blurb ... | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (BlurbError, OSError) as error:  # OSError: a folder that cannot be written, a full disk
        click.secho(f"Error: {error}", fg="red", err=True)
        return UNKNOWN


def _terminate(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends the process, whatever became of the exception
    raise Terminated

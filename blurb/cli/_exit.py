"""Exit codes of every command, in one place (docs/ci.md).

0: success. 1: part of the result is missing (trials failed, the store is damaged); for a regression check: a
regression, and nothing else. 2: no result (bad input, a check that cannot judge, an internal error). 128 + the number
of a signal: interrupted (`blurb.system.signals`).
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

from blurb.messages import (
    BlurbError,
    DamageWarning,
    Notice,
    escape_controls,
    redact_secrets,
    system_message,
)
from blurb.system import signals

PARTLY = 1
UNKNOWN = 2
GATE = "blurb.gate"
GOES_ON = "blurb.goes_on"
TYPE_AGAIN = "Run the same command again to resume: finished trials are not repeated"


def mark_as_gate() -> None:
    """Marks this command as a regression check: exit code 1 means a regression, every other problem 2."""
    click.get_current_context().meta[GATE] = True


def goes_on(unfinished: bool = False) -> None:
    """Marks this command as one that resumes when it is run again after an interrupt.

    :param unfinished: whether it also resumes the trials that were running
    """
    more = ", unfinished ones go on from where they were saved." if unfinished else "."
    click.get_current_context().meta[GOES_ON] = f" {TYPE_AGAIN}{more}"


@contextmanager
def report_unwritten(codes: list[int]) -> Iterator[None]:
    """Tells what cannot be written beside a decision, which it never changes; `codes` are those of the command."""
    try:
        yield
    except (BlurbError, OSError) as error:
        text = system_message(error) if isinstance(error, OSError) else str(error)
        click.secho(f"Not written: {escape_controls(redact_secrets(text))}", fg="red", err=True)
        codes.append(UNKNOWN)


def gate_exit_code(codes: list[int]) -> int:
    """The exit code of decisions and of what was written beside them."""
    return PARTLY if PARTLY in codes else max(codes, default=UNKNOWN)


@contextmanager
def damage() -> Iterator[list[str]]:
    """Prints each warning of damage once, and collects them."""
    messages: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", DamageWarning)
        before = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], *place: object, **more: object
        ) -> None:
            if issubclass(category, Notice):
                click.secho(str(message), fg="yellow", err=True)
            elif not issubclass(category, DamageWarning):
                before(message, category, *place, **more)  # type: ignore[arg-type]
            elif str(message) not in messages:
                messages.append(str(message))
                click.secho(f"Damaged: {escape_controls(str(message))}", fg="yellow", err=True)

        warnings.showwarning = show
        yield messages


def invoked(context: click.Context, command: Callable[[], object]) -> object:
    """Runs a command; damage in the store and internal errors set its exit code."""
    code, result = 0, None
    with damage() as messages:
        try:
            with signals.keep_interrupts():
                result = command()
        except SystemExit as error:
            code = (
                error.code if isinstance(error.code, int) else 0 if error.code is None else UNKNOWN
            )
        except (KeyboardInterrupt, signals.Terminated):
            click.secho("Interrupted." + context.meta.get(GOES_ON, ""), fg="yellow", err=True)
            raise
        except BrokenPipeError:
            # For `blurb ... | head` click would exit with 1, which means a regression in a gate.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise signals.Terminated(signal.SIGPIPE) from None
        except (BlurbError, OSError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # noqa: BLE001 - Python would exit with 1, which of a gate says that there is a regression
            click.echo(redact_secrets(traceback.format_exc()), err=True, nl=False)
            click.secho(
                "Error: this is a bug in blurb; please report the traceback above.",
                fg="red",
                err=True,
            )
            code = UNKNOWN
    if messages:
        code = UNKNOWN if GATE in context.meta else max(code, PARTLY)
    if code:
        context.exit(code)
    return result


def run(command: click.Group) -> int:
    """Runs the command line and returns its exit code, however it ends."""
    signals.on_first(signals.SIGNALS, _raise_exit, signal.SIG_DFL)
    try:
        result = command.main(prog_name="blurb", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return UNKNOWN
    except (KeyboardInterrupt, click.Abort):
        return 128 + signal.SIGINT
    except signals.Terminated as error:
        return 128 + error.number
    except (BlurbError, OSError) as error:  # OSError: a folder that cannot be written, a full disk
        text = system_message(error) if isinstance(error, OSError) else str(error)
        click.secho(f"Error: {escape_controls(redact_secrets(text))}", fg="red", err=True)
        return UNKNOWN


def _raise_exit(number: int) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else signals.Terminated(number)

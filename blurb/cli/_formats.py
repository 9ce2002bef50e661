"""The option `--format`, which knows what its command prints as JSON (`blurb/schemas`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from blurb.terminal.output import FORMATS

F = TypeVar("F", bound=Callable[..., Any])


class Format(click.Option):
    """The option.

    :param printed: type of what is printed as JSON, of `blurb.records`; a function that returns it where it is
        declared in a module that loads slowly
    """

    def __init__(self, *names: Any, printed: object, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.printed = printed


def formats(printed: object, has_csv: bool = True, text: str = "Output format.") -> Callable[[F], F]:
    """Adds the option to a command.

    :param printed: see `Format`
    """
    form = FORMATS if has_csv else click.Choice([name for name in FORMATS.choices if name != "csv"])
    return click.option("--format", "form", cls=Format, printed=printed, type=form, default="table", help=text)

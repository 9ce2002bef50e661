"""Options shared by commands. Those of the commands that train are made of the fields of `blurb.planning.options`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import MISSING
from pathlib import Path
from typing import Any, TypeVar

import click

from blurb import fields
from blurb.cli import _complete
from blurb.execution.engines import engines
from blurb.execution.options import options_of
from blurb.fields import KINDS, Field
from blurb.messages.errors import SettingsError
from blurb.planning.options import RunOptions, TrainOptions
from blurb.protocols.settings import groups

F = TypeVar("F", bound=Callable[..., Any])


def pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The settings given with `--set KEY=VALUE`."""
    values = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(f"--set must have the form KEY=VALUE (got '{text}').")
        values[key.strip()] = value.strip()
    return values


class Number(click.ParamType[Any]):
    """A number that a field may be."""

    def __init__(self, about: Field) -> None:
        self.about = about
        self.name = KINDS[about.kind][0].removeprefix("a ")

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The number, or one of the words that may stand for it."""
        if isinstance(value, str) and "," in value and parameter is not None and parameter.name == "seeds":
            count = len(value.split(","))
            self.fail(f"give a number: --seeds {count} runs seeds 1 to {count} (got '{value}').", parameter, context)
        with contextlib.suppress(ValueError):
            value = self.about.kind(value)
        try:
            return self.about.checked("it", value)
        except SettingsError as error:
            self.fail(error.what, parameter, context)


class Grouped(click.Option):
    """An option that help shows below the title of its group."""

    def __init__(self, *words: Any, group: str, **more: Any) -> None:
        super().__init__(*words, **more)
        self.group = group

    def get_help_extra(self, context: click.Context) -> Any:
        """The bounds of a number, beside what click says."""
        bounds = getattr(getattr(self.type, "about", None), "bounds", "")
        return {**super().get_help_extra(context), **({"range": bounds} if bounds else {})}


def shared(kind: type, name: str) -> Callable[[F], F]:
    """An option that is a field of `blurb.planning.options`; other commands have the same in the same words."""
    field, about = options_of(kind)[name]
    flag = about.flag or f"--{name.replace('_', '-')}"
    if about.kind is bool:
        return click.option(flag, name, cls=Grouped, group=about.group, help=about.help, is_flag=True)
    default = None if field.default is MISSING else field.default
    return click.option(
        flag,
        name,
        cls=Grouped,
        group=about.group,
        help=about.help,
        metavar=about.metavar,
        type=value_type(about, str(field.type).startswith("Path")),
        default=default,
        show_default=isinstance(default, str | int),
        required=field.default is field.default_factory,
        multiple=about.many or field.default_factory is dict,
        callback=pairs if field.default_factory is dict else None,
        shell_complete=getattr(_complete, about.complete) if about.complete else None,
    )


def value_type(about: Field, is_path: bool = False) -> Any:
    """The type of a command line's values."""
    if about.choices:
        return click.Choice(tuple(about.choices))  # type: ignore[arg-type]
    if is_path:
        path = getattr(about, "path", "")
        return click.Path(path_type=Path, file_okay=path != "dir", dir_okay=path != "file")
    return Number(about) if about.kind in (int, float) else click.STRING


POINTS = Number(fields.POINTS)
ACROSS = shared(RunOptions, "across")
STORE = shared(TrainOptions, "output")
LEADERBOARD = click.option(
    "--leaderboard",
    type=click.Path(path_type=Path),
    help="Table to rebuild instead of leaderboard.csv in the store; its runs go into results.csv in the same folder, "
    "or NAME-results.csv for NAME.csv.",
)
JOBS = shared(TrainOptions, "jobs")
TRUST = shared(TrainOptions, "trust_remote_code")
CASING = shared(TrainOptions, "casing")
ALLOW = click.option(
    "--allow-code",
    multiple=True,
    metavar="HASH",
    help="Run the sweep of this hash, which another user planned, with the code and files that it names; repeatable.",
)
OF_TRIALS = ("data", "raw", "suite", "seeds", "tokenizer", "device", "precision", "jobs", "output")


def trials(function: F) -> F:
    """The options of the trials of commands that fine-tune many checkpoints."""
    for name in reversed(OF_TRIALS):
        function = shared(TrainOptions, name)(function)
    return function


RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also show the rows of this results.csv (repeatable).",
)
TOGETHER = click.option(
    "--together", is_flag=True, help="Rank predictions from elsewhere with the published rows and protocols of papers."
)
HEAD = click.option(
    "--head", metavar="FILE.py:NAME", help="The head, if it is a file of your own; a model or trial brings no code."
)
POOLING = click.option("--pooling", metavar="FILE.py:NAME", help="The pooling, if it is a file of your own.")


def all_of(kind: type, but: Collection[str] = ()) -> Callable[[F], F]:
    """All options of a class of `blurb.planning.options`, in their order.

    :param but: those that the command does not have
    """

    def add(command: F) -> F:
        for name in reversed([name for name in options_of(kind) if name not in but]):
            command = shared(kind, name)(command)
        return command

    return add


class WithSettings(click.Command):
    """A command whose help lists options by group, the keys of `--set`, and engines."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if isinstance(parameter, click.Option) and record is not None:
                sections.setdefault(getattr(parameter, "group", "Other"), []).append(record)
        sections["Keys of --set (their values: blurb protocols show)"] = [
            (subject, ", ".join(keys)) for subject, keys in groups().items()
        ]
        if any(parameter.name == "engine" for parameter in self.params):
            sections["Engines (docs/long-runs.md)"] = [
                (name, engines.declared(name, "summary") or "a plug-in") for name in engines.names()
            ]
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

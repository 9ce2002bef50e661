"""Options shared by commands. Those of the commands that train are made of the fields of `blurb.planning.options`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import MISSING
from pathlib import Path
from typing import Any, TypeVar

import click

from blurb.cli import _complete
from blurb.execution.options import Option, options_of
from blurb.planning.options import RunOptions, TrainOptions

F = TypeVar("F", bound=Callable[..., Any])


def pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The settings given with `--set KEY=VALUE`."""
    from blurb.messages.errors import SettingsError

    values = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(f"--set must have the form KEY=VALUE (got '{text}').")
        values[key.strip()] = value.strip()
    return values


class Count(click.IntRange):
    """A number of things, of seeds for one, which people list.

    :param words: that may stand for a number
    """

    name = "whole number"

    def __init__(self, *bounds: Any, words: Collection[str] = (), **more: Any) -> None:
        super().__init__(*bounds, **more)
        self.words = words

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if value in self.words:
            return value
        if isinstance(value, str) and "," in value and parameter is not None and parameter.name == "seeds":
            count = len(value.split(","))
            self.fail(f"give a number: --seeds {count} runs seeds 1 to {count} (got '{value}').", parameter, context)
        return super().convert(value, parameter, context)


class Points(click.FloatRange):
    """A number of points from 0 on; neither NaN nor infinity, which would switch a limit off."""

    name = "number of points"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """The number."""
        points = float(super().convert(value, parameter, context))
        if not math.isfinite(points):
            self.fail(f"{value} is not a number of points.", parameter, context)
        return points


class Grouped(click.Option):
    """An option that help shows below the title of its group."""

    def __init__(self, *words: Any, group: str, **more: Any) -> None:
        super().__init__(*words, **more)
        self.group = group


def shared(kind: type, name: str) -> Callable[[F], F]:
    """An option that is a field of `blurb.planning.options`; other commands have the same in the same words."""
    field, about = options_of(kind)[name]
    flag = about.flag or f"--{name.replace('_', '-')}"
    word = str(field.type).split("|")[0].strip().partition("[")[0]
    if word == "bool":
        return click.option(flag, name, cls=Grouped, group=about.group, help=about.help, is_flag=True)
    default = None if field.default is MISSING else field.default
    return click.option(
        flag,
        name,
        cls=Grouped,
        group=about.group,
        help=about.help,
        metavar=about.metavar,
        type=_type(word, about),
        default=default,
        show_default=isinstance(default, str | int),
        required=field.default is field.default_factory,
        multiple=word in ("Sequence", "Mapping"),
        callback=pairs if word == "Mapping" else None,
        shell_complete=getattr(_complete, about.complete, None),
    )


def _type(word: str, about: Option) -> Any:
    """The type of a command line's values.

    :param word: first type of the annotation; what is no word of `TYPES` is text
    """
    if about.choices:
        return click.Choice(about.choices)
    if about.low is not None:
        return Count(min=about.low, words=about.words)
    if word == "Path":
        return click.Path(path_type=Path, file_okay=about.path != "dir", dir_okay=about.path != "file")
    return TYPES.get(word, click.STRING)


TYPES = {"int": click.INT, "float": click.FLOAT}
POINTS = Points(min=0)
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
        from blurb.execution.engines import engines
        from blurb.protocols.settings import groups

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

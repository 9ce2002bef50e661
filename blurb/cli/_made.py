"""Commands made of signatures: click's parameters from the annotations of the functions that a command calls."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_origin

import click

from blurb.cli import _complete
from blurb.cli._group import TWICE
from blurb.fields import KINDS, Field, types_of
from blurb.grouping import by_key
from blurb.messages import SettingsError
from blurb.options import Argument, Option, Parameter, option_parameters
from blurb.protocols.settings import settings_by_subject
from blurb.terminal.output import FORMATS

WRITTEN = frozenset({"out", "plot", "junit", "summary"})
"""Parameters that name what a command writes."""
TABLES = ("leaderboard.csv", "results.csv", "external.csv")


class Command(click.Command):
    """A command that replaces neither what it was given nor the files of a store."""

    def invoke(self, context: click.Context) -> Any:
        named: dict[Path, str] = {}
        for each in sorted(self.get_params(context), key=lambda one: one.name in WRITTEN):
            given = context.params.get(str(each.name))
            for path in given if isinstance(given, tuple) else (getattr(given, "path", given),):
                if isinstance(path, Path) or (isinstance(path, str) and os.path.isfile(path)):
                    place, option = Path(path).resolve(), each.get_error_hint(context)
                    if each.name in WRITTEN:
                        _check_target(path, place, option, named.get(place))
                    named[place] = option
        return super().invoke(context)


def _check_target(path: str | Path, place: Path, option: str, other: str | None) -> None:
    from blurb.store.store import OWNERS, SCHEMA_FILE  # loads numpy

    own = [
        each
        for each in (place, *place.parents)
        if (each.parent / SCHEMA_FILE).is_file()
        and (each.name in (SCHEMA_FILE, *TABLES) or (each / OWNERS).is_file())
    ]
    if own or (other and not place.is_dir()):
        whose = f"of the store {own[0].parent}" if own else f"the file of {other} as well"
        raise SettingsError(
            f"{path} is {whose}, and would be replaced", fix=f"choose another place for {option}."
        )


def click_command(
    name: str,
    *sources: Callable[..., Any] | type | Mapping[str, Parameter],
    but: Collection[str] = (),
    prints: object = None,
    csv: bool = True,
    within: click.Group | None = None,
    cls: type[click.Command] = Command,
    formats: str = "Output format.",
) -> Callable[[Callable[..., Any]], Any]:
    """Makes a command of a function: its options, after those of what it calls, are those of its annotations.

    The function gets the values of its own parameters by name, and all others as `**given`. Its docstring is the help.

    :param sources: functions, classes of options, or some of their parameters, whose options the command has as well
    :param but: names of parameters that it does not have
    :param prints: type of what is printed as JSON (`blurb.records`), for a command with `--format`; a function that
        returns it where it is declared in a module that loads slowly
    :param csv: whether it is printed as CSV, too
    :param within: the group of the command
    """

    def make(function: Callable[..., Any]) -> click.Command:
        declared: dict[str, Parameter] = {}
        for source in (*sources, function):
            declared |= source if isinstance(source, Mapping) else option_parameters(source)
        listed = sorted(
            (click_parameter(each) for each in declared.values() if each.name not in but),
            key=lambda parameter: isinstance(parameter, click.Option),
        )
        if prints is not None:
            listed.append(FormatOption(prints, csv, formats))
        lists = issubclass(cls, click.Group) and prints is not None
        more: dict[str, Any] = {"invoke_without_command": True} if lists else {}
        callback = _without_subcommand(function) if lists else function
        result = cls(name, callback=callback, params=listed, help=inspect.getdoc(function), **more)
        if within is not None:
            within.add_command(result)
        return result

    return make


def _without_subcommand(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def listing(**given: Any) -> None:
        if click.get_current_context().invoked_subcommand is None:
            function(**given)

    return listing


def click_parameter(parameter: Parameter) -> click.Parameter:
    """The parameter of a command line."""
    name, hint, default, about = parameter
    needed = default is inspect.Parameter.empty and not about.optional
    default = None if default is inspect.Parameter.empty else default
    kind, pairs, words = (
        _value_type(about, hint),
        get_origin(types_of(hint)[0]) is Mapping,
        about.complete == "tasks",
    )
    several = about.many or pairs or words
    completion = getattr(_complete, about.complete) if about.complete else None
    if isinstance(about, Argument):
        return click.Argument(
            [name],
            type=kind,
            required=needed,
            nargs=-1 if about.many else 1,
            metavar=about.metavar,
            shell_complete=completion,
        )
    flag = about.flag or f"--{name.replace('_', '-')}"
    if about.kind is bool:
        return Grouped([flag, name], group=about.group, help=about.help, is_flag=True)
    # A default of None would be one: click would take it for the value of an option that must be given.
    unknown = (
        needed
        or about.many
        or pairs
        or (about.choices and default == "")
        or (words and not default)
    )
    known: dict[str, Any] = {} if unknown else {"default": (default,) if words else default}
    return Grouped(
        [flag, name],
        group=about.group,
        help=about.help,
        metavar=about.metavar,
        type=kind,
        show_default=isinstance(default, str | int | float | Path) and default != "",
        required=needed,
        multiple=several,
        callback=_mapping_of_pairs if pairs else _join_values if words else None,
        shell_complete=completion,
        **known,
    )


def _value_type(about: Any, hint: Any) -> Any:
    if about.choices:
        return click.Choice(tuple(about.choices))
    if types_of(hint)[0] in (Path, tuple[Path, ...], Sequence[Path]):
        return click.Path(
            path_type=Path, file_okay=about.path != "dir", dir_okay=about.path != "file"
        )
    return Number(replace(about, many=False)) if about.kind in (int, float) else click.STRING


def _join_values(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> str | None:
    return ",".join(given) if given else None


def _mapping_of_pairs(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """A mapping that is given as `--set KEY=VALUE`, once a key."""
    values: dict[str, str] = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator or not value:
            raise SettingsError(
                f"{parameter.opts[0]} must have the form {parameter.metavar} (got '{text}')."
            )
        if key.strip() in values:
            raise SettingsError(
                TWICE.format(
                    f"{parameter.opts[0]} {key.strip()}", values[key.strip()], value.strip()
                )
            )
        values[key.strip()] = value.strip()
    return values


class Number(click.ParamType[Any]):
    """A number that a field may be."""

    def __init__(self, about: Field) -> None:
        self.about = about
        self.name = KINDS[about.kind][0].removeprefix("a ")

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """The number, or one of the words that may stand for it."""
        if (
            isinstance(value, str)
            and "," in value
            and parameter is not None
            and parameter.name == "seeds"
        ):
            count = len(value.split(","))
            self.fail(
                f"give a number: --seeds {count} runs seeds 1 to {count} (got '{value}').",
                parameter,
                context,
            )
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


class FormatOption(click.Option):
    """The option `--format`, which knows what its command prints as JSON (`blurb/schemas`)."""

    def __init__(self, printed: object, csv: bool, text: str) -> None:
        form = FORMATS if csv else click.Choice([name for name in FORMATS.choices if name != "csv"])
        super().__init__(["--format", "form"], type=form, default="table", help=text)
        self.printed = printed


class WithSettings(Command):
    """A command whose help lists options by group, and the keys of `--set`."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections = by_key(
            (getattr(parameter, "group", "Other"), record)
            for parameter in self.get_params(context)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(context)) is not None
        )
        sections["Keys of --set (their values: blurb protocols show)"] = [
            (subject, ", ".join(keys)) for subject, keys in settings_by_subject().items()
        ]
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


TASKS = Option(help="Task names or types, comma-separated.", flag="--tasks", complete="tasks")
TASKS_OR_FILES = Option(
    help="Task names, types or files, comma-separated.", flag="--tasks", complete="tasks"
)
DATA = Option(help="Data folder in BLURB's layout.")
LEADERBOARD = Option(
    help="Table to rebuild instead of leaderboard.csv in the store, with a table of the scores by seed beside it."
)
LEADERBOARD_AFTER = Option(
    help="Table to rebuild afterwards, if it belongs to the store, instead of leaderboard.csv in it.",
    flag="--leaderboard",
)
RESULTS = Option(
    help="Also show the rows of this results.csv (repeatable).", metavar="FILE", path="file"
)
TOGETHER = Option(
    help="Rank predictions from elsewhere with the published rows and protocols of papers."
)
HEAD = Option(
    help="The head, if it is a file of your own; a model or trial brings no code.",
    metavar="FILE.py:NAME",
)
POOLING = Option(help="The pooling, if it is a file of your own.", metavar="FILE.py:NAME")

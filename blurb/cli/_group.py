"""Groups of commands: packages add to them, and what was mistyped is answered with what was meant.

An entry point in the group `blurb.commands` names the path of what it adds: `pretrain` and `leaderboard.verify` are
commands, `compare.--plot` is an option. Its group of entry points is read where a name is not the core's, or for help.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Sequence

import click

from blurb.messages import SettingsError, UnknownName, notify
from blurb.registry import Registry

added: Registry[click.Command | click.Option] = Registry(
    "command", "", "", "blurb.commands", "click:Command click:Option"
)
"""Commands and options that extensions and other packages bring, by path."""
COMMANDS_MEANT = {
    "runs": ("list", "ls"),
    "run": (
        "eval",
        "evaluate",
        "train",
        "finetune",
        "fine-tune",
        "test",
        "resume",
        "continue",
        "benchmark",
    ),
    "leaderboard": ("show",),
    "check": ("regress",),
    "gc": ("clean",),
    "--version": ("version",),
    "--help": ("help",),
    "leaderboard show": ("results", "rank"),
    "leaderboard html": ("html",),
    "leaderboard submit": ("submit",),
    "leaderboard verify": ("verify",),
    "data get": ("download", "get"),
}
"""Command -> what people type for it, as other tools call it."""
MEANT = {typed: command for command, words in COMMANDS_MEANT.items() for typed in words}
TWICE = "{} is given twice, as '{}' and as '{}'. Give it once."
EMPTY = "{} is given as an empty text. Leave it out, or give it a value."


class Group(click.Group):
    """A group that others add commands to; suggests the nearest command, and says where options belong."""

    @property
    def prefix(self) -> str:
        """Beginning of the paths of its commands: "" for `blurb` itself."""
        return "" if self.name in (None, "cli") else f"{self.name}."

    def own_commands(self, context: click.Context) -> list[str]:
        """Names of the commands that the core itself has here."""
        return super().list_commands(context)

    def added_commands(self, context: click.Context) -> list[str]:
        """Names of the commands that others bring; one of the core keeps its name."""
        names = [
            name.removeprefix(self.prefix) for name in added.names() if name.startswith(self.prefix)
        ]
        own = self.own_commands(context)
        return [
            name
            for name in names
            if "." not in name and not name.startswith("-") and name not in own
        ]

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*self.own_commands(context), *self.added_commands(context)})

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        self.write_section("Commands", self.list_commands(context), context, formatter)

    def write_section(
        self,
        title: str,
        names: Sequence[str],
        context: click.Context,
        formatter: click.HelpFormatter,
    ) -> None:
        """Lists commands below a title; of one that cannot be loaded the reason, as the others must be listed."""
        width = formatter.width - 6 - max(map(len, self.list_commands(context)))
        with formatter.section(title):
            formatter.write_dl([(name, self.line_of(context, name, width)) for name in names])

    def line_of(self, context: click.Context, name: str, width: int) -> str:
        """A line about a command."""
        try:
            command = self.get_command(context, name)
        except SettingsError as error:
            return f"(cannot be loaded: {error})"
        return "" if command is None else command.get_short_help_str(width)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        path = f"{self.prefix}{name}"
        command = super().get_command(context, name) or (
            added.get(path) if path in added.entries else None
        )
        if command is not None and not isinstance(command, click.Command):
            raise SettingsError(f"the plug-in '{path}' of blurb.commands is no command of click.")
        return command

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        typed = list(arguments)
        try:
            return super().parse_args(context, arguments)
        except click.NoSuchOption as error:
            meant = _explained(error)
            later = [word for word in typed if word in self.list_commands(context)]
            if not later:
                raise meant from None
            place = f"{context.command_path} {later[0]} ... {error.option_name}"
            raise click.UsageError(
                f"{meant.message} Options come after the command: {place}", context
            ) from None

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if (
            name in self.own_commands(context)  # which read no entry points
            or name.startswith("-")
            or context.resilient_parsing
            or name in (known := self.list_commands(context))
        ):
            return self._extended(context, super().resolve_command(context, arguments))
        added.check_present(f"{self.prefix}{name}")
        if fault := added.faults.get(f"{self.prefix}{name}"):
            raise SettingsError(fault)
        message = str(
            UnknownName("command", name, known, MEANT if context.parent is None else None)
        )
        if self.invoke_without_command and name in ("list", "ls"):
            message = f"'{context.command_path}' alone is the list. {message}"
        raise click.UsageError(message, context)

    def _extended(
        self, context: click.Context, resolved: tuple[str | None, click.Command | None, list[str]]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command with the options that others bring, where one of them or its help is asked for."""
        name, command, rest = resolved
        if command is None:
            return resolved
        words = [word.partition("=")[0] for word in map(str, rest) if word.startswith("-")]
        others = [word for word in words if word not in _names_of_options(command)]
        if (others or context.resilient_parsing) and not isinstance(command, click.Group):
            path = f"{self.prefix}{name}"
            for word in others:
                added.check_present(f"{path}.{word}")
            command = with_options(path, command)
        if not context.resilient_parsing:  # nobody asked a completion for messages
            refuse_doubtful(click.Context(command, context, info_name=name), rest)
        return name, command, rest

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except click.UsageError as error:
            raise _explained(error) from None


def refuse_doubtful(context: click.Context, words: Sequence[str]) -> None:
    """Raises a UsageError for an option with one value that is given twice, of which click takes the last in silence.

    Likewise for an empty text, such as of a variable of a shell that is not set, if that is not the default.

    :param context: of the command
    """
    parser = context.command.make_parser(context)
    every = context.command.get_params(context)
    single = [
        each
        for each in every
        if isinstance(each, click.Option) and not (each.is_flag or each.multiple or each.count)
    ]
    for option in single:  # declared once more, as a list
        parser.add_option(
            obj=option, opts=option.opts, dest=option.name, action="append", nargs=option.nargs
        )
    # click reports these better, afterwards.
    with contextlib.suppress(click.NoSuchOption, click.BadOptionUsage):
        given, _, _ = parser.parse_args(list(words))
        for each in every:
            values = given.get(each.name, ())
            if (
                "" in (values if isinstance(values, list | tuple) else [values])
                and each.default != ""
            ):
                raise click.UsageError(EMPTY.format(each.opts[0]), context)
            if each in single and len(values) > 1:
                raise click.UsageError(TWICE.format(each.opts[0], *values), context)


def with_options(path: str, command: click.Command) -> click.Command:
    """The command with the options that others bring.

    :param path: of the command, such as `leaderboard.show`
    """
    begin = f"{path}.--"
    brought = {name: added.known(name) for name in added.names() if name.startswith(begin)}
    options = []
    for name, option in brought.items():
        if isinstance(option, click.Option) and _takes_option(option, command):
            options.append(option)
        elif option is not None:
            notify(
                f"The plug-in '{name}' of blurb.commands is no option that {path} can take. It is left out."
            )
    if not options:
        return command
    extended = copy.copy(command)
    extended.params = [*command.params, *options]
    return extended


def _names_of_options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def _takes_option(option: click.Option, command: click.Command) -> bool:
    """Whether a command has no such option already, and its function takes the value."""
    own = _names_of_options(command)
    if command.callback is None or own & {*option.opts, *option.secondary_opts}:
        return False
    taken = inspect.signature(command.callback).parameters.values()
    return not option.expose_value or any(
        each.name == option.name or each.kind is each.VAR_KEYWORD for each in taken
    )


def _explained(error: click.UsageError) -> click.UsageError:
    """A fault of what was typed with what was meant."""
    # What it knows of tasks and settings takes a third of the time of `blurb --help`, which has no fault.
    from blurb.cli._meant import explain_error

    return explain_error(error)

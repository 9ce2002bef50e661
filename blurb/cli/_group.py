"""Groups of commands: what was mistyped is answered with what was meant."""

from __future__ import annotations

import re

import click

from blurb.messages.errors import UnknownName

MEANT = {
    "list": "runs",
    "ls": "runs",
    "eval": "run",
    "evaluate": "run",
    "train": "run",
    "finetune": "run",
    "fine-tune": "run",
    "test": "run",
    "show": "leaderboard",
    "regress": "check",
    "clean": "gc",
    "version": "--version",
    "help": "--help",
}
"""What people type for a command, as other tools call it."""


class Group(click.Group):
    """A group that suggests the nearest command, and says where options belong."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        typed = list(arguments)
        try:
            return super().parse_args(context, arguments)
        except click.NoSuchOption as error:
            later = [word for word in typed if word in self.list_commands(context)]
            if not later:
                raise
            place = f"{context.command_path} {later[0]} ... {error.option_name}"
            raise click.UsageError(f"{error.message} Options come after the command: {place}", context) from None

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = arguments[0], self.list_commands(context)
        if name in known or name.startswith("-") or context.resilient_parsing:
            return super().resolve_command(context, arguments)
        message = str(UnknownName("command", name, known, MEANT if context.parent is None else None))
        if self.invoke_without_command and name in ("list", "ls"):
            message = f"'{context.command_path}' alone is the list. {message}"
        raise click.UsageError(message, context)

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except click.NoSuchOption as error:
            raise _with_setting(error) from None
        except click.UsageError as error:
            raise _with_out(error) from None


def _with_setting(error: click.NoSuchOption) -> click.NoSuchOption:
    """An unknown option that is a setting of the protocols, by its name or that of transformers, with what to type."""
    from blurb.protocols.settings import ELSEWHERE, FIELDS

    name = error.option_name.lstrip("-").replace("-", "_")
    setting = ELSEWHERE.get(name, name)
    options = {option for each in error.ctx.command.params for option in each.opts} if error.ctx else set()
    if setting not in FIELDS or "--set" not in options:
        return error
    typed = f"--{setting.replace('_', '-')}"
    hint = f"Did you mean '{typed}'?" if typed in options else f"It is a setting: --set {setting}=..."
    return click.NoSuchOption(error.option_name, f"No such option '{error.option_name}'. {hint}", ctx=error.ctx)


def _with_out(error: click.UsageError) -> click.UsageError:
    """An argument too many where a file to write is an option."""
    options = {option for each in error.ctx.command.params for option in each.opts} if error.ctx else set()
    extra = re.fullmatch(r"Got unexpected extra argument \((\S+)\)\.?", error.message)
    if extra is None or "--out" not in options:
        return error
    return click.UsageError(f"{error.message.rstrip('.')}. Did you mean --out {extra[1]}?", error.ctx)

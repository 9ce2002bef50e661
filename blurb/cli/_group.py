"""Groups of commands: what was mistyped is answered with what was meant."""

from __future__ import annotations

import click

from blurb.errors import UnknownName


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
        message = str(UnknownName("command", name, known))
        if self.invoke_without_command and name in ("list", "ls"):
            message = f"'{context.command_path}' alone is the list. {message}"
        raise click.UsageError(message, context)

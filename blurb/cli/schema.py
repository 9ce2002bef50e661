"""`blurb schema`: the JSON schema of what a command prints."""

from __future__ import annotations

from collections.abc import Iterator

import click

from blurb.cli._formats import Format
from blurb.terminal.output import json_text


@click.command(name="schema")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def command(words: tuple[str, ...]) -> None:
    """Print the JSON schema of a command's output.

    For its --format json, such as blurb schema data stats. Without COMMAND: list the commands that have one.

    The schema (draft 2020-12) describes every key; other keys do not occur.
    """
    from blurb.messages.errors import UnknownName

    known = options()
    name = " ".join(words)
    if not words:
        click.echo("\n".join(known))
    elif name in known:
        click.echo(json_text(known[name].schema(name)), nl=False)
    else:
        raise UnknownName("command with --format json", name, known)


def options() -> dict[str, Format]:
    """The option `--format` of each command that prints JSON."""
    from blurb.cli import cli

    def below(name: str, command: click.Command) -> Iterator[tuple[str, Format]]:
        yield from ((name, option) for option in command.params if isinstance(option, Format))
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                if (found := command.get_command(context, part)) is not None:
                    yield from below(f"{name} {part}".strip(), found)

    return dict(below("", cli))

"""Commands, arguments and options as click knows them, without its layout, which changes between versions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click


def commands() -> list[tuple[str, click.Command]]:
    """Every command that is no group, or can be called without one of its own, by name."""
    from blurb.cli import cli

    def below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for part in command.list_commands(context):
                found = command.get_command(context, part)
                assert found is not None
                yield from below(f"{name} {part}".strip(), found)

    return list(below("", cli))


def interface() -> str:
    """Commands, their help, arguments and options, in a layout that is not click's own."""
    parts = []
    for name, command in commands():
        lines = [
            f"blurb {name}",
            *(f"    {line}".rstrip() for line in inspect.cleandoc(str(command.help)).splitlines()),
        ]
        for parameter in command.params:
            facts = [parameter.type.name, *getattr(parameter.type, "choices", ())]
            facts += [word for word in ("required", "multiple", "is_flag") if getattr(parameter, word, False)]
            if isinstance(parameter.default, str | int | float | Path) and not isinstance(parameter.default, bool):
                facts.append(f"default {parameter.default}")
            text = " ".join(str(getattr(parameter, "help", None) or "").split())
            lines.append(f"  {' '.join(parameter.opts)} [{' '.join(facts)}] {text}".rstrip())
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)

"""Commands, arguments and options as click knows them, without its layout, which changes between versions.

And the table of docs/reference.md, which `python -m tests.golden.render` makes of the list of `blurb.planning.options`.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from blurb.fields import types_of
from blurb.planning.options import RUN


def commands() -> list[tuple[str, click.Command]]:
    """Every command that is no group, or can be called without one of its own, by name."""
    from blurb.cli import cli
    from blurb.cli._group import with_options

    def below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield name, with_options(name.replace(" ", "."), command)
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
            facts += [
                word
                for word in ("required", "multiple", "is_flag")
                if getattr(parameter, word, False)
            ]
            default = (
                parameter.default[0] if isinstance(parameter.default, tuple) else parameter.default
            )
            if isinstance(default, str | int | float | Path) and not isinstance(default, bool):
                facts.append(f"default {default}")
            text = " ".join(str(getattr(parameter, "help", None) or "").split())
            lines.append(f"  {' '.join(parameter.opts)} [{' '.join(facts)}] {text}".rstrip())
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"
VALUES = {Path: "PATH", int: "N", float: "X", bool: ""}
"""How values are written, by the type of a field."""
BEGIN = "<!-- made by python -m tests.golden.render of blurb/planning/options.py -->"
END = "<!-- to here -->"


def reference() -> str:
    """docs/reference.md with the table of the options of `blurb run` as they are."""
    lines = [BEGIN, "", "| option | default | meaning |", "|---|---|---|"]
    lines.append(
        "| `MODEL...` | | folder, Hub id (`org/model@revision`), preset, `scratch:tiny`, `baseline:majority` |"
    )
    group = ""
    for name, hint, given, about in RUN.values():
        if about.group != group:
            group = about.group
            lines.append(f"| **{group}** | | |")
        value = about.metavar or "\\|".join(about.choices) or VALUES.get(types_of(hint)[0], "TEXT")
        flag = about.flag or f"--{name.replace('_', '-')}"
        default = f" `{given}`" if isinstance(given, str | int) and about.kind is not bool else ""
        page = f" ([{Path(about.page).stem.replace('-', ' ')}]({about.page}))" if about.page else ""
        text = about.help.replace(" (docs/long-runs.md)", "").replace(
            "are listed below", "are in `blurb run --help`"
        )
        lines.append(f"| `{flag}{' ' + value if value else ''}` |{default} | {text}{page} |")
    before, _, rest = REFERENCE.read_text(encoding="utf-8").partition(BEGIN)
    return before + "\n".join([*lines, "", END]) + rest.partition(END)[2]

"""The command `blurb`. One thin module per command: parse arguments, call the library, print."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from blurb import __version__
from blurb.cli import _exit
from blurb.cli._group import Group, added
from blurb.system import process

SECTIONS = {
    "Run": ("run", "plan", "ablate", "predict", "retry", "worker"),
    "Look at results": ("score", "status", "leaderboard", "compare", "check", "runs"),
    "Data, models and settings": ("data", "tasks", "models", "protocols", "heads"),
    "Housekeeping": ("doctor", "cache", "gc", "rescore"),
}
"""The commands of the core as the help lists them."""
OWN = sorted(
    module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
)
FIRST_SENTENCE = re.compile(
    r'^def command\(.*?\) -> None:[^\n]*\n    """(.*?)"""', re.MULTILINE | re.DOTALL
)
"""The docstring of the function of a command."""


class Commands(Group):
    """Finds the commands among the modules of this folder; heavy imports wait until a command runs."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        sections = {title: list(names) for title, names in SECTIONS.items()}
        for name in self.added_commands(context):
            sections.setdefault(
                "Extensions" if added.entries[name].extension else "Other packages", []
            ).append(name)
        for title, names in sections.items():
            self.write_section(title, names, context, formatter)

    def line_of(self, context: click.Context, name: str, width: int) -> str:
        """A line about a command; of blurb's own it is read from the source: to import them all would take seconds."""
        own = name in self.own_commands(context)
        target = f"blurb.cli.{name}" if own else added.entries[name].target.partition(":")[0]
        if own or added.entries[name].extension:
            module = importlib.util.find_spec(target)
            source = (
                Path(module.origin).read_text(encoding="utf-8") if module and module.origin else ""
            )
            text = FIRST_SENTENCE.search(source)
            return click.Command(name, help=text[1]).get_short_help_str(width) if text else ""
        return super().line_of(context, name, width)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        words = [
            CompletionItem(name)
            for name in self.list_commands(context)
            if name.startswith(incomplete)
        ]
        return (
            words
            if words or not incomplete.startswith("-")
            else super().shell_complete(context, incomplete)
        )

    def own_commands(self, context: click.Context) -> list[str]:
        return OWN

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in self.own_commands(context):
            command: click.Command = importlib.import_module(f"blurb.cli.{name}").command
            return command
        return super().get_command(context, name)

    def invoke(self, context: click.Context) -> object:
        return _exit.invoked(context, lambda: super(Commands, self).invoke(context))


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, "-V", "--version", prog_name="blurb")
def cli() -> None:
    """Fine-tune any encoder on the thirteen BLURB datasets and write its leaderboard row.

    All trials are kept in a store, by default the folder `runs`.
    """


def main() -> None:
    """Entry point; see `blurb.cli._exit` for the exit codes."""
    process.own_process()
    sys.exit(_exit.run(cli))

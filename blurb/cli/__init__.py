"""The command `blurb`. One thin module per command: parse arguments, call the library, print."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import click

from blurb import __version__
from blurb.cli import _exit
from blurb.cli._group import Group
from blurb.system import gc_control

SECTIONS = {
    "Run": ("run", "plan", "ablate", "pretrain", "study", "series", "watch", "bisect", "predict", "retry", "worker"),
    "Look at results": ("score", "status", "leaderboard", "compare", "check", "diff", "errors", "export", "runs"),
    "Data, models and settings": ("data", "tasks", "models", "vocab", "attention", "protocols", "heads"),
    "Housekeeping": ("doctor", "cache", "gc", "rescore", "schema"),
}
"""The commands as the help lists them."""


class Commands(Group):
    """Finds the commands among the modules of this folder; heavy imports wait until a command runs."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        width = formatter.width - 6 - max(map(len, self.list_commands(context)))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                found = ((name, self.get_command(context, name)) for name in names)
                formatter.write_dl([(name, each.get_short_help_str(width)) for name, each in found if each is not None])

    def list_commands(self, context: click.Context) -> list[str]:
        names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        command: click.Command = importlib.import_module(f"blurb.cli.{name}").command
        return command

    def invoke(self, context: click.Context) -> object:
        return _exit.invoked(context, lambda: super(Commands, self).invoke(context))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="blurb")
def cli() -> None:
    """Fine-tune any encoder on the thirteen BLURB datasets and write its leaderboard row."""


def main() -> None:
    """Entry point; see `blurb.cli._exit` for the exit codes."""
    gc_control.own_process()
    sys.exit(_exit.run(cli))

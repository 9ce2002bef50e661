"""`blurb leaderboard`: tables of rows, one module per command."""

from __future__ import annotations

import click

from blurb.cli._group import Group
from blurb.cli.leaderboard.files import add, merge, validate
from blurb.cli.leaderboard.show import command as show
from blurb.cli.leaderboard.show import published_rows


@click.group(name="leaderboard", cls=Group)
def command() -> None:
    """Show, merge, validate and publish rows."""


command.add_command(show)
command.add_command(published_rows)
command.add_command(merge)
command.add_command(add)
command.add_command(validate)

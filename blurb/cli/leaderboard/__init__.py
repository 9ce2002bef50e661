"""`blurb leaderboard`: tables of rows, one module per command."""

from __future__ import annotations

from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.cli.leaderboard.files import add, merge, validate
from blurb.cli.leaderboard.show import command as show
from blurb.cli.leaderboard.show import published_rows


@click_command("leaderboard", cls=Group)
def command() -> None:
    """Show, merge, validate and publish rows."""


for each in (show, published_rows, merge, add, validate):
    command.add_command(each)

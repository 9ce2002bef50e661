"""`blurb leaderboard`: tables of rows, one module per command."""

from __future__ import annotations

import click

from blurb.cli._group import Group
from blurb.cli.leaderboard.boards import init, rescore, submit, withdraw
from blurb.cli.leaderboard.files import add, merge, validate
from blurb.cli.leaderboard.html import command as html
from blurb.cli.leaderboard.show import command as show
from blurb.cli.leaderboard.show import published_rows
from blurb.cli.leaderboard.verify import verify


@click.group(name="leaderboard", cls=Group)
def command() -> None:
    """Show, merge, validate and publish rows."""


command.add_command(html)
command.add_command(show)
command.add_command(published_rows)
command.add_command(verify)
command.add_command(init)
command.add_command(submit)
command.add_command(withdraw)
command.add_command(rescore)
command.add_command(merge)
command.add_command(add)
command.add_command(validate)

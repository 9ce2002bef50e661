"""`blurb leaderboard`: tables of rows, one file a command."""

from __future__ import annotations

import click


@click.group(name="leaderboard")
def command() -> None:
    """Show, check, merge and publish rows."""

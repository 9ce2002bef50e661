"""`blurb data`: download, prepare, verify, inspect and export the datasets."""

from __future__ import annotations

from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.cli.data.download import download
from blurb.cli.data.export import export
from blurb.cli.data.get import get
from blurb.cli.data.prepare import prepare
from blurb.cli.data.verify import verify


@click_command("data", cls=Group)
def command() -> None:
    """Get, verify, inspect and export the data."""


for each in (get, download, prepare, verify, export):
    command.add_command(each)

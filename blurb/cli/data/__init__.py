"""`blurb data`: download, prepare, verify, inspect and export the datasets."""

from __future__ import annotations

import click

from blurb.cli._group import Group
from blurb.cli.data.download import download
from blurb.cli.data.export import export
from blurb.cli.data.get import get
from blurb.cli.data.prepare import prepare
from blurb.cli.data.verify import verify


@click.group(name="data", cls=Group)
def command() -> None:
    """Get, verify, inspect and export the data."""


command.add_command(get)
command.add_command(download)
command.add_command(prepare)
command.add_command(verify)
command.add_command(export)

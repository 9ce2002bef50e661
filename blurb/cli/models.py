"""`blurb models`: the models that have a name of their own."""

from __future__ import annotations

import click

from blurb.terminal.output import FORMATS, show


@click.command(name="models")
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def command(form: str) -> None:
    """List the models that blurb knows by name: presets of the Hub, encoders from scratch, and baselines.

    Any checkpoint folder and any Hub id (org/model or org/model@revision) can be run as well. A scratch encoder takes
    its vocabulary from the data. csv and json also have the casing that blurb states where a checkpoint's files are
    wrong (see --casing of blurb run), whose vocabulary it has, and its row among the published ones.
    """
    from blurb.api.models import named_models

    columns: tuple[str, ...] = ("name", "kind", "model", "casing", "needs", "size", "text", "vocabulary", "published")
    if form == "table":
        columns = ("name", "size", "text", "model")
    rows = [tuple(getattr(model, column) for column in columns) for model in named_models()]
    show(columns, rows, form)

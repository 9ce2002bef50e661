"""Options that series add to commands of others."""

from __future__ import annotations

from pathlib import Path

import click

from blurb.extensions.series.page_part import SeriesFolder


def _series(context: click.Context, parameter: click.Parameter, value: Path | None) -> SeriesFolder | None:
    return None if value is None else SeriesFolder(value)


SERIES = click.Option(
    ["--series"],
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    callback=_series,
    help="Also show the curves that blurb series wrote to this folder.",
)

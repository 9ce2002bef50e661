"""The files that a command wrote, and the picture that it could not draw."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click


def can_draw() -> bool:
    """Whether Matplotlib is there, which is an extra: tables and pages are written without it."""
    return find_spec("matplotlib") is not None


def list_written(paths: Sequence[Path], picture: str) -> None:
    """Names the files on stderr, and the picture if it is not among them."""
    for path in paths:
        click.echo(f"Wrote {path}", err=True)
    if picture not in (path.name for path in paths):
        click.echo(f"No {picture}: it needs Matplotlib (pip install matplotlib).", err=True)

"""What the commands that look at data have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from blurb.cli._output import FORMATS
from blurb.cli._request import CASING

if TYPE_CHECKING:
    from blurb.inputs.reading import Read

F = TypeVar("F", bound=Callable[..., Any])
LOOK = (
    click.option(
        "--data", type=click.Path(path_type=Path), help="Folder in the BLURB layout (not needed by task files)."
    ),
    click.option(
        "--tasks", "selection", default="all", show_default=True, help="Names, types or task files, with commas."
    ),
    click.option("--model", help="A checkpoint, for what depends on its tokenizer."),
    CASING,
    click.option("--format", "form", type=FORMATS, default="table", help="Output format."),
)


def look_options(command: F) -> F:
    """Adds where the data is, which tasks, whose tokenizer, and how to print."""
    for option in reversed(LOOK):
        command = option(command)
    return command


def reader_of(model: str | None, folder: Path, casing: str | None) -> Read | None:
    """How the model reads a split, or None if no model was given."""
    if model is None:
        return None
    from blurb.cli._request import source
    from blurb.models.reading import reader

    return reader(source(model, None, None, False, folder, casing))

"""Options shared by the commands that inspect data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from blurb.checkpoints.lengths import reader
from blurb.cli import _complete
from blurb.cli._options import CASING
from blurb.planning.request import source

if TYPE_CHECKING:
    from blurb.inputs.tokenized_split import Read

F = TypeVar("F", bound=Callable[..., Any])
LOOK = (
    click.option(
        "--data", type=click.Path(path_type=Path), help="Data folder in BLURB's layout (not needed for task files)."
    ),
    click.option(
        "--tasks",
        "selection",
        shell_complete=_complete.tasks,
        default="all",
        show_default=True,
        help="Task names, types or files, comma-separated.",
    ),
    click.option("--model", shell_complete=_complete.models, help="Checkpoint whose tokenizer to use."),
    CASING,
)


def look_options(command: F) -> F:
    """Adds the options about data folder, tasks and tokenizer."""
    for option in reversed(LOOK):
        command = option(command)
    return command


def reader_of(model: str | None, folder: Path, casing: str | None) -> Read | None:
    """The function that tokenizes a split as the model does; None if no model was given."""
    if model is None:
        return None

    return reader(source(model, None, None, False, folder, casing))

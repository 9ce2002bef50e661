"""What `blurb data stats` and `blurb data audit` look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from blurb import tasks
from blurb.cli._options import TASKS_OR_FILES
from blurb.options import Option
from blurb.planning.options import CASING
from blurb.planning.request import folders, reader
from blurb.tasks import Task

if TYPE_CHECKING:
    from blurb.inputs.tokenized_split import Read


class Chosen(NamedTuple):
    """Tasks, their data folder, and the function that tokenizes a split as the model does; None without one."""

    tasks: list[Task]
    folder: Path
    read: Read | None


def chosen(
    *,
    data: Annotated[Path | None, Option(help="Data folder in BLURB's layout (not needed for task files).")] = None,
    selection: Annotated[str, TASKS_OR_FILES] = "all",
    model: Annotated[str | None, Option(help="Checkpoint whose tokenizer to use.", complete="models")] = None,
    casing: Annotated[str | None, CASING] = None,
) -> Chosen:
    """Resolves the options."""
    named = tasks.load_selection(selection)
    folder, _ = folders("blurb", data, None, named, has_suite=False)
    return Chosen(named, folder, None if model is None else reader(model, folder, casing))

"""The options of `blurb ablate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path

from blurb.execution.options import option
from blurb.planning.options import TrainOptions


@dataclass(frozen=True, kw_only=True)
class AblateOptions(TrainOptions):
    """The options of `blurb ablate`."""

    axis: str = option(
        MISSING,
        "Tasks and data",
        "Setting to vary: head (Table 12), tagging (13), relation (14: input x pooling), "
        "pooling (cells of Table 14 with entity markers).",
        choices=("head", "tagging", "relation", "pooling"),
    )
    tasks: str | Sequence[str] | None = option(
        None, "Tasks and data", "Task names or types, comma-separated.  [default: those of the table]", complete="tasks"
    )
    name: str | None = option(None, "Model", "Model name in the tables.  [default: last part of MODEL]")
    out: Path | str = option("ablations", "Results", "Folder for the tables.", path="dir")
    dry_run: bool = option(False, "Trials", "List the trials of all cells and stop.")

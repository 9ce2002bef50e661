"""`blurb ablate`: repeat an ablation table of Gu et al. with any encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from blurb.cli import _complete
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._options import WithSettings, data_options, machine_options


@click.command(name="ablate", cls=WithSettings)
@click.argument("model", shell_complete=_complete.models)
@click.option(
    "--axis",
    type=click.Choice(["head", "tagging", "relation", "pooling"]),
    required=True,
    help="Setting to vary: head (Table 12), tagging (13), relation (14: input x pooling), "
    "pooling (cells of Table 14 with entity markers).",
)
@data_options
@click.option(
    "--tasks",
    shell_complete=_complete.tasks,
    help="Task names or types, comma-separated.  [default: those of the table]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="ablations",
    show_default=True,
    help="Folder for the tables.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also plot the cells to a .png, .svg or .pdf (needs the extra 'plots').",
)
@click.option("--name", help="Model name in the tables.  [default: last part of MODEL]")
@machine_options
@click.option("--dry-run", is_flag=True, help="List the trials of all cells and stop.")
def command(**given: Any) -> None:
    """Run Table 12, 13 or 14 of the paper with your encoder.

    The result is compared with the published table.

    Writes AXIS.csv and AXIS.md into --out: mean and sd over seeds for each cell and task, and whether the difference
    from the first cell is significant. Finished trials are not repeated: run the same command again to resume, or with
    --plot to plot finished results. Exit codes are those of blurb run.
    """
    from blurb.analysis import ablation_tables
    from blurb.api.ablation import ablate
    from blurb.api.options import AblateOptions
    from blurb.terminal.output import show

    goes_on()
    options = AblateOptions(**given)
    done = ablate(options)
    if done is None:
        return
    numbers = [column.replace("_", " ") for column in ablation_tables.NUMBERS]
    show(ablation_tables.titles(), [ablation_tables.readable(line) for line in done.lines], "table", numbers=numbers)
    drawn = f"   plot: {options.plot}" if options.plot else ""
    click.echo(f"Tables: {', '.join(map(str, done.files))}{drawn}   trials: {options.output}")
    if done.failed:
        raise SystemExit(PARTLY)

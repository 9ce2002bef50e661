"""`blurb ablate`: repeat an ablation table of Gu et al. with any encoder."""

from __future__ import annotations

from typing import Annotated, Any

import click

from blurb.api.ablation import ablate
from blurb.cli._exit import PARTLY, goes_on
from blurb.cli._made import WithSettings, click_command
from blurb.options import Argument
from blurb.planning import ablations
from blurb.planning.options import AblateOptions
from blurb.terminal.output import Picture, print_rows


@click_command(
    "ablate", AblateOptions, but=("track", "keep_model", "resume_trials"), cls=WithSettings
)
def command(
    model: Annotated[str, Argument(complete="models")], *, plot: Picture | None = None, **given: Any
) -> None:
    """Vary one setting of your encoder's fine-tuning.

    The axes of Tables 12 to 14 of the paper are compared with these tables.

    Writes AXIS.csv and AXIS.md into --out: mean and sd over seeds for each cell and task, and whether the difference
    from the first cell is significant. Finished trials are not repeated: run the same command again to resume, or with
    --plot to plot finished results. Exit codes are those of blurb run.
    """
    options = AblateOptions(model=model, **given)
    if not options.dry_run:
        goes_on()
    done = ablate(options, plot)
    if done is None:
        return
    print_rows(
        ablations.titles(),
        [ablations.readable(line) for line in done.lines],
        numbers=[column.replace("_", " ") for column in ablations.NUMBERS],
    )
    drawn = f"   plot: {plot.path}" if plot else ""
    click.echo(f"Tables: {', '.join(map(str, done.files))}{drawn}   trials: {options.output}")
    if done.failed:
        raise SystemExit(PARTLY)

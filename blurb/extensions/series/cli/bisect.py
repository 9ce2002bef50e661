"""`blurb bisect`: the first bad checkpoint of a run."""

from __future__ import annotations

from typing import Any

import click

from blurb.cli._made import click_command
from blurb.extensions.series.api.following import bisect
from blurb.planning.options import TRIALS


@click_command("bisect", bisect, TRIALS, bisect)  # its own --seeds, after its other options
def command(**given: Any) -> None:
    """Find the first bad checkpoint of a run.

    About log2(n) of n checkpoints are scored. It assumes that there is one change: all checkpoints before it are good,
    all after it bad. Exit code 0: found. 1: the last one is not worse by --drop. 2: it cannot be told.
    """
    bisection = bisect(told=lambda text: click.echo(text, err=True), **given)
    for look in bisection.looks:
        click.echo(
            f"step {look.step}: {bisection.measure} {look.mean:.4g} over {look.runs} runs, "
            f"{'bad' if look.bad else 'good'}"
        )
    click.echo(str(bisection))
    raise SystemExit(int(bisection.first_bad is None))

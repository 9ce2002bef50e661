"""`blurb bisect`: the first bad checkpoint of a run."""

from __future__ import annotations

from typing import Any

import click

from blurb.cli import _complete
from blurb.cli._options import POINTS, trials
from blurb.extensions.series.api.following import bisect


@click.command(name="bisect")
@click.argument("run", metavar="RUN_DIR")
@click.option("--task", required=True, shell_complete=_complete.tasks, help="Dataset to judge by.")
@click.option("--drop", type=POINTS, required=True, help="Points of dev by which the last checkpoint is worse.")
@click.option("--protocol", default="sketch", show_default=True, help="Protocol of the fine-tuning.")
@click.option("--pattern", metavar="GLOB", help="Names of the checkpoints.  [default: every folder that is one]")
@click.option("--good", type=click.IntRange(min=0), metavar="STEP", help="A good step.  [default: the first]")
@click.option("--bad", type=click.IntRange(min=0), metavar="STEP", help="A bad step.  [default: the last]")
@click.option("--error", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
              help="Probability of any wrong answer, held by as many seeds as it needs.")  # fmt: skip
@trials
def command(run: str, task: str, drop: float, seeds: int | None, **given: Any) -> None:
    """Find the first bad checkpoint of a run.

    About log2(n) of n checkpoints are scored. It assumes that there is one change: all checkpoints before it are good,
    all after it bad. Exit code 0: found. 1: the last one is not worse by --drop. 2: it cannot be told.
    """
    count = 3 if seeds is None else seeds
    bisection = bisect(run, task, drop, seeds=count, told=lambda text: click.echo(text, err=True), **given)
    for look in bisection.looks:
        verdict = "bad" if look.bad else "good"
        click.echo(f"step {look.step}: {bisection.measure} {look.mean:.4g} over {look.runs} runs, {verdict}")
    click.echo(str(bisection))
    raise SystemExit(int(bisection.first_bad is None))

"""`blurb score`: BLURB's metric for predictions of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from blurb.api import scoring
from blurb.cli._made import click_command
from blurb.messages import grouped
from blurb.scoring.scores import Score, ScoreLine
from blurb.terminal.output import Column, emit, say

COLUMNS = (
    Column("dataset", "task.name"),
    Column("score", number=".2f"),
    Column("95 % interval", lambda one: one.interval and "{:.2f} to {:.2f}".format(*one.interval), "s"),
    Column("majority", number=".2f"),
    Column("floor", number=".2f"),
    Column("best published", lambda one: one.published and "{:.2f} {}".format(*one.published)),
    Column("examples"),
    Column("matched"),
)


@click_command("score", scoring.score, prints=list[ScoreLine])
def command(*, form: str, **given: Any) -> None:
    """Score predictions of any tool with BLURB's metric.

    Reads CoNLL, TSV, CSV, JSON lines, Parquet and BLURB's submission form (docs/score.md). Answers are matched to the
    examples by id, or by order. Figures are never taken, only predictions.
    """
    _print(scoring.score(**given), form)
    if given["add"] is not None:
        store = given["output"]
        text = f"Added to {store} as {given['add']}, seed {given['seed']}: blurb leaderboard show --output {store}"
        click.echo(text, err=True)


def _print(scores: Sequence[Score], form: str) -> None:
    if not emit(form, ScoreLine, scores, COLUMNS):
        return
    for score in scores:
        if score.all_classes is not None:
            every = score.all_classes
            say(
                f"{score.task.name}: accuracy over all classes is {every.accuracy:.2f}, which is not BLURB's metric: "
                f'the answer "{every.negative}" for all examples has {every.constant:.2f} there, and 0 under BLURB.'
            )
    for text in grouped((score.task.name, remark) for score in scores for remark in score.remarks):
        say(text)

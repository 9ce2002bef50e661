"""`blurb score`: BLURB's metric for predictions of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from blurb.api import scoring
from blurb.cli._made import click_command
from blurb.messages import group_reasons
from blurb.scoring.decoding import FAULTS
from blurb.scoring.scores import Score, ScoreLine
from blurb.terminal.output import Column, print_records, print_rows, print_sentence

COLUMNS = (
    Column("dataset", "task.name"),
    Column("score", number=".2f"),
    Column(
        "95 % interval", lambda one: one.interval and "{:.2f} to {:.2f}".format(*one.interval), "s"
    ),
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
    scores = scoring.score(**given)
    if print_records(form, ScoreLine, scores, COLUMNS):
        _print_remarks(scores)
    if given["add"] is not None:
        store = given["output"]
        click.echo(
            f"Added to {store} as {given['add']}: blurb leaderboard show --output {store}", err=True
        )


def _print_remarks(scores: Sequence[Score]) -> None:
    """What was wrong with answers, a line a dataset, and what was made of it; then other remarks."""
    faulty = [score for score in scores if score.faults]
    faults = [fault for fault in FAULTS if any(fault in score.faults for score in faulty)]
    if faults:
        titles = [fault.replace("_", " ") for fault in faults]
        rows = [
            [score.task.name, *(score.faults.get(fault, 0) for fault in faults)] for score in faulty
        ]
        print_rows(["dataset", *titles], rows, numbers=titles)
        print_sentence(
            "".join(
                f"{title}: {FAULTS[fault]}.\n" for title, fault in zip(titles, faults, strict=True)
            )
        )
    for score in scores:
        if score.all_classes is not None:
            every = score.all_classes
            print_sentence(
                f"{score.task.name}: accuracy over all classes is {every.accuracy:.2f}, which is not BLURB's metric: "
                f'the answer "{every.negative}" for all examples has {every.constant:.2f} there, and 0 under BLURB.'
            )
    for text in group_reasons(
        (score.task.name, remark) for score in scores for remark in score.remarks
    ):
        print_sentence(text)

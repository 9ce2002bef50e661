"""`blurb generalisation`: figures on seen and unseen strings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import click

from blurb.cli._made import click_command
from blurb.data.seen import CLASSES
from blurb.extensions.reports.generalisation import SeenRecord, generalisation, show_interval
from blurb.extensions.reports.plots import _style, estimates
from blurb.messages import group_reasons
from blurb.options import Argument, Option
from blurb.terminal.output import Column, print_records

RULE = (
    "seen: the string stands in train as a mention, whatever the case of its letters. F1 of unseen strings is what no "
    "dictionary of train could reach."
)


@click_command("generalisation", generalisation, prints=list[SeenRecord])
def command(
    rows: Annotated[tuple[str, ...], Argument(complete="rows_anywhere")],
    *,
    plot: Annotated[Path | None, Option(help="Picture of both F1: .png, .svg or .pdf.")] = None,
    form: str,
    **given: Any,
) -> None:
    """Show figures on strings that train has, and has not.

    Precision, recall and F1 of strings that train has are what a row may know by heart; those of all others are not.
    A row is MODEL, FOLDER[:ROW] or a folder of row files. The data must be that of the row: its train split says which
    strings are seen. NER counts mentions, PICO words (recall alone), ChemProt and DDI pairs, with --raw.
    """
    _style.check(plot)
    figures = generalisation(rows, **given)
    if plot is not None:
        estimates.write_seen(figures.lines, plot)
    several = len({line.row for line in figures.lines}) > 1
    table = [
        *([Column("row")] if several else []),
        Column("dataset", "task"),
        Column("strings"),
        Column("gold", number=",.0f"),
        Column("share", number=".1f"),
        *(Column(name, partial(show_interval, name)) for name in ("precision", "recall", "f1")),
    ]
    is_table = print_records(form, SeenRecord, figures.lines, table)
    if is_table:
        click.echo(RULE)
        if capped := sorted({line.task for line in figures.lines if line.capped}):
            click.echo(
                f"{', '.join(capped)}: trained on a part of train (max_train); seen is by the whole of it."
            )
        others = {
            line.task: line.other_type for line in figures.lines if line.strings == CLASSES[0]
        }
        if listed := [f"{name} {count:,}" for name, count in others.items() if count]:
            click.echo(
                f"Gold items whose string train has with another type only: {', '.join(listed)}."
            )
    for text in group_reasons(figures.reasons):
        click.echo(text, err=not is_table)

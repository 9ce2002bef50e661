"""`blurb transfer`: models off their own corpus."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import click

from blurb.cli._made import click_command
from blurb.extensions.reports.generalisation import show_interval
from blurb.extensions.reports.plots import _style, estimates
from blurb.extensions.reports.transfer import TransferRecord, transfer
from blurb.options import Argument, Option
from blurb.terminal.output import Column, print_records, print_rows

RULE = (
    "A cell has F1 of exact spans, and in brackets the change against the models of the tested set, on the same "
    "sentences. Corpora differ in texts and in what their annotators call the entity; the change measures both."
)


@click_command("transfer", transfer, prints=list[TransferRecord])
def command(
    rows: Annotated[tuple[str, ...], Argument(complete="rows_anywhere")],
    *,
    plot: Annotated[Path | None, Option(help="Picture of F1: .png, .svg or .pdf.")] = None,
    form: str,
    **given: Any,
) -> None:
    """Test models on other corpora of the same entity.

    Every model predicts each other test set of its entity. A row is MODEL or FOLDER[:ROW]. Its trials were run with
    --keep-model best; a baseline that is one fit, as of the dictionary or bigrams, is fitted again. Test sentences that
    stand in the other train split are left out. Rows of one model in several suites are one table.
    """
    _style.check(plot)
    pairs = transfer(rows, **given).lines
    if plot is not None:
        estimates.write_transfer(pairs, plot)
    abroad = [line for line in pairs if line.trained_on != line.tested_on]
    if form == "table":
        for row, word in dict.fromkeys((line.row, line.entity) for line in abroad):
            click.echo(f"{row}: {word}")
            _print_square([line for line in pairs if (line.row, line.entity) == (row, word)])
        click.echo(RULE)
    table = [
        *([Column("row")] if len({line.row for line in abroad}) > 1 else []),
        Column("trained on", "trained_on"),
        Column("tested on", "tested_on"),
        Column("overlapping", "overlap_f1", ".1f"),
        Column("drop", partial(show_interval, "drop")),
        Column("runs"),
        Column("sentences", number=","),
        Column("left out", "left_out", ","),
        Column("near copies", "near_copies", ","),
    ]
    print_records(form, TransferRecord, abroad if form == "table" else pairs, table)


def _print_square(lines: list[TransferRecord]) -> None:
    tested = list(dict.fromkeys(line.tested_on for line in lines))
    cells = {(line.trained_on, line.tested_on): line for line in lines}
    titles = ["trained on", *(f"*{name}*" for name in tested)]
    rows = [
        [name, *(_cell(cells.get((name, other))) for other in tested)]
        for name in dict.fromkeys(line.trained_on for line in lines)
    ]
    print_rows(titles, rows, numbers=titles[1:])
    if broader := [line.tested_on for line in lines if line.broader]:
        click.echo(f"{', '.join(dict.fromkeys(broader))}: its label holds more than this entity.")


def _cell(line: TransferRecord | None) -> str:
    if line is None:
        return ""
    return f"{line.f1:.1f}" + ("" if line.drop is None else f" ({0 - line.drop:+.1f})")

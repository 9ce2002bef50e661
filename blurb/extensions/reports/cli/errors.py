"""`blurb errors`: the mistakes of a trial, by kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import click

from blurb.cli._made import click_command
from blurb.extensions.reports import errors
from blurb.extensions.reports.plots import _style, confusion
from blurb.messages import UnknownName, count_noun
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.row_files.references import find_trial
from blurb.tasks import SCORED, ScoredSplit
from blurb.terminal.output import print_rows

TABLE_LIMIT = 10


class MistakeRecord(TypedDict):
    """A mistake of a trial."""

    id: Annotated[str, "id of the example"]
    kind: Annotated[str, "kind of mistake"]
    gold: Annotated[str | float, errors.GOLD]
    prediction: Annotated[str | float, "predicted answer, likewise"]
    text: NotRequired[Annotated[str, "text of the example, with --with-text"]]


@click_command(
    "errors",
    prints=list[MistakeRecord],
    formats="Output format; csv and json list the mistakes only.",
)
def command(
    row: Annotated[str, Argument(complete="rows_anywhere")],
    *,
    name: Annotated[
        str | None,
        Option(
            help="Dataset; not needed if ROW is a trial folder.", flag="--task", complete="one_task"
        ),
    ] = None,
    seed: Annotated[int | None, Option(help="Seed of the run.  [default: the first]")] = None,
    split: Annotated[ScoredSplit, Option(help="Split to analyse.", choices=SCORED)] = "test",
    output: Annotated[Path, OUTPUT] = Path("runs"),
    data: Annotated[Path | None, Option(help="Data folder, to show the text of mistakes.")] = None,
    raw: Annotated[
        Path | None, Option(help="Folder of the original releases, for trials that used them.")
    ] = None,
    kind: Annotated[str | None, Option(help="Show only mistakes of this kind.")] = None,
    limit: Annotated[
        int | None,
        Option(
            help="Number of mistakes to show.  [default: 10 in the table, all in csv and json]",
            low=0,
        ),
    ] = None,
    plot: Annotated[
        Path | None, Option(help="Picture of the confusion matrix: .png, .svg or .pdf.")
    ] = None,
    with_text: Annotated[
        bool, Option(help="Show text even if the output is csv, json, a file or a pipe.")
    ] = False,
    form: str,
) -> None:
    """Count the mistakes of a trial by kind; show the worst.

    ROW is a row (MODEL, FOLDER[:ROW]) with --task, or a trial folder. The output has ids, counts and labels. Corpus
    text needs --data (or --raw, for a trial on the originals), and is shown only in a table on a terminal or with
    --with-text.
    """
    with_text = errors.may_show(with_text, data, raw, form)
    _style.check(plot)
    record = find_trial(row, output, name, seed)
    texts, train = errors.read_texts(record, data, raw, split)
    report = errors.analyse(record, split, texts, train)
    kinds = sorted({example.kind for example in report.examples})
    if kind is not None and kind not in kinds:
        raise UnknownName("kind of mistake", kind, kinds)
    if plot is not None:
        confusion.write(
            f"{row}, {record.task.title}, {split}", errors.confusion(record, report), plot
        )
    chosen = [each for each in report.examples if kind in (None, each.kind)]
    columns = ["example" if form == "table" else "id", "kind", "gold", "prediction"]
    columns += ["text"] if texts and with_text else []
    rows: list[tuple[object, ...]] = [
        (each.unit, each.kind, each.gold, each.predicted, each.text)[: len(columns)]
        for each in chosen[: TABLE_LIMIT if limit is None and form == "table" else limit]
    ]
    if form == "table":
        click.echo(f"{row}: {record.trial.task}, seed {record.trial.seed}, {split}")
        for table in report.tables:
            click.echo(f"\n{table.title}")
            print_rows(table.columns, table.rows, form, numbers=table.columns[1:])
        click.echo(
            f"{count_noun(len(chosen), 'mistake')}{f' ({kind})' if kind else ''}; the first {len(rows)}:"
        )
        rows = [
            tuple(f"{cell:.2f}" if isinstance(cell, float) else cell for cell in row)
            for row in rows
        ]
    print_rows(columns, rows, form)
    if texts and not with_text:
        errors.say_left_out()

"""`blurb diff`: the examples to which two rows give different answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click
from rich.text import Text as Line

from blurb.cli._made import click_command
from blurb.extensions.reports import errors
from blurb.extensions.reports.api.mistakes import find_trials
from blurb.extensions.reports.cli.errors import TABLE_LIMIT
from blurb.extensions.reports.differences import differences
from blurb.extensions.reports.differences.answers import Difference, Different, shortened
from blurb.grouping import by_key
from blurb.messages import UnknownName, count_noun
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.records import record_columns
from blurb.tasks import SCORED, ScoredSplit
from blurb.terminal.output import make_console, print_rows


@click_command(
    "diff", prints=list[Different], formats="Output format; csv and json list the differences only."
)
def command(
    a: Annotated[str, Argument(complete="rows_anywhere")],
    b: Annotated[str, Argument(complete="rows_anywhere")],
    *,
    name: Annotated[
        str | None,
        Option(
            help="Dataset; not needed if both have only one.", flag="--task", complete="one_task"
        ),
    ] = None,
    seed: Annotated[
        int | None, Option(help="Seed of both runs.  [default: the first of each]")
    ] = None,
    split: Annotated[ScoredSplit, Option(help="Split to compare.", choices=SCORED)] = "test",
    output: Annotated[Path, OUTPUT] = Path("runs"),
    data: Annotated[Path | None, Option(help="Data folder, to show the text of examples.")] = None,
    raw: Annotated[
        Path | None, Option(help="Folder of the original releases, for trials that used them.")
    ] = None,
    kind: Annotated[
        str | None,
        Option(
            help="Show only this outcome ('only A right'), or differences with this kind of mistake."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        Option(
            help="Number of differences to show.  [default: 10 in the table, all in csv and json]",
            low=0,
        ),
    ] = None,
    with_text: Annotated[
        bool, Option(help="Print text even if the output is csv, json, a file or a pipe.")
    ] = False,
    form: str,
) -> None:
    """Show the examples that two rows answer differently.

    They are grouped by the kind of mistake that each row makes.

    A and B are rows (MODEL, FOLDER[:ROW]) of which there are predictions, or trial folders. Both must be of the same
    data and examples. The largest differences come first. The output has ids, counts and labels. Corpus text needs
    --data (or --raw, for trials on the originals), and is shown only in a table on a terminal, or with
    --with-text.
    """
    show_text = errors.may_show(with_text, data, raw, form)
    first, other = find_trials((a, b), output, name, seed)
    texts, _ = errors.read_texts(first, data, raw, split)
    result = differences(first, other, split, texts)
    kinds = sorted({kind for example in result.examples for kind in example.kinds})
    if kind is not None and kind not in kinds:
        raise UnknownName("outcome or kind of mistake", kind, kinds)
    chosen = [example for example in result.examples if kind is None or kind in example.kinds]
    shown = chosen[: TABLE_LIMIT if limit is None and form == "table" else limit]
    if form == "table":
        click.echo(f"{first.trial.task}, {split}")
        for side, row, record in (("A", a, first), ("B", b, other)):
            score = f"{record.metrics['metric']} {100 * record.score(split):.2f}"
            click.echo(f"{side}: {row}, seed {record.trial.seed}, {score}")
        for table in result.tables:
            click.echo(f"\n{table.title}")
            print_rows(
                table.columns,
                table.rows,
                form,
                numbers=table.columns[3 if table.columns[0] == "outcome" else 1 :],
            )
        _print(shown, len(chosen), kind, show_text)
    else:
        keys = record_columns(Different)[: None if texts and show_text else -1]
        print_rows(keys, [[getattr(each, key) for key in keys] for each in shown], form)
    if texts and not show_text:
        errors.say_left_out()


def _print(examples: Sequence[Difference], total: int, kind: str | None, with_text: bool) -> None:
    """The differences by group, on a few lines each."""
    if not total:
        click.echo("No differences: A and B give the same answers.")
        return
    more = (
        f"; the first {len(examples):,}:" if 0 < len(examples) < total else ":" if examples else "."
    )
    click.echo(f"{count_noun(total, 'difference')}{f' ({kind})' if kind else ''}{more}")
    out = make_console()
    for group, members in by_key((each.group, each) for each in examples).items():
        click.echo(f"\n{group}")
        for example in members:
            numbers = isinstance(example.gold, float)
            click.echo(f"  {example.id}{f', difference {example.size:.2f}' if numbers else ''}")
            lines = _lines(example, with_text)
            indent = 6 + max(map(len, lines))
            for name, line in lines.items():
                for number, part in enumerate(line.wrap(out, out.width - indent)):
                    part.rstrip()
                    out.print(
                        Line(f"    {'' if number else name}".ljust(indent)) + part, soft_wrap=True
                    )


def _lines(example: Difference, with_text: bool) -> dict[str, Line]:
    """Gold, both answers, and the text, each with what is marked in brackets and in bold."""
    answers = {"gold": example.gold, "A": example.prediction_a, "B": example.prediction_b}
    lines = {
        name: Line(f"{answer:.2f}" if isinstance(answer, float) else answer or "none")
        for name, answer in answers.items()
    }
    for name, text in example.texts.items() if with_text else ():
        line = lines.setdefault(name.replace("_", " "), Line())
        if line:
            line.append("  ")
        for piece in shortened(text):
            line.append(
                f"[{piece.text}]" if piece.marked else piece.text, "bold" if piece.marked else ""
            )
    return lines

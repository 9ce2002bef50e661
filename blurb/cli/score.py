"""`blurb score`: BLURB's metric for predictions of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli import _complete
from blurb.cli._formats import formats
from blurb.cli._options import STORE
from blurb.messages.text import grouped
from blurb.scoring.lines import Line, lines
from blurb.tasks import SCORED
from blurb.terminal.output import say, show

if TYPE_CHECKING:
    from blurb.scoring.scores import Score

TITLES = ("dataset", "score", "95 % interval", "majority", "floor", "best published", "examples", "matched")


def _lines() -> object:
    return list[Line]


def _names(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The mapping of `--map FILE=TASK`; a label may have a `=` of its own on the right."""
    names = {}
    for text in given:
        name, separator, label = text.partition("=")
        if not separator or not name or not label:
            raise click.BadParameter(f"expected NAME=LABEL (got '{text}').", context, parameter)
        names[name] = label
    return names


@click.command(name="score")
@click.option(
    "--predictions", required=True, type=click.Path(path_type=Path), help="File, or a folder with a file a dataset."
)
@click.option("--task", shell_complete=_complete.one_task, help="Dataset of the file: a name or a task file.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the datasets, which have the gold answers.")
@click.option("--suite", type=click.Choice(["blurb", "demo"]), default="blurb", show_default=True, help="Data suite.")
@click.option("--split", type=click.Choice(SCORED), default="test", show_default=True, help="Split of the predictions.")
@click.option(
    "--file-format",
    type=click.Choice(["conll", "tsv", "csv", "jsonl", "json", "parquet"]),
    help="Format of the file.  [default: by its ending]",
)
@click.option("--scheme", help="Tagging scheme: io, bio, iob1, bioul or iobes.  [default: by the letters of the tags]")
@click.option(
    "--map",
    "names",
    multiple=True,
    metavar="NAME=LABEL",
    callback=_names,
    help="Label in the file and label of the task; repeatable.",
)
@click.option("--column", metavar="NAME", help="Column of the predictions, in CoNLL its number.  [default: prediction]")
@click.option("--add", metavar="MODEL", help="Store the predictions as a trial of this model.")
@click.option(
    "--dev", type=click.Path(path_type=Path), help="--add: predictions of the same model on dev; a file or folder."
)
@click.option("--seed", type=click.IntRange(min=1), default=1, show_default=True, help="Seed of that trial.")
@click.option(
    "--gold-as-predictions", is_flag=True, help="--add: store answers even if all are equal to the gold answers."
)
@STORE
@formats(_lines)
def command(
    predictions: Path,
    task: str | None,
    data: Path | None,
    suite: str,
    split: str,
    file_format: str | None,
    scheme: str | None,
    names: dict[str, str],
    column: str | None,
    add: str | None,
    dev: Path | None,
    seed: int,
    gold_as_predictions: bool,
    output: Path,
    form: str,
) -> None:
    """Score predictions of any tool with BLURB's metric.

    Reads CoNLL, TSV, CSV, JSON lines, Parquet and BLURB's submission form (docs/score.md). Answers are matched to the
    examples by id, or by order. Figures are never taken, only predictions.
    """
    from blurb.api.scoring import score

    scores = score(
        task,
        predictions,
        data,
        suite=suite,
        split=split,  # type: ignore[arg-type]
        file_format=file_format,
        scheme=scheme,
        names=names,
        column=column,
        add=add,
        dev=dev,
        seed=seed,
        gold_as_predictions=gold_as_predictions,
        output=output,
    )
    _print(scores, form)
    if add is not None:
        click.echo(f"Added to {output} as {add}, seed {seed}: blurb leaderboard show --output {output}", err=True)


def _print(scores: Sequence[Score], form: str) -> None:
    if form != "table":
        columns = list(Line.__annotations__)
        show(columns, [tuple(line.values()) for line in lines(scores)], form)
        return
    show(TITLES, [_cells(score) for score in scores], form, numbers=TITLES[1:5])
    for score in scores:
        if score.all_classes is not None:
            every = score.all_classes
            say(
                f"{score.task.name}: accuracy over all classes is {every.accuracy:.2f}, which is not BLURB's metric: "
                f'the answer "{every.negative}" for all examples has {every.constant:.2f} there, and 0 under BLURB.'
            )
    for text in grouped((score.task.name, remark) for score in scores for remark in score.remarks):
        say(text)


def _cells(score: Score) -> tuple[object, ...]:
    interval = "" if score.interval is None else "{:.2f} to {:.2f}".format(*score.interval)
    best = "" if score.published is None else "{:.2f} {}".format(*score.published)
    return (
        score.task.name, f"{score.score:.2f}", interval, "" if score.majority is None else f"{score.majority:.2f}",
        "" if score.floor is None else f"{score.floor:.2f}", best, score.examples, score.matched,
    )  # fmt: skip

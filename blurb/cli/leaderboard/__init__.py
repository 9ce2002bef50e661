"""`blurb leaderboard`: rows shown, and tables shared between people and machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from blurb import names
from blurb.cli._group import Group
from blurb.cli._made import click_command
from blurb.cli.leaderboard.show import command as show, published_rows
from blurb.messages import SettingsError, UnknownName, count_noun
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.results import published, tables
from blurb.results.score import DATASETS
from blurb.row_files.references import table_rows


@click_command("leaderboard", cls=Group)
def command() -> None:
    """Show, merge, validate and publish rows."""


command.add_command(show)
command.add_command(published_rows)


@click_command("merge", within=command)
def merge(
    files: Annotated[tuple[Path, ...], Argument()],
    *,
    out: Annotated[Path, Option(help="Folder for the tables.", path="dir")],
) -> None:
    """Merge the results.csv of several machines into one.

    Also writes its leaderboard.csv.

    Identical lines are merged. If two files disagree about a run, both lines are reported and nothing is written.
    """
    lines = count_noun(tables.merge(files, out), "line")
    click.echo(
        f"{lines} of {count_noun(len(files), 'file')}: {out / 'results.csv'}, {out / 'leaderboard.csv'}"
    )


@click_command("add", within=command)
def add(
    *,
    model: Annotated[str, Option(help="Model name.")],
    source: Annotated[str, Option(help="Short name of the publication, such as gu2021.")],
    version: Annotated[str, Option(help="Edition, table or date of the publication.")] = "",
    scores: Annotated[
        tuple[str, ...],
        Option(
            help="Score times 100; repeatable. Use 'score' as DATASET for the printed mean.",
            flag="--score",
            metavar="DATASET=NUMBER",
        ),
    ],
    times_100: Annotated[
        bool, Option(help="Confirms that scores of 1 or less are also times 100.")
    ] = False,
    runs: Annotated[
        int | None, Option(help="Number of runs that each score is a mean of.", low=1)
    ] = None,
    recalled: Annotated[
        bool, Option(help="The numbers were not read in the publication itself.")
    ] = False,
    output: Annotated[Path, OUTPUT] = Path("runs"),
    leaderboard: Annotated[
        Path | None,
        Option(
            help="Table, if it is not in the store; the numbers go into external.csv in its folder."
        ),
    ] = None,
) -> None:
    """Add published numbers of others.

    They appear in leaderboard.csv when it is written next."""
    for text, option in (
        (model, "--model"),
        (source, "--source"),
        *([(version, "--version")] if version else []),
    ):
        names.check(text, option, option)
    by_task: dict[str, float] = {}
    for text in scores:
        name, _, number = text.partition("=")
        if name not in (*DATASETS, "score"):
            raise UnknownName("dataset", name, [*DATASETS, "score"])
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 100 or name in by_task:
            raise SettingsError(
                f"--score {text}: must be DATASET=NUMBER with a number from 0 to 100, each dataset once."
            )
        if 0 < value <= 1 and not times_100:
            raise SettingsError(
                f"--score {text}: scores are times 100. Did you mean {name}={100 * value:g}? If not, add --times-100."
            )
        by_task[name] = value
    printed = by_task.pop("score", None)
    counts = dict.fromkeys(by_task, runs) if runs else {}
    certainty = "recalled" if recalled else published.PRINTED
    numbers = published.Printed(source, version, model, by_task, counts, printed, certainty)
    path = tables.place(output, leaderboard).with_name("external.csv")
    published.add(path, numbers)
    click.echo(
        f"{model}: {count_noun(len(by_task), 'dataset')}{' and the mean' * (printed is not None)} added to {path}."
    )


@click_command("validate", within=command)
def validate(file: Annotated[Path, Argument()]) -> None:
    """Check that blurb can read a table.

    FILE is a results.csv, leaderboard.csv or external.csv.

    If it cannot, the message names the line and the exit code is 2.
    """
    rows = table_rows(file)
    for row in rows:
        click.echo(f"{row.name}: {count_noun(len(row.means()), 'dataset')}")
    click.echo(f"{file}: {count_noun(len(rows), 'row')}, valid.")

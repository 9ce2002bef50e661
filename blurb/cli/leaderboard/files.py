"""`blurb leaderboard merge`, `add` and `validate`: tables that go from hand to hand."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the tables.")
def merge(files: tuple[Path, ...], out: Path) -> None:
    """Make one results.csv, and its leaderboard.csv, from the results.csv of several machines.

    Lines that agree are one. Where two files say something else of one run, both places are named and nothing is
    written.
    """
    from blurb.leaderboard import merging

    count = merging.merge(files, out)
    click.echo(f"{count:,} lines of {len(files)} files: {out / 'results.csv'}, {out / 'leaderboard.csv'}")


@click.command(name="add")
@click.option("--model", required=True, help="Name of the model.")
@click.option("--source", required=True, help="Short name of the source, such as gu2021.")
@click.option("--version", default="", help="Which edition, table, date.")
@click.option(
    "--score", "scores", multiple=True, required=True, metavar="DATASET=NUMBER",
    help="Times 100; repeatable. DATASET may be 'score' for the printed mean.",
)  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), help="How many runs each number is the mean of.")
@click.option("--recalled", is_flag=True, help="The numbers were not read in their source.")
@click.option("--leaderboard", type=click.Path(path_type=Path), default="leaderboard.csv", show_default=True,
              help="The numbers go into external.csv beside it.")  # fmt: skip
def add(
    model: str, source: str, version: str, scores: tuple[str, ...], runs: int | None, recalled: bool, leaderboard: Path
) -> None:
    """Add someone's published numbers; they appear in leaderboard.csv when it is next written."""
    from blurb.errors import SettingsError, UnknownName
    from blurb.leaderboard import merging, published, tables

    found: dict[str, float] = {}
    for text in scores:
        name, _, number = text.partition("=")
        if name not in (*tables.NAMES, "score"):
            raise UnknownName("dataset", name, [*tables.NAMES, "score"])
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 100 or name in found:
            raise SettingsError(f"--score {text}: expected DATASET=NUMBER, a number from 0 to 100, each dataset once.")
        found[name] = value
    printed = found.pop("score", None)
    counts = dict.fromkeys(found, runs) if runs else {}
    row = published.PublishedRow(
        source, version, model, found, counts, printed, "recalled" if recalled else published.PRINTED
    )
    path = leaderboard.with_name("external.csv")
    merging.add(path, row)
    click.echo(f"{model}: {len(found)} datasets added to {path}.")


@click.command(name="validate")
@click.argument("file", type=click.Path(path_type=Path))
def validate(file: Path) -> None:
    """Is FILE a results.csv, leaderboard.csv or external.csv that blurb can read? Exit code 2, and the line, if not."""
    from blurb.leaderboard import cells, published
    from blurb.leaderboard.sides import of_file

    columns, _ = cells.read(file)
    if columns[: len(published.COLUMNS)] == published.COLUMNS:
        rows = [f"{row.model} ({row.source}): {len(row.scores)} datasets" for row in published.read(file)]
    else:
        rows = [f"{side.name}: {len(side.means)} datasets" for _, side in of_file(file, "test", alone=True)]
    for row in rows:
        click.echo(row)
    click.echo(f"{file}: {len(rows)} rows, fine.")

"""`blurb leaderboard show` and `published`: rows for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli._output import FORMATS, show

if TYPE_CHECKING:
    from blurb.leaderboard.ranking import Entry
    from blurb.results.row_scores import RowScores
    from blurb.tasks import Split


@click.command(name="show")
@click.option("--output", type=click.Path(path_type=Path), default="runs", show_default=True, help="Folder of trials.")
@click.option("--sort", "column", default="score", show_default=True, help="A dataset, a task type, or score.")
@click.option("--model", default="*", help="Rows whose model fits a pattern, such as 'bert*'.")
@click.option("--protocol", default="*", help="Rows whose protocol fits a pattern.")
@click.option("--head", default="*", help="Rows with a head that fits a pattern.")
@click.option(
    "--suite", type=click.Choice(["blurb", "demo"]), help="Real or synthetic data.  [default: real, if there is any]"
)
@click.option("--datasets", is_flag=True, help="The thirteen datasets instead of the six means.")
@click.option("--no-published", is_flag=True, help="Leave out the published rows.")
@click.option("--no-intervals", is_flag=True, help="Leave out the intervals; quicker.")
@click.option("--without", type=click.Choice(["leaks"]), help="Score without the test units that are in train.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the datasets, for --without.")
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def command(
    output: Path, column: str, model: str, protocol: str, head: str, suite: str | None, datasets: bool,
    no_published: bool, no_intervals: bool, without: str | None, data: Path | None, form: str,
) -> None:  # fmt: skip
    """Show the rows of the store, the best first, with 95 % intervals over runs and test units.

    A rank such as 2-4 says that the intervals do not separate the row from those around it. Published rows have no
    predictions, so no intervals.
    """
    from blurb import tasks
    from blurb.errors import SettingsError, UnknownName
    from blurb.leaderboard import ranking
    from blurb.results import from_store, published
    from blurb.results.row_scores import DATASETS
    from blurb.runs.store import Store

    if column not in (*DATASETS, *tasks.TYPES, ranking.SCORE):
        raise UnknownName("column", column, [*DATASETS, *tasks.TYPES, ranking.SCORE])
    rows = ranking.select(from_store.read(Store(output)), model, protocol, head)
    suites = {row.suite for row in rows}
    suite = suite or ("blurb" if "blurb" in suites else "demo")  # the two never share a table
    rows = [row for row in rows if row.suite == suite]
    if not rows:
        raise SettingsError(f"{output}: there is no finished row that fits.")
    left_out = _leaks(rows, data) if without else None
    entries = [ranking.of_row(row, not no_intervals, left_out) for row in rows]
    if not no_published and not left_out and suite == "blurb":
        entries += [ranking.of_row(row) for row in published.shipped()]
    shown = DATASETS if datasets else (*tasks.TYPES, ranking.SCORE)
    if column not in shown:
        shown = (*shown, column)
    lines = [
        (rank, entry.name, *(_cell(entry, name, form) for name in shown), "/".join(map(str, sorted(entry.runs))))
        for rank, entry in ranking.ranked(entries, column)
    ]
    show(("rank", "row", *shown, "runs"), lines, form, numbers=("rank", *shown, "runs"))
    for entry in entries if form == "table" else ():
        if entry.capped:
            click.echo(f"{entry.name}: not ranked, as a part of the units was scored ({entry.note}).")
        elif entry.note:
            click.echo(f"{entry.name}: {entry.note}.")
    if left_out and form == "table":
        counts = ", ".join(f"{name} {len(ids)}" for name, ids in left_out.items() if ids)
        click.echo(f"Test units left out, as their input is in train: {counts or 'none'}.")


def _cell(entry: Entry, name: str, form: str) -> str:
    if name not in entry.values:
        return ""
    text = f"{entry.values[name]:.2f}"
    if name not in entry.intervals:
        return text
    low, high = entry.intervals[name]
    return f"{text} [{low:.1f}, {high:.1f}]"


def _leaks(rows: list[RowScores], folder: Path | None) -> dict[str, set[str]]:
    """The test units of each dataset, as the trials cut it, that are in its train set."""
    from blurb import data, formulations, tasks
    from blurb.data.audit import leaks
    from blurb.errors import SettingsError

    if folder is None:
        raise SettingsError("--without leaks looks for the texts in the data: give their folder with --data.")
    found: dict[str, set[str]] = {}
    names = {task for row in rows for task in row.records}
    for task in (task for task in tasks.all() if task.name in names):
        splits = {split: data.read_split(task, folder, split) for split in LEAKING}
        trials = [record.trial for row in rows for record in row.records_of(task.name).values()]
        ways = {tuple(sorted(formulations.bind(task, trial.settings).options.items())): trial for trial in trials}
        for trial in ways.values():  # HoC by sentence and by abstract have units of other names
            cut = formulations.bind(task, trial.settings)
            found.setdefault(task.name, set()).update(
                leaks(task, {split: cut.units(part) for split, part in splits.items()})
            )
    return found


LEAKING: tuple[Split, ...] = ("train", "test")


@click.command(name="published")
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def published_rows(form: str) -> None:
    """Show the published rows that come with blurb: the printed score beside the one recomputed from the datasets.

    numbers: printed (read in that source), quoted (second hand) or recalled.
    """
    from blurb import tasks
    from blurb.leaderboard import ranking
    from blurb.results import published
    from blurb.results.score import blurb_score

    columns = ("row", "version", *tasks.TYPES, "score", "recomputed", "numbers")
    rows = []
    for row in published.shipped():
        entry = ranking.of_row(row)
        cells = (f"{entry.values[name]:.2f}" if name in entry.values else "" for name in (*tasks.TYPES, ranking.SCORE))
        again = blurb_score(row.means())
        rows.append((entry.name, row.version, *cells, "" if again is None else f"{again:.2f}", row.certainty))
    show(columns, rows, form, numbers=columns[2:-1])
    if form == "table":
        for row in published.shipped():
            for remark in row.remarks:
                click.echo(f"{row.name}: {remark}.")

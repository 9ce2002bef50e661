"""`blurb leaderboard show` and `published`: rows in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli import _complete
from blurb.cli._options import STORE
from blurb.terminal.output import FORMATS, show

if TYPE_CHECKING:
    from blurb.leaderboard.ranking import RankedRow
    from blurb.results.row_scores import RowScores
    from blurb.tasks import Split


@click.command(name="show")
@STORE
@click.option(
    "--sort",
    "column",
    shell_complete=_complete.columns,
    default="score",
    show_default=True,
    help="Column to sort by: a dataset, a task type, or score.",
)
@click.option("--model", default="*", help="Show only models that match a pattern, such as 'bert*'.")
@click.option("--protocol", default="*", help="Show only protocols that match a pattern.")
@click.option("--head", default="*", help="Show only heads that match a pattern.")
@click.option(
    "--suite", type=click.Choice(["blurb", "demo"]), help="Real or synthetic data.  [default: blurb, if it has rows]"
)
@click.option("--datasets", is_flag=True, help="Show the thirteen datasets instead of the six means.")
@click.option("--no-published", is_flag=True, help="Leave out the published rows.")
@click.option("--no-intervals", is_flag=True, help="Leave out the intervals (faster).")
@click.option("--without", type=click.Choice(["leaks"]), help="Score without the test examples that occur in train.")
@click.option("--data", type=click.Path(path_type=Path), help="Data folder, for --without.")
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def command(
    output: Path, column: str, model: str, protocol: str, head: str, suite: str | None, datasets: bool,
    no_published: bool, no_intervals: bool, without: str | None, data: Path | None, form: str,
) -> None:  # fmt: skip
    """Show the rows of the store, best first, with 95 % intervals over runs and test examples.

    A rank such as 2-4 means that the intervals do not separate the row from its neighbours. Published rows have no
    predictions and therefore no intervals.
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
        raise SettingsError(f"{output}: no finished row matches the options.")
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
            click.echo(f"{entry.name}: not ranked, as only some of the examples were scored ({entry.note}).")
        elif entry.note:
            click.echo(f"{entry.name}: {entry.note}.")
    if left_out and form == "table":
        counts = ", ".join(f"{name} {len(ids)}" for name, ids in left_out.items() if ids)
        click.echo(f"Test examples left out because their input occurs in train: {counts or 'none'}.")


def _cell(entry: RankedRow, name: str, form: str) -> str:
    if name not in entry.values:
        return ""
    text = f"{entry.values[name]:.2f}"
    if name not in entry.intervals:
        return text
    low, high = entry.intervals[name]
    return f"{text} [{low:.1f}, {high:.1f}]"


def _leaks(rows: list[RowScores], folder: Path | None) -> dict[str, set[str]]:
    """The test examples of each dataset, as the trials cut it, whose input occurs in its train set."""
    from blurb import data, formulations, tasks
    from blurb.data.audit import leaks
    from blurb.errors import SettingsError

    if folder is None:
        raise SettingsError("--without leaks compares the texts of the data; add --data.")
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
    """Show the published rows that come with blurb: the printed score, and the score recomputed from the datasets.

    The column 'numbers' is printed (read in that publication), quoted (read elsewhere) or recalled (from memory).
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

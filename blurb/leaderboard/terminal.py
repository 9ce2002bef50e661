"""The final output of `blurb run`: each dataset, the six means, and the score or what is missing.

Names and titles come from users, so they go into `Text`, which does not interpret brackets as markup.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from blurb import tasks
from blurb.messages import format_number, say_once
from blurb.results import predictions, published
from blurb.results.row import Row
from blurb.results.score import in_order

SHORT = {name: tasks.types.get(name).short for name in tasks.TYPES}


CARDS = 3
"""Maximum number of rows with a card of their own; more are lines of one table."""
NAME = 24
"""Characters that the name of a row has at least in a table of many."""


def render_rows(rows: Sequence[Row], width: int = 120) -> RenderableType:
    """The rows of a run: a card each, or one table if there are many.

    :param width: of the terminal
    """
    return Group(*map(card, rows)) if len(rows) <= CARDS else _compact_table(rows, width)


def card(row: Row) -> RenderableType:
    """The datasets of one row, its score or what is missing, and notes."""
    notes = [Text(text, style="yellow") for text in _notes_on_row(row)]
    if _is_of_blurb(row):
        notes.insert(0, _score_text(row))
    return Group(_dataset_table(row), *notes)


def _is_of_blurb(row: Row) -> bool:
    """Whether a row has tasks of BLURB; a user's own have no score, and no release to be verified against."""
    return any(name not in row.own_tasks for name in row.datasets)


def _notes_on_row(row: Row) -> list[str]:
    notes = [f"Note: {row.note}."] if row.note else []
    if _is_of_blurb(row) and row.data not in ("synthetic", "verified"):
        notes.append(f"The data is not verified as BLURB's: {row.data}.")
    if alike := [
        name for name, _ in in_order(row.datasets) if predictions.equals_a_constant(row, name)
    ]:
        notes.append(f"{', '.join(alike)}: the score of a constant answer.")
    return notes


def _compact_table(rows: Sequence[Row], width: int) -> RenderableType:
    """One line per row, with the mean on test of every dataset; notes on several rows are shown once."""
    names = list(
        dict.fromkeys(task.name for task in tasks.all() for row in rows if row.seeds(task.name))
    )
    tables = [_lines_of_rows(rows, names, mean_and_sd)]
    if (
        Measurement.get(Console(width=10_000), Console(width=10_000).options, tables[0]).minimum
        > width
    ):
        room = max(1, (width - NAME) // (len("ncbi-disease") + 1))
        tables = [
            _lines_of_rows(
                rows, names[start : start + room], lambda values: f"{statistics.fmean(values):.2f}"
            )
            for start in range(0, len(names), room)
        ]
    lost = {
        row.name: [_score_text(row).plain]
        for row in rows
        if _is_of_blurb(row) and row.score is None
    }
    said = [
        (row.name, text) for row in rows for text in (*lost.get(row.name, ()), *_notes_on_row(row))
    ]
    return Group(*tables, *(Text(text, style="yellow") for text in say_once(said, len(rows))))


def _lines_of_rows(
    rows: Sequence[Row], names: Sequence[str], cell: Callable[[list[float]], str]
) -> Table:
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(
        "row", overflow="fold", min_width=min(NAME, max(len(row.name) for row in rows))
    )
    for name in (*names, "runs"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = [cell(row.values(name)) if row.values(name) else "" for name in names]
        there = [row.datasets[name] for name in names if name in row.datasets]
        done, planned = sum(len(one.runs) for one in there), sum(one.planned for one in there)
        table.add_row(
            *map(Text, (row.name, *cells)), str(done) if done == planned else f"{done} of {planned}"
        )
    floors = [
        {format_number(predictions.best_constant(row, name)) for row in rows if row.values(name)}
        for name in names
    ]
    shared = [floor.pop() if len(floor) == 1 else "" for floor in floors]
    if any(shared):
        table.add_section()
        table.add_row("best constant", *shared, style="dim")
    return table


def _dataset_table(row: Row) -> Table:
    title = Text(
        f"{row.model}   {row.configuration.text}   {row.configuration.precision}", style="bold"
    )
    compared = row.data != "synthetic" and row.kind.is_fine_tuning
    best = {
        name: one for name, one in published.best_of_paper().items() if compared and row.seeds(name)
    }
    table = Table(
        title=title,
        title_justify="left",
        header_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("dataset")
    table.add_column("metric")
    for column in ("dev", "test", "best\nconstant", *(["best of Table 6"] if best else [])):
        table.add_column(column, justify="right")
    table.add_column("seeds", justify="right")
    for task in tasks.all():
        name = task.name
        if not row.seeds(name):
            continue
        dataset = row.datasets[name]
        dev, floor = (
            format_number(dataset.mean("dev")),
            format_number(predictions.best_constant(row, name)),
        )
        cells = [task.title, dataset.metric, dev, mean_and_sd(row.values(name)), floor]
        if best:
            cells.append("{:.2f} {}".format(*best[name]) if name in best else "")
        planned, done = dataset.planned, len(dataset.runs)
        table.add_row(*map(Text, cells), str(done) if done == planned else f"{done} of {planned}")
    return table


def mean_and_sd(values: list[float]) -> str:
    """`74.92 ± 0.31`; a single run has no deviation."""
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def _score_text(row: Row) -> Text:
    if row.score is None:
        why = f"{', '.join(row.missing)} missing" if row.missing else row.doubts
        return Text(f"No BLURB score: {why}.", style="yellow")
    name = "Demo score" if row.data == "synthetic" else "BLURB score"
    text = f"{name}: {row.score:.2f}"
    if row.spread is not None:
        text += f" (sd over seeds {row.spread[0]:.2f})"
    return Text(text, style="bold green")

"""What `blurb run` prints at its end: each dataset, the six means, and the score or what is missing."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from blurb import tasks
from blurb.leaderboard.published import best_of_paper
from blurb.leaderboard.rows import Result
from blurb.tasks import TYPE_TITLES


def render(row: Result) -> RenderableType:
    """The tables of one row."""
    demo = row.data == "synthetic"
    title = f"{row.model}   {row.configuration.text}   {row.configuration.precision}"
    parts: list[RenderableType] = [_datasets(row, title, demo), _means(row), _score(row)]
    if row.configuration.note:
        parts.append(Text(f"Note: {row.configuration.note}.", style="yellow"))
    if not demo and row.data != "verified":
        parts.append(Text(f"Data not verified as BLURB's: {row.data}.", style="yellow"))
    return Group(*parts)


def _datasets(row: Result, title: str, demo: bool) -> Table:
    best = {} if demo else best_of_paper()
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    table.add_column("dataset")
    table.add_column("metric")
    for column in ("dev", "test", "majority", *(["best of Table 6"] if best else [])):
        table.add_column(column, justify="right")
    table.add_column("seeds", justify="right")
    names = [task.name for task in tasks.all() if task.name in row.records]
    for name in names:
        record = next(iter(row.records[name].values()))
        cells = [
            tasks.get(name).title,
            record.metrics["metric"],
            f"{statistics.fmean(row.values(name, 'dev')):.2f}",
            mean_and_sd(row.values(name)),
            f"{statistics.fmean(row.values(name, baseline=True)):.2f}",
        ]
        if best:
            cells.append("{:.2f} {}".format(*best[name]) if name in best else "")
        planned = len(row.planned.get(name, ()))
        done = len(row.seeds(name))
        table.add_row(*cells, str(done) if done == planned else f"{done} of {planned}")
    return table


def mean_and_sd(values: list[float]) -> str:
    """`74.92 ± 0.31`; one run has no deviation."""
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def _means(row: Result) -> RenderableType:
    means = row.type_means()
    if not means:
        return Text()
    table = Table(show_header=True, header_style="bold")
    for kind in means:
        table.add_column(TYPE_TITLES[kind], justify="right")
    table.add_row(*(f"{value:.2f}" for value in means.values()))
    return table


def _score(row: Result) -> Text:
    if row.score is None:
        return Text(f"No BLURB score: {', '.join(row.missing)} missing.", style="yellow")
    name = "Demo score" if row.data == "synthetic" else "BLURB score"
    text = f"{name}: {row.score:.2f}"
    if row.spread is not None:
        text += f" (sd over seeds {row.spread[0]:.2f})"
    return Text(text, style="bold green")

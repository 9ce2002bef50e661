"""The final output of `blurb run`: each dataset, the six means, and the score or what is missing.

Names and titles come from users, so they go into `Text`, which does not interpret brackets as markup.
"""

from __future__ import annotations

import statistics

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from blurb import tasks
from blurb.results import published
from blurb.results.row_scores import RowScores
from blurb.tasks import TYPES

SHORT = {name: tasks.types.get(name).short for name in TYPES}


def render(row: RowScores) -> RenderableType:
    """The datasets of one row, its score or what is missing, and notes."""
    parts: list[RenderableType] = [_datasets(row)]
    of_blurb = any(name not in row.own_tasks for name in row.datasets)
    if of_blurb:  # tasks of one's own have no score, and no release to be verified against
        parts.append(_score(row))
    if row.note:
        parts.append(Text(f"Note: {row.note}.", style="yellow"))
    if of_blurb and row.data not in ("synthetic", "verified"):
        parts.append(Text(f"The data is not verified as BLURB's: {row.data}.", style="yellow"))
    return Group(*parts)


def _datasets(row: RowScores) -> Table:
    title = Text(f"{row.model}   {row.configuration.text}   {row.configuration.precision}", style="bold")
    compared = row.data != "synthetic" and not row.probe
    best = {name: one for name, one in published.best_of_paper().items() if compared and row.seeds(name)}
    table = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD,
                  padding=(0, 1, 0, 0), pad_edge=False)  # fmt: skip
    table.add_column("dataset")
    table.add_column("metric")
    for column in ("dev", "test", "majority", *(["best of Table 6"] if best else [])):
        table.add_column(column, justify="right")
    table.add_column("seeds", justify="right")
    for task in tasks.all():
        name = task.name
        if not row.seeds(name):
            continue
        dataset = row.datasets[name]
        numbers = (dataset.mean("dev"), dataset.majority())
        dev, majority = ("" if number is None else f"{number:.2f}" for number in numbers)
        cells = [task.title, dataset.metric, dev, mean_and_sd(row.values(name)), majority]
        if best:
            cells.append("{:.2f} {}".format(*best[name]) if name in best else "")
        planned, done = dataset.planned, len(dataset.runs)
        table.add_row(*map(Text, cells), str(done) if done == planned else f"{done} of {planned}")
    return table


def mean_and_sd(values: list[float]) -> str:
    """`74.92 ± 0.31`; a single run has no deviation."""
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def _score(row: RowScores) -> Text:
    if row.score is None:
        return Text(f"No BLURB score: {', '.join(row.missing)} missing.", style="yellow")
    name = "Demo score" if row.data == "synthetic" else "BLURB score"
    text = f"{name}: {row.score:.2f}"
    if row.spread is not None:
        text += f" (sd over seeds {row.spread[0]:.2f})"
    return Text(text, style="bold green")

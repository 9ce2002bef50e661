"""What `blurb run` prints at its end: each dataset, the six means, and the score or what is missing.

Names and titles are those of others: they go into `Text`, which does not take brackets for markup.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from blurb import tasks
from blurb.results import published
from blurb.results.rows import Result
from blurb.results.score import type_means
from blurb.runs.spec import PROBE
from blurb.tasks import TYPES, TaskType

SHORT = {"ner": "NER", "pico": "PICO", "relation": "RE", "similarity": "STS", "document": "Doc", "qa": "QA"}


def render(row: Result) -> RenderableType:
    """The datasets of one row, its score or what is missing, and what to know about it."""
    parts: list[RenderableType] = [_datasets(row), _score(row)]
    if row.note:
        parts.append(Text(f"Note: {row.note}.", style="yellow"))
    if row.data not in ("synthetic", "verified"):
        parts.append(Text(f"Data not verified as BLURB's: {row.data}.", style="yellow"))
    return Group(*parts)


def comparison(rows: Sequence[Result]) -> RenderableType:
    """The six means and the score of these rows, with the published rows below (source, and runs a dataset)."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("row")
    for heading in (*SHORT.values(), "score", "runs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        counts = {len(row.seeds(name)) for name in row.records}
        table.add_row(Text(row.model), *_cells(row.type_means(), row.score), _runs(counts), style="bold")
    if all(row.data == "synthetic" or row.learner == PROBE for row in rows):
        return table  # published rows are of real data and of fine-tuned encoders
    notes: list[str] = []
    for other in published.shipped():
        notes += [note for note in other.notes if note not in notes]
        marks = "".join(f"[{notes.index(note) + 1}]" for note in other.notes)
        cells = _cells(type_means(other.scores), other.total)
        name = Text(" ".join(filter(None, (other.source, other.model, marks))))
        table.add_row(name, *cells, _runs(set(other.runs.values())), style="dim")
    return Group(table, *(Text(f"[{number}] {note}", style="dim") for number, note in enumerate(notes, 1)))


def _datasets(row: Result) -> Table:
    title = Text(f"{row.model}   {row.configuration.text}   {row.configuration.precision}", style="bold")
    best = {} if row.data == "synthetic" or row.learner == PROBE else published.best_of_paper()
    table = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD,
                  padding=(0, 1, 0, 0), pad_edge=False)  # fmt: skip
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
        table.add_row(*map(Text, cells), str(done) if done == planned else f"{done} of {planned}")
    return table


def _runs(counts: set[int]) -> str:
    return "/".join(map(str, sorted(counts)))


def mean_and_sd(values: list[float]) -> str:
    """`74.92 ± 0.31`; one run has no deviation."""
    mean = f"{statistics.fmean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def _cells(means: Mapping[TaskType, float], score: float | None) -> list[str]:
    cells = [f"{means[kind]:.2f}" if kind in means else "" for kind in TYPES]
    return [*cells, "" if score is None else f"{score:.2f}"]


def _score(row: Result) -> Text:
    if row.score is None:
        return Text(f"No BLURB score: {', '.join(row.missing)} missing.", style="yellow")
    name = "Demo score" if row.data == "synthetic" else "BLURB score"
    text = f"{name}: {row.score:.2f}"
    if row.spread is not None:
        text += f" (sd over seeds {row.spread[0]:.2f})"
    return Text(text, style="bold green")

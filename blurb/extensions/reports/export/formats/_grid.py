"""The content of a table: a column per model, a line per dataset in the order of the paper's Table 6, score last.

Shared by both formats for the Hugging Face Hub: the scores of a dataset.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from blurb import names, tasks
from blurb.extensions.reports.export.formats import ExportRequest, real_row, rows
from blurb.extensions.reports.generalisation import read_generalisation, show_interval
from blurb.extensions.reports.html.collect import title_of
from blurb.extensions.reports.html.model import winners
from blurb.messages import SettingsError, StoreError, UnknownName, group_reasons, opt
from blurb.results import groups
from blurb.results.comparability import ONE_SEED
from blurb.results.row import DEMO, Published, Row
from blurb.results.score import DATASETS, SCORE
from blurb.row_files.references import PUBLISHED, resolve_all

OPTIONS = frozenset({"published", "sd", "transpose", "generalisation"})
MOST = 10
"""Models that a page has columns for, as the Table 6 of the paper; more of them are lines."""
TITLE_OF_SCORE = "BLURB score"
SOURCE = "Gu et al., ACM Transactions on Computing for Healthcare 3(1), 2021"


@dataclass(frozen=True)
class ExportCell:
    """A number as printed, "" if missing. `best` marks the best of its dataset among two or more models."""

    text: str = ""
    sd: str = ""
    best: bool = False


@dataclass(frozen=True)
class ExportColumn:
    """One model. Scores are times 100; `sd` is over seeds, for datasets with two or more.

    :param note: what to know of it, without its name, as models with the same note share a line
    :param standing: among which columns it can be the best
    """

    name: str
    figures: dict[str, float]
    sd: dict[str, float]
    note: str
    standing: groups.Standing


@dataclass(frozen=True)
class ExportTable:
    """A table: `cells` has a line for each of `lines` with a cell for each of `heads`."""

    corner: str
    heads: Sequence[str]
    lines: Sequence[str]
    cells: Sequence[Sequence[ExportCell]]
    caption: str
    notes: Sequence[str]


def grid(requested: ExportRequest) -> ExportTable:
    """The requested table, published rows first; what has no figure is left out unless it was asked for by name."""
    if requested.generalisation is not None:
        return _seen_table(requested, requested.generalisation)
    named = [name.removeprefix(f"{PUBLISHED}:") for name in requested.published]
    others = list(
        {
            row.primary_key: row
            for name in named
            for row in resolve_all(f"{PUBLISHED}:{name}", requested.store)
        }.values()
    )
    own = rows(requested, optional=bool(others))
    if not requested.rows and others:
        own = [row for row in own if row.suite != DEMO]
    is_demo = any(row.suite == DEMO for row in own)
    if others and is_demo:
        raise SettingsError(
            "Rows of the synthetic demo suite cannot be compared with published ones",
            fix=f"remove {opt('published')}.",
        )
    columns = [_column(row, own, requested.datasets) for row in [*others, *own]]
    columns = [column for column in columns if column.figures or requested.rows]
    titles = {task.name: task.title for task in requested.datasets}
    if titles.keys() >= set(DATASETS):
        titles[TITLE_OF_SCORE] = "Demo score" if is_demo else TITLE_OF_SCORE
    present = {name for column in columns for name in column.figures} | requested.named
    if not columns or not present:
        raise StoreError(
            f"No finished row has a figure of {', '.join(titles)}",
            fix=f"check {opt('tasks')} and {opt('output')}.",
        )
    titles = {key: title for key, title in titles.items() if key in present}
    cells = [_line(columns, key, requested.sd) for key in titles]
    names = [column.name for column in columns]
    notes = group_reasons((column.name, column.note) for column in columns)
    caption = _caption(
        columns, titles, requested.sd, any(cell.best for line in cells for cell in line)
    )
    if requested.transpose or len(names) > MOST:
        turned = list(zip(*cells, strict=True))
        return ExportTable("model", [*titles.values()], names, turned, caption, notes)
    return ExportTable("dataset", names, [*titles.values()], cells, caption, notes)


def _seen_table(requested: ExportRequest, path: Path) -> ExportTable:
    """The figures of seen and unseen strings, a line for each row, dataset and class."""
    if others := sorted(requested.given - {"generalisation"}):
        raise SettingsError(
            f"{opt(others[0])} is of tables of scores",
            fix=f"remove it, or {opt('generalisation')}.",
        )
    lines = read_generalisation(path)
    present = dict.fromkeys(line.row for line in lines)
    for name in requested.rows:
        if name not in present:
            raise UnknownName("row", name, present, where=path)
    chosen = {task.name for task in requested.datasets}
    # With all of BLURB's, tasks of one's own stand there, too.
    is_whole = chosen >= {task.name for task in tasks.all() if task.paper_order}
    lines = [
        line
        for line in lines
        if line.row in (requested.rows or present) and (is_whole or line.task in chosen)
    ]
    if not lines:
        raise StoreError(f"{path} has no figure of these datasets", fix=f"check {opt('tasks')}.")
    several = len({line.row for line in lines}) > 1
    cells = [
        [ExportCell(show_interval(name, line)) for name in ("share", "precision", "recall", "f1")]
        for line in lines
    ]
    names = [f"{line.row}, " * several + f"{title_of(line.task)}, {line.strings}" for line in lines]
    caption = (
        "Strings that the train split has as mentions (seen) and all others: share of the gold mentions in percent, "
        "and figures times 100 with 95 % intervals over runs and test examples."
    )
    capped = dict.fromkeys((line.task, line.row) for line in lines if line.capped)
    notes = group_reasons((task, f"{row} learnt from a part of train") for task, row in capped)
    return ExportTable(
        "dataset", ["share", "precision", "recall", "F1"], names, cells, caption, notes
    )


def _caption(columns: Sequence[ExportColumn], keys: Collection[str], sd: bool, bold: bool) -> str:
    """The caption, which mentions only what the table contains."""
    text = "Test scores times 100"
    if sd and any(column.sd for column in columns):
        text += " with the standard deviation over seeds"
    if bold:
        text += "; the best of each dataset is bold"
        if len({column.standing.key for column in columns}) > 1:
            text += ", among models of one protocol and kind"
    if TITLE_OF_SCORE in keys:
        return f"{text}. The score is the mean of six task-type means ({SOURCE})."
    return f"{text}."


def _line(columns: Sequence[ExportColumn], key: str, sd: bool) -> list[ExportCell]:
    """A line of the table. Ties in print are all marked as best; models compete within their groups."""
    texts = [f"{column.figures[key]:.2f}" if key in column.figures else "" for column in columns]
    values = {place: float(text) for place, text in enumerate(texts) if text}
    best = winners(
        values, [column.standing for column in columns], SCORE if key == TITLE_OF_SCORE else key
    )
    return [
        ExportCell(text, f"{column.sd[key]:.2f}" if sd and key in column.sd else "", place in best)
        for place, (text, column) in enumerate(zip(texts, columns, strict=True))
    ]


def _column(row: Row, own: Sequence[Row], datasets: Sequence[tasks.Task]) -> ExportColumn:
    means = row.means()
    figures = {task.name: means[task.name] for task in datasets if task.name in means}
    deviations = {
        name: statistics.stdev(values) for name in figures if len(values := row.values(name)) > 1
    }
    if row.score is not None:
        figures[TITLE_OF_SCORE] = row.score
        if row.spread is not None:
            deviations[TITLE_OF_SCORE] = row.spread[0]
    if isinstance(row, Published):
        return ExportColumn(
            row.name, figures, {}, "; ".join([row.version, *row.remarks]), groups.standing(row)
        )
    made = row.configuration
    alike = [other.model for other in own].count(row.model) > 1
    setting = " ".join(
        dict.fromkeys([*made.text.split(), *made.precision.split(), *row.detail.split()])
    )
    name = f"{row.model} ({setting})" if alike else row.model
    counts = sorted({len(row.seeds(name)) for name in figures if name != TITLE_OF_SCORE})
    seeds = (
        "/".join(map(str, counts)) + " " + (row.kind.runs[:-1] if counts == [1] else row.kind.runs)
    )
    facts = [*([] if alike else [setting]), seeds if counts else "none of these datasets"]
    if row.data == "synthetic":
        facts.append("synthetic data")
    elif row.data != "verified":
        facts.append(f"data not verified as BLURB's: {row.data}")
    # The seeds have a place of their own.
    facts += [part for part in row.note.split("; ") if part and part != ONE_SEED]
    return ExportColumn(
        name, figures, deviations, "; ".join(dict.fromkeys(facts)), groups.standing(row)
    )


class ExportFigure(NamedTuple):
    """Mean over seeds of one dataset, times 100.

    :param metric: name of the metric in `metrics.json`
    :param sd: standard deviation over seeds; None for a single seed
    :param verdict: verdict on the data
    """

    task: tasks.Task
    metric: str
    value: float
    sd: float | None
    seeds: tuple[int, ...]
    verdict: str

    def facts(self, row: Row) -> dict[str, Any]:
        """The configuration behind the number."""
        facts = {
            "protocol": row.configuration.text or None,
            "precision": row.configuration.precision or None,
            "note": row.note or None,
            "step": (names.run_and_step(row.model) or (row.model, None))[1],
            row.kind.runs: len(self.seeds),
            "sd": self.sd,
        }
        return {name: fact for name, fact in facts.items() if fact is not None}


def figures(requested: ExportRequest) -> tuple[Row, list[ExportFigure]]:
    """The requested row and its datasets; StoreError if it has none of them."""
    row = real_row(requested)
    if not row.kind.is_fine_tuning:
        raise SettingsError(
            f"{row.model} is {row.kind.noun}. The Hub would list it among fine-tuned encoders, with which it is not "
            "comparable",
            fix="export a fine-tuned row instead.",
        )
    figures = []
    for task in requested.datasets:
        if values := row.values(task.name):
            dataset = row.datasets[task.name]
            figures.append(
                ExportFigure(
                    task,
                    dataset.metric,
                    round(statistics.fmean(values), 2),
                    round(statistics.stdev(values), 2) if len(values) > 1 else None,
                    row.seeds(task.name),
                    ", ".join(sorted(dataset.known("verdict"))),
                )
            )
    if not figures:
        raise StoreError(
            f"{row.model} has no finished trial of {', '.join(task.name for task in requested.datasets)}."
        )
    return row, figures


def whole_score(row: Row, wanted: ExportRequest) -> float | None:
    """The BLURB score, if all thirteen datasets are requested and have results."""
    return (
        row.score if row.blurb_means().keys() <= {task.name for task in wanted.datasets} else None
    )

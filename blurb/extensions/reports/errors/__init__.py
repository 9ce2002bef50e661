"""Error analysis of a trial: counts and ids from its predictions, and text if the caller provides the data.

Text is read from the user's data, and shown only where it is asked for.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from blurb import formulations, tasks
from blurb.corpora.original_readers import load_original
from blurb.data import load_task
from blurb.messages import SettingsError, notify, opt
from blurb.registry import load_object
from blurb.store.record import Record

GOLD = (
    "gold answer: labels joined by '; ', an entity as TYPE FIRST-END in words (END is not part of it), a number, or "
    "empty for none"
)


@dataclass(frozen=True)
class ReportTable:
    """Counts with a title; contains no text of a corpus."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]


@dataclass(frozen=True)
class Mistake:
    """One wrong prediction.

    :param unit: id of the example
    :param kind: kind of mistake
    :param gold: the gold answer: label names, "" for none, or a number
    :param predicted: the predicted answer, likewise
    :param text: text of the example with the mistake marked; empty without the data
    :param weight: size of the mistake; the largest are shown first
    """

    unit: str
    kind: str
    gold: str | float
    predicted: str | float
    text: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Report:
    """Tables and all mistakes, the worst first.

    :param confusion: counts of each gold answer by the predicted one; None where there is no one answer to an example
    """

    tables: Sequence[ReportTable]
    examples: Sequence[Mistake]
    confusion: ReportTable | None = None


def share(part: float, whole: float) -> str:
    """A percentage; "" if `whole` is 0."""
    return f"{100 * part / whole:.1f}" if whole else ""


def tabulate_confusion(
    title: str, corner: str, names: Sequence[str], counts: Counter[Any]
) -> ReportTable:
    """A row of counts for each gold answer.

    :param counts: of pairs of a gold answer and a predicted one
    """
    rows = [(gold, *(counts[gold, predicted] for predicted in names)) for gold in names]
    return ReportTable(f"{title} (rows: gold, columns: predicted)", (corner, *names), rows)


def analyse(
    record: Record,
    split: tasks.Split,
    rows: Mapping[str, dict[str, Any]] | None = None,
    train: Sequence[Mapping[str, Any]] = (),
) -> Report:
    """Analyses the predictions of one trial.

    :param rows: id -> example of that split, from the user's data; without it everything that needs text is omitted
    :param train: examples of the train split, to separate seen from unseen entities
    """
    task = record.task
    if not task.task_type.errors:
        raise SettingsError(
            f"there is no error analysis for tasks of type {task.type}.", where=task.name
        )
    analysis: Callable[..., Report] = load_object(
        task.task_type.errors, f"error analysis of the type {task.type}"
    )
    report = analysis(task, record.predictions(split), units(record, rows), train)
    return replace(report, examples=sorted(report.examples, key=lambda each: -each.weight))


def confusion(record: Record, report: Report) -> ReportTable:
    """The confusion matrix of a trial; SettingsError if its examples have no one answer."""
    if report.confusion is None:
        raise SettingsError(
            "there is no confusion matrix, as its examples have no one class.",
            where=record.task.name,
        )
    return report.confusion


def units(record: Record, rows: Mapping[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]]:
    """The examples as the trial predicted them, by id (`Formulation.units`); empty without the user's data."""
    if rows is None:
        return {}
    formulation = formulations.bind(record.task, record.trial.settings)
    return {str(unit["id"]): unit for unit in formulation.units(list(rows.values()))}


def may_show(with_text: bool, data: Path | None, raw: Path | None, form: str) -> bool:
    """Whether text may be printed: with `--with-text`, else only in a table on a terminal.

    :raises SettingsError: if it is asked for and there is no folder to read it from
    """
    if with_text and data is None and raw is None:
        raise SettingsError(
            f"{opt('with-text')} reads the text from the data", fix=f"add {opt('data')}."
        )
    return with_text or (form == "table" and sys.stdout.isatty())


def say_left_out() -> None:
    """Says on stderr why the text that was read is not shown."""
    click.echo(
        "The text is left out, as the output is no table on a terminal; add --with-text to include it.",
        err=True,
    )


def read_texts(
    record: Record, data: Path | str | None, raw: Path | str | None, split: tasks.ScoredSplit
) -> tuple[dict[str, Any] | None, list[Any]]:
    """The examples that a trial was scored on, by id, and those of train; none without a folder.

    They are of BLURB's files or of the originals, as the hash in the trial says; a note tells where they are neither.

    :raises SettingsError: if the task has no originals, and no data folder was given
    """
    if data is None and raw is None:
        return None, []
    task = tasks.to_read(record.task)
    content = None if data is None else load_task(task, Path(data))
    if raw and task.original and (content is None or content.hash != record.trial.data):
        original = load_original(task, Path(raw))
        content = original if content is None or original.hash == record.trial.data else content
    if content is None:
        raise SettingsError(
            f"{task.name} has no originals to read", fix=f"add {opt('data')} with its data folder."
        )
    if content.hash != record.trial.data:
        hint = (
            f" If it used the original releases, add {opt('raw')}."
            if task.original and not raw
            else ""
        )
        notify(
            f"The trial used other data than this; the text shown may belong to other examples.{hint}"
        )
    return {str(row["id"]): row for row in content.splits[split]}, list(content.splits["train"])

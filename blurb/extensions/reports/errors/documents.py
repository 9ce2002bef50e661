"""Errors of multi-label documents: missed and invented labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.extensions.reports.errors._base import Mistake, Report, ReportTable, share
from blurb.tasks import Task


def analyse(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """Tables count documents, as the score does; mistakes are listed by unit (sentence or abstract)."""
    gold, predicted = (_by_document(columns, name) for name in ("gold", "prediction"))
    right: Counter[str] = Counter()
    there: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for name, labels in gold.items():
        there.update(labels)
        given.update(predicted[name])
        right.update(labels & predicted[name])
    table = [
        (
            label,
            there[label],
            given[label],
            right[label],
            share(right[label], given[label]),
            share(right[label], there[label]),
        )
        for label in task.labels
    ]
    wrong = Counter(len(labels ^ predicted[name]) for name, labels in gold.items())
    tables = [
        ReportTable("labels of documents", ("label", "gold", "predicted", "right", "precision", "recall"), table),
        ReportTable("documents by wrong labels", ("wrong labels", "documents"), sorted(wrong.items())),
    ]
    examples = []
    for unit, labels, answer in zip(columns["id"], columns["gold"], columns["prediction"], strict=True):
        missed, invented = sorted(set(labels) - set(answer)), sorted(set(answer) - set(labels))
        if missed or invented:
            kind = " and ".join(part for part in ("missed" if missed else "", "invented" if invented else "") if part)
            text = str(rows[unit]["text"]) if unit in rows else ""
            weight = len(missed) + len(invented)
            examples.append(Mistake(unit, kind, "; ".join(labels), "; ".join(answer), text, weight))
    return Report(tables, examples)


def _by_document(columns: Mapping[str, Sequence[Any]], name: str) -> dict[str, set[str]]:
    labels_of: dict[str, set[str]] = {}
    for unit, document, labels in zip(columns["id"], columns["doc_id"], columns[name], strict=True):
        labels_of.setdefault(document or unit, set()).update(labels)
    return labels_of

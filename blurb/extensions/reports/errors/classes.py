"""Errors of types with one answer an example: classes that are confused, labels of documents, and scores."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from blurb.extensions.reports.errors import Mistake, Report, ReportTable, share, tabulate_confusion
from blurb.messages import format_signed
from blurb.tasks import Task

BY_CLASS = ("gold", "predicted", "right", "precision", "recall")
BANDS = 4
"""Ranges of the gold score with a mean residual each."""


def analyse(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """The confusion matrix, precision and recall per class, and (questions) accuracy by their first word."""
    answers = list(zip(columns["id"], columns["gold"], columns["prediction"], strict=True))
    counts = Counter((gold, predicted) for _, gold, predicted in answers)
    confusion = tabulate_confusion("confusion matrix", "class", task.labels, counts)
    gold_counts, given_counts = Counter(columns["gold"]), Counter(columns["prediction"])
    single = [
        _scored(label, gold_counts[label], given_counts[label], counts[label, label])
        for label in task.labels
    ]
    tables = [confusion, ReportTable("classes", ("class", *BY_CLASS), single)]
    if questions := {unit: row["question"] for unit, row in rows.items() if "question" in row}:
        tables.append(_by_kind(answers, questions))
    texts = {unit: str(row.get("text", row.get("question"))) for unit, row in rows.items()}
    examples = [
        Mistake(unit, f"{gold} as {predicted}", gold, predicted, texts.get(unit, ""))
        for unit, gold, predicted in answers
        if gold != predicted
    ]
    return Report(tables, examples, confusion)


def _by_kind(answers: Sequence[tuple[str, str, str]], questions: Mapping[str, str]) -> ReportTable:
    """Accuracy by first word. Rare first words are counted as "other", so that no text of a corpus is shown."""
    totals: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for unit, gold, predicted in answers:
        words = questions.get(unit, "").split()
        kind = words[0].lower().strip("?:,.") if words else ""
        totals[kind] += 1
        right[kind] += gold == predicted
    common = [kind for kind, count in totals.most_common() if count >= 5 and kind.isalpha()]
    groups = [(kind, [kind]) for kind in common]
    if rest := [kind for kind in totals if kind not in common]:
        groups.append(("other", rest))
    rows = []
    for name, kinds in groups:
        whole, found = sum(totals[kind] for kind in kinds), sum(right[kind] for kind in kinds)
        rows.append((name, whole, found, share(found, whole)))
    return ReportTable(
        "questions by their first word", ("first word", "questions", "right", "accuracy"), rows
    )


def _scored(label: str, gold: int, predicted: int, right: int) -> tuple[object, ...]:
    return label, gold, predicted, right, share(right, predicted), share(right, gold)


def documents(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """Tables count documents, as the score does; mistakes are listed by unit (sentence or abstract)."""
    gold: dict[str, set[str]] = {}
    predicted: dict[str, set[str]] = {}
    examples = []
    for unit, document, labels, answer in zip(
        columns["id"], columns["doc_id"], columns["gold"], columns["prediction"], strict=True
    ):
        gold.setdefault(document or unit, set()).update(labels)
        predicted.setdefault(document or unit, set()).update(answer)
        missed, invented = set(labels) - set(answer), set(answer) - set(labels)
        if missed or invented:
            kind = " and ".join(
                name for name, side in (("missed", missed), ("invented", invented)) if side
            )
            examples.append(
                Mistake(
                    unit,
                    kind,
                    "; ".join(labels),
                    "; ".join(answer),
                    str(rows[unit]["text"]) if unit in rows else "",
                    len(missed) + len(invented),
                )
            )
    wrong = Counter(len(labels ^ predicted[name]) for name, labels in gold.items())
    right = Counter(label for name, labels in gold.items() for label in labels & predicted[name])
    counts = [
        Counter(label for labels in side.values() for label in labels) for side in (gold, predicted)
    ]
    tables = [
        ReportTable(
            "labels of documents",
            ("label", *BY_CLASS),
            [
                _scored(label, counts[0][label], counts[1][label], right[label])
                for label in task.labels
            ],
        ),
        ReportTable(
            "documents by wrong labels", ("wrong labels", "documents"), sorted(wrong.items())
        ),
    ]
    return Report(tables, examples)


def similarity(
    task: Task,
    columns: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Mapping[str, Any]],
    train: Sequence[Mapping[str, Any]],
) -> Report:
    """Mean residual by bands of the gold score. Every pair is listed, the largest residual first."""
    low, high = (
        float(str(task.metric_options.get(name, bound)))
        for name, bound in (("low", 0), ("high", 4))
    )
    width = (high - low) / BANDS
    answers = list(zip(columns["id"], columns["gold"], columns["prediction"], strict=True))
    table: list[tuple[object, ...]] = []
    for band in range(BANDS):
        start, end = low + band * width, low + (band + 1) * width
        inside = [
            given - gold
            for _, gold, given in answers
            if start <= gold < end or (band == BANDS - 1 and gold == high)
        ]
        if inside:
            table.append(
                (
                    f"{start:g} to {end:g}",
                    len(inside),
                    format_signed(statistics.fmean(inside)),
                    f"{statistics.stdev(inside):.2f}" if len(inside) > 1 else "",
                )
            )
    examples = [
        Mistake(
            unit,
            "too high" if predicted > gold else "too low",
            float(gold),
            float(predicted),
            " / ".join((rows[unit]["text_a"], rows[unit]["text_b"])) if unit in rows else "",
            abs(predicted - gold),
        )
        for unit, gold, predicted in answers
    ]
    bands = ReportTable(
        "predicted minus right", ("right score", "pairs", "mean residual", "sd"), table
    )
    return Report([bands], examples)

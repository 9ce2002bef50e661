"""Errors of relations, questions and classified texts: which classes are confused."""

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
    """The confusion matrix, precision and recall per class, and (questions) accuracy by their first word."""
    answers = list(zip(columns["id"], columns["gold"], columns["prediction"], strict=True))
    counts = Counter((gold, predicted) for _, gold, predicted in answers)
    confusion = ReportTable(
        "confusion matrix (rows: gold, columns: predicted)",
        ("class", *task.labels),
        [(gold, *(counts[gold, predicted] for predicted in task.labels)) for gold in task.labels],
    )
    single = []
    for label in task.labels:
        right = counts[label, label]
        gold, given = (sum(count for pair, count in counts.items() if pair[side] == label) for side in (0, 1))
        single.append((label, gold, given, right, share(right, given), share(right, gold)))
    tables = [confusion, ReportTable("classes", ("class", "gold", "predicted", "right", "precision", "recall"), single)]
    questions = {unit: row["question"] for unit, row in rows.items() if "question" in row}
    if questions:
        tables.append(_by_kind(answers, questions))
    examples = [
        Mistake(unit, f"{gold} as {predicted}", gold, predicted, _text(rows.get(unit)))
        for unit, gold, predicted in answers
        if gold != predicted
    ]
    return Report(tables, examples, confusion)


def _by_kind(answers: Sequence[tuple[str, str, str]], questions: Mapping[str, str]) -> ReportTable:
    """Accuracy by first word. Rare first words are counted as "other", so that no text of a corpus is shown."""
    kinds: Counter[tuple[str, bool]] = Counter()
    for unit, gold, predicted in answers:
        words = questions.get(unit, "").split()
        kinds[words[0].lower().strip("?:,.") if words else "", gold == predicted] += 1
    totals = Counter({kind: kinds[kind, True] + kinds[kind, False] for kind, _ in kinds})
    common = [kind for kind, count in totals.most_common() if count >= 5 and kind.isalpha()]
    rows = [(kind, totals[kind], kinds[kind, True], share(kinds[kind, True], totals[kind])) for kind in common]
    rest = [kind for kind in totals if kind not in common]
    if rest:
        right, whole = sum(kinds[kind, True] for kind in rest), sum(totals[kind] for kind in rest)
        rows.append(("other", whole, right, share(right, whole)))
    return ReportTable("questions by their first word", ("first word", "questions", "right", "accuracy"), rows)


def _text(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    return str(row["text"]) if "text" in row else str(row["question"])

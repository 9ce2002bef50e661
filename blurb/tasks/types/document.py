"""Multi-label documents: each text has any number of labels; a document has the labels of all its texts."""

from __future__ import annotations

from collections import Counter

from blurb.tasks.types._type import Examples, TaskType

NO_LABEL = "(none)"
"""Counted as the label of documents without labels."""


def _labels_by_document(examples: Examples) -> list[set[str]]:
    """The labels of each document; a text without `doc_id` is a document of its own."""
    labels: dict[object, set[str]] = {}
    for number, example in enumerate(examples):
        document = number if example["doc_id"] is None else example["doc_id"]
        labels.setdefault(document, set()).update(example["labels"])
    return list(labels.values())


def _label_counts(examples: Examples) -> Counter[str]:
    counts = Counter({NO_LABEL: 0})
    counts.update(
        label for labels in _labels_by_document(examples) for label in labels or {NO_LABEL}
    )
    return counts


TYPE = TaskType(
    short="Doc",
    columns={"doc_id": "text", "text": "text", "labels": "texts"},
    formulation="blurb.formulations.document:Document",
    hub="text-classification",
    unit="documents",
    size=lambda examples: len(_labels_by_document(examples)),
    label_counts=_label_counts,
    errors="blurb.extensions.reports.errors.classes:documents",
    submission="blurb.extensions.reports.export.formats.submission:document",
    metric="multilabel_f1",
    metric_labels=True,
    sample_labels=("treatment", "prevention"),
)

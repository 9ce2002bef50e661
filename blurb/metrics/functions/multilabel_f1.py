"""F1 for documents with any number of labels, in three common variants. (HoC.)"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blurb.metrics._metric import (
    Counts,
    Metric,
    check_labels,
    check_pairs,
    count_ratios,
    count_wrong,
    f1,
    safe_ratio,
)


def indicators(
    documents: Sequence[Collection[str]], labels: Sequence[str], side: str
) -> NDArray[np.bool_]:
    """Whether a document has a label: (documents, labels). ValueError, naming the document, for an unknown label."""
    column = {label: number for number, label in enumerate(labels)}
    table = np.zeros((len(documents), len(labels)), dtype=np.bool_)
    for row, document in enumerate(documents):
        if isinstance(document, str):
            raise ValueError(
                f"{side} document {row} is the string {document!r}. Pass a collection of label names."
            )
        for label in document:
            if label not in column:
                raise ValueError(
                    f"{side} document {row} (counting from 0) has the unknown label {label!r}. "
                    f"Known: {', '.join(labels)}."
                )
            table[row, column[label]] = True
    return table


def _mean_ratio(
    part: NDArray[np.int64], whole: NDArray[np.int64], neither: NDArray[np.bool_]
) -> float:
    """The mean over documents of part / whole, with 1 for documents without labels on both sides."""
    per_document = np.where(neither, 1.0, part / np.maximum(whole, 1))  # (documents,)
    return safe_ratio(float(per_document.sum()), len(per_document))


def multilabel_f1(
    gold: Sequence[Collection[str]], predicted: Sequence[Collection[str]], labels: Sequence[str]
) -> dict[str, float]:
    """Micro-F1 pooled over all pairs of document and label, and two alternative definitions.

    Args:
        gold, predicted: the labels of each document, (documents, labels of the document); order and repetition do not
            matter, a document may have none.
        labels: all possible labels.

    Returns:
        `micro_f1`, pooled over documents and labels, which is the score; `macro_f1`, the mean over labels of their F1;
        `document_f1`, the harmonic mean of the mean precision and the mean recall of documents; `precision` and
        `recall`, pooled like `micro_f1`. A ratio with denominator 0 is 0.0, with one exception: a document without
        labels on both sides has precision and recall 1 in `document_f1`.
        (BLUE, the source of `document_f1`, excludes documents without gold labels; on the others both agree.)

    Raises:
        ValueError: if the lengths differ, a label is not in `labels` (the message names it), or `labels` is empty.

    >>> multilabel_f1([{"A", "B"}, {"A"}, set()], [{"A"}, {"A", "B"}, set()], labels=("A", "B"))
    ... # doctest: +NORMALIZE_WHITESPACE
    {'micro_f1': 0.6666666666666666, 'macro_f1': 0.5, 'document_f1': 0.8333333333333334,
     'precision': 0.6666666666666666, 'recall': 0.6666666666666666}

    Source: pooled micro-F1 as in LinkBERT's script for HoC; the mean over labels is IQVIA's, the mean over documents
    BLUE's (docs/benchmark.md, "HoC"; ncbi-nlp/BLUE_Benchmark, blue/eval_hoc.py).
    """
    check_labels(labels)
    check_pairs(gold, predicted, "document")
    is_gold, is_predicted = (
        indicators(gold, labels, "gold"),
        indicators(predicted, labels, "predicted"),
    )
    right = is_gold & is_predicted  # (documents, labels)
    pooled = count_ratios(right.sum(), is_predicted.sum(), is_gold.sum())
    per_label = [
        count_ratios(*counts).f1
        for counts in zip(right.sum(0), is_predicted.sum(0), is_gold.sum(0), strict=True)
    ]
    neither = ~np.any(is_gold | is_predicted, axis=1)  # (documents,)
    precision = _mean_ratio(right.sum(1), is_predicted.sum(1), neither)
    recall = _mean_ratio(right.sum(1), is_gold.sum(1), neither)
    return {
        "micro_f1": pooled.f1,
        "macro_f1": safe_ratio(sum(per_label), len(labels)),
        "document_f1": safe_ratio(2 * precision * recall, precision + recall),
        "precision": pooled.precision,
        "recall": pooled.recall,
    }


def _counts(gold: Sequence[Any], predicted: Sequence[Any], labels: Sequence[str]) -> Counts:
    check_pairs(gold, predicted, "document")
    right, answer = indicators(gold, labels, "gold"), indicators(predicted, labels, "predicted")
    return np.stack([(right & answer).sum(1), answer.sum(1), right.sum(1)], 1)


METRIC = Metric(
    multilabel_f1,
    main="micro_f1",
    hub="f1",
    counts=_counts,
    score=f1,
    mistakes=count_wrong,
    sequence=True,
    low=0.0,
)

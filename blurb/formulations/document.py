"""HoC: multi-label classification of sentences (default) or whole abstracts, always scored by abstract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from blurb.data.schema import Example
from blurb.formulations._base import Array, Arrays, Documents, OneText, Output, log_loss
from blurb.grouping import by_key
from blurb.inputs.features import Features
from blurb.metrics import Counts


class Document(OneText):
    """Predicts labels with a probability above 0.5; an abstract has the union of the labels of its units.

    The lengths in the paper's Table 8 imply `document_unit = "sentence"`; LinkBERT uses `"abstract"`
    (docs/benchmark.md, "HoC").
    """

    kind = "multi"
    by_document = True
    own_settings = ("document_unit",)

    def units(self, examples: Iterable[Example]) -> list[Example]:
        rows = list(examples)
        if self.settings.document_unit == "sentence":
            return rows
        documents = by_key(
            (number if row["doc_id"] is None else row["doc_id"], row)
            for number, row in enumerate(rows)
        )
        return [
            {
                "id": parts[0]["doc_id"] or parts[0]["id"],
                "doc_id": parts[0]["doc_id"],
                "text": " ".join(row["text"] for row in parts),
                "labels": self._in_order(label for row in parts for label in row["labels"]),
            }
            for parts in documents.values()
        ]

    def _in_order(self, labels: Iterable[str]) -> list[str]:
        present = set(labels)
        return [label for label in self.task.labels if label in present]

    def targets(self, units: Sequence[Example]) -> Array:
        return np.array(
            [[label in unit["labels"] for label in self.labels] for unit in units], dtype=np.float32
        )

    def gold(self, unit: Example) -> list[str]:
        return list(unit["labels"])

    def unit_of(self, gold: list[str]) -> Example:
        return {"labels": gold}

    def output(
        self, units: Sequence[Example], features: Features, predicted: Arrays, scores: Arrays
    ) -> Output:
        return [
            [label for label, on in zip(self.labels, row, strict=True) if on] for row in predicted
        ], [list(map(float, row)) for row in scores]

    def losses(
        self, units: Sequence[Example], features: Features, scores: Arrays
    ) -> Sequence[float] | None:
        rows = zip(scores, self.targets(units) > 0, strict=True)
        return [float(log_loss(np.where(right, row, 1 - row)).sum()) for row, right in rows]

    def terms(self, gold: list[str]) -> int:
        return len(self.labels)

    def constants(self, train: Sequence[Example]) -> list[list[str]]:
        majority = [
            label
            for label in self.labels
            if 2 * sum(label in unit["labels"] for unit in train) > len(train)
        ]
        # Of the sets of k labels the best is that of the k labels of most documents: micro F1 is 2 * hits / (documents
        # * k + gold labels), and the hits of an answer for all are the documents of its labels.
        rows = [self.gold(unit) for unit in train], [unit.get("doc_id") for unit in train]
        documents = Counter(
            label for labels in self._by_document(*rows).values() for label in labels
        )
        ordered = sorted(self.labels, key=lambda label: -documents[label])
        return [
            majority,
            *(self._in_order(ordered[:count]) for count in range(1, len(ordered) + 1)),
        ]

    def score(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Documents
    ) -> dict[str, float]:
        right, answer = (
            list(self._by_document(labels, documents).values()) for labels in (gold, predicted)
        )
        return super().score(right, answer, [])

    def counts(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Documents
    ) -> tuple[Counts, Documents]:
        """One row per document, with the union of the labels of its units."""
        right, answer = self._by_document(gold, documents), self._by_document(predicted, documents)
        names = [name if isinstance(name, str) else None for name in right]
        return super().counts(list(right.values()), list(answer.values()), names)

    def _by_document(
        self, labels: Sequence[Sequence[str]], documents: Documents
    ) -> dict[object, list[str]]:
        union: dict[object, set[str]] = {}
        for number, (row, doc_id) in enumerate(zip(labels, documents, strict=True)):
            # A unit without document is a document of its own.
            union.setdefault(number if doc_id is None else doc_id, set()).update(row)
        return {
            name: self._in_order(labels_of_document) for name, labels_of_document in union.items()
        }

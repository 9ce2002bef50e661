"""Named entities: token classification over words, scored by exact spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blurb import metrics
from blurb.formulations._base import Documents
from blurb.formulations._tokens import TokenTagging


class Ner(TokenTagging):
    """Entity F1 as in seqeval's default mode (the score), and in its strict mode."""

    def score(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Documents
    ) -> dict[str, float]:
        return {
            **super().score(gold, predicted, documents),
            "strict_f1": metrics.entity_f1(gold, predicted, strict=True)["f1"],
        }

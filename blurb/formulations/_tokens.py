"""Token classification: one vector per word (its first sub-token), one tag per word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from blurb.data.schema import Example
from blurb.formulations._base import Arrays, Formulation, Output, log_loss
from blurb.inputs import tagging
from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenizer import Tokenizer
from blurb.inputs.words import encode_words


class TokenTagging(Formulation):
    """Predicts one tag per word, in the scheme of the setting `tagging`.

    Only targets and head use the scheme: gold answers keep the tags of the source, and predictions are converted to
    BIO. Words without sub-tokens are predicted as `O`.
    """

    kind = "tokens"
    pooled = False
    own_settings = ("tagging", "word_borders")
    vectors = ("word",)

    @property
    def scheme(self) -> str:
        return self.settings.tagging

    @property
    def labels(self) -> Sequence[str]:
        return tagging.labels(self.task.labels, self.scheme)

    def features(self, units: Sequence[Example], tokenizer: Tokenizer, max_length: int) -> Features:
        return encode_words(
            [unit["tokens"] for unit in units], tokenizer, max_length, self.settings.word_borders
        )

    def targets(self, units: Sequence[Example]) -> Ragged:
        index = {tag: i for i, tag in enumerate(self.labels)}
        tags = (tagging.convert_tags(unit["tags"], "bio", self.scheme) for unit in units)
        return Ragged.of([index[tag] for tag in row] for row in tags)

    def gold(self, unit: Example) -> list[str]:
        return list(unit["tags"])

    def unit_of(self, gold: list[str]) -> Example:
        return {"tokens": gold, "tags": gold}  # of the tokens only their number is asked for

    def output(
        self, units: Sequence[Example], features: Features, predicted: Arrays, scores: Arrays
    ) -> Output:
        assert features.word_ids is not None
        tags = [np.zeros(len(unit["tokens"]), dtype=np.int64) for unit in units]  # 0 is `O`
        confidence = [np.ones(len(unit["tokens"])) for unit in units]
        for row, unit in enumerate(features.example_index):
            words = features.word_ids[row]
            tags[unit][words] = chosen = predicted[row][: len(words)]
            read = scores[row][: len(words)]
            confidence[unit][words] = (
                read if read.ndim == 1 else np.take_along_axis(read, chosen[:, None], 1)[:, 0]
            )
        names = np.array(self.labels, dtype=object)
        predictions = [names[row].tolist() for row in tags]
        if self.scheme != "bio":  # BIO stays as predicted: strict F1 counts illegal tags
            predictions = [tagging.convert_tags(row, self.scheme, "bio") for row in predictions]
        return predictions, [row.tolist() for row in confidence]

    def losses(
        self, units: Sequence[Example], features: Features, scores: Arrays
    ) -> Sequence[float] | None:
        """Words without sub-tokens, of which nothing was asked, add nothing."""
        assert features.word_ids is not None
        if any(row.ndim == 1 for row in scores):
            return None
        targets, total = self.targets(units), np.zeros(len(units))
        for row, unit in enumerate(features.example_index):
            words = features.word_ids[row]
            right = targets[unit][words][:, None]
            total[unit] += log_loss(np.take_along_axis(scores[row][: len(words)], right, 1)).sum()
        return total.tolist()

    def terms(self, gold: list[str]) -> int:
        return len(gold)

    def constants(self, train: Sequence[Example]) -> list[str]:
        common = dict(Counter(tag for unit in train for tag in unit["tags"]).most_common())
        return [*(common | dict.fromkeys(tagging.labels(self.task.labels, "bio"), 0))]

    def constant(self, answer: str, unit: Example) -> list[str]:
        return [answer] * len(unit["tokens"])

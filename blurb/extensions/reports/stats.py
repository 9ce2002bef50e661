"""Statistics of a split: sizes, lengths, labels, and the cost of tagging without borders."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from blurb import metrics
from blurb.data.schema import Example, count_words
from blurb.inputs import tagging
from blurb.inputs.tokenized_split import Read
from blurb.tasks import Split, Task

TABLE_8 = {
    "bc5-chem": (35.9, 28.0),
    "bc5-disease": (35.9, 28.0),
    "ncbi-disease": (34.2, 27.4),
    "bc2gm": (38.5, 30.5),
    "jnlpba": (33.7, 26.0),
    "ebm-pico": (30.7, 25.1),
    "chemprot": (75.4, 55.5),
    "ddi": (106.0, 75.9),
    "gad": (47.0, 35.7),
    "biosses": (80.7, 61.6),
    "hoc": (40.6, 31.0),
    "pubmedqa": (343.1, 293.0),
    "bioasq": (702.4, 541.4),
}
"""Gu et al., Table 8: mean sub-tokens of an input with the vocabulary of Wiki + Books, and with that of PubMed."""
QUANTILES = (5, 25, 50, 75, 95)
RULE = 1_500
"""Below this ratio of training examples to their mean words, bigrams are expected to classify texts better than models
of word order trained from nothing (Google's guide to text classification, "Choose a Model")."""


@dataclass(frozen=True)
class LengthSummary:
    """Lengths of the inputs of a split.

    :param quantiles: percentage -> smallest length that this share of the inputs does not exceed
    :param longest_id: id of the first of the longest inputs
    """

    mean: float
    quantiles: Mapping[int, int]
    longest: int
    longest_id: str


@dataclass(frozen=True)
class Statistics:
    """Statistics of one split.

    :param units: size in the unit of the paper's Table 3
    :param inputs: number of examples (sentences, pairs, questions)
    :param words: lengths in words (`blurb.data.schema.count_words`)
    :param labels: entities (ner), words (pico), documents (document) or examples (others) of each label
    :param score: mean and standard deviation of the gold scores (similarity)
    :param adjacent: entities directly after another of their type (ner), which tagging without borders merges
    :param io_ceiling: entity F1 times 100 of perfect predictions in the IO scheme (ner)
    :param majority: score times 100 of always predicting train's most frequent answer; None without train
    :param subtokens: lengths in sub-tokens before truncation, with special tokens; None without a tokenizer
    :param limit: maximum number of sub-tokens in training
    :param truncated: inputs that lose text by this limit
    :param windowed: inputs read in several windows, or in one window around their entities
    """

    task: Task
    split: Split
    units: int
    inputs: int
    words: LengthSummary
    labels: Mapping[str, int]
    score: tuple[float, float] | None = None
    adjacent: int | None = None
    io_ceiling: float | None = None
    majority: float | None = None
    subtokens: LengthSummary | None = None
    limit: int | None = None
    truncated: int | None = None
    windowed: int | None = None

    @property
    def ratio(self) -> float | None:
        """Examples divided by mean words per example; None for a split other than train, or without words."""
        return self.inputs / self.words.mean if self.split == "train" and self.words.mean else None

    @property
    def expected(self) -> Literal["bigrams", "sequence"] | None:
        """The winner that `RULE` predicts, "bigrams" or "sequence"; None for tags and scores, which have no classes."""
        if self.ratio is None or not {"label", "labels"} & {*self.task.task_type.columns}:
            return None
        return "bigrams" if self.ratio < RULE else "sequence"


def measure(
    task: Task,
    splits: Mapping[Split, Sequence[Example]],
    read: Read | None = None,
    majority: Callable[[Task, Sequence[Example], Sequence[Example]], float] | None = None,
) -> list[Statistics]:
    """Statistics of all given splits.

    :param read: tokenizes the inputs, for lengths in sub-tokens
    :param majority: (task, train, split) -> score, as a fraction, of always predicting train's most frequent answer
    """
    train = splits.get("train")
    statistics = []
    for split, rows in splits.items():
        ids = [str(row["id"]) for row in rows]
        sizes: dict[str, object] = {}
        if read is not None:
            reading = read(task, rows)
            sizes = {
                "subtokens": lengths(reading.lengths.tolist(), ids),
                "limit": reading.limit,
                "truncated": reading.cut.truncated,
                "windowed": reading.cut.windowed,
            }
        if task.task_type.borders:
            sizes["adjacent"], sizes["io_ceiling"] = adjacent(rows), 100 * io_ceiling(rows)
        if "score" in task.task_type.columns:
            scores = [row["score"] for row in rows]
            sizes["score"] = float(np.mean(scores)), float(np.std(scores))
        if majority is not None and train:
            sizes["majority"] = 100 * majority(task, train, rows)
        statistics.append(
            Statistics(
                task,
                split,
                task.task_type.size(rows),
                len(rows),
                lengths(list(map(count_words, rows)), ids),
                label_counts(task, rows),
                **sizes,  # type: ignore[arg-type]
            )
        )
    return statistics


def lengths(sizes: Sequence[int], ids: Sequence[str]) -> LengthSummary:
    """Mean, quantiles and maximum of lengths.

    >>> lengths([3, 9, 6, 9], "abcd")
    LengthSummary(mean=6.75, quantiles={5: 3, 25: 3, 50: 6, 75: 9, 95: 9}, longest=9, longest_id='b')
    """
    ordered = sorted(sizes)
    quantiles = {
        part: ordered[max(0, math.ceil(part * len(ordered) / 100) - 1)] for part in QUANTILES
    }
    return LengthSummary(
        sum(sizes) / len(sizes), quantiles, ordered[-1], ids[sizes.index(ordered[-1])]
    )


def label_counts(task: Task, rows: Sequence[Example]) -> dict[str, int]:
    """Frequency of each label in the gold answers, in declared order; a document has the labels of its parts."""
    counts = task.task_type.label_counts(rows)
    return {
        label: counts[label]
        for label in (*task.labels, *(name for name in counts if name not in task.labels))
    }


def adjacent(rows: Sequence[Example]) -> int:
    """Number of entities that begin directly after another of their type.

    >>> adjacent([{"tags": ["B-X", "B-X", "I-X", "O", "B-X", "B-Y"]}])
    1
    """
    return sum(
        after[0] == "B" and before[2:] == after[2:]
        for row in rows
        for before, after in pairwise(row["tags"])
    )


def io_ceiling(rows: Sequence[Example]) -> float:
    """Entity F1 of perfect predictions in IO, which cannot separate adjacent entities."""
    gold = [row["tags"] for row in rows]
    merged = [
        tagging.convert_tags(tagging.convert_tags(tags, "bio", "io"), "io", "bio") for tags in gold
    ]
    return float(metrics.get("entity_f1")(gold, merged)["f1"])

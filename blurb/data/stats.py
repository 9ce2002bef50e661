"""What a split holds: sizes, lengths, labels, and what tagging without borders would cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from blurb import metrics
from blurb.data.examples import words
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.inputs.tokenized_split import Read
from blurb.tasks import Split, Task

TABLE_8 = {
    "bc5-chem": (35.9, 28.0), "bc5-disease": (35.9, 28.0), "ncbi-disease": (34.2, 27.4), "bc2gm": (38.5, 30.5),
    "jnlpba": (33.7, 26.0), "ebm-pico": (30.7, 25.1), "chemprot": (75.4, 55.5), "ddi": (106.0, 75.9),
    "gad": (47.0, 35.7), "biosses": (80.7, 61.6), "hoc": (40.6, 31.0), "pubmedqa": (343.1, 293.0),
    "bioasq": (702.4, 541.4),
}  # fmt: skip
"""Gu et al., Table 8: average sub-tokens of an input with the vocabulary of Wiki + Books, and of PubMed."""
QUANTILES = (5, 25, 50, 75, 95)


@dataclass(frozen=True)
class Lengths:
    """Lengths of the inputs of a split.

    :param quantiles: per cent -> length of an input (the smallest that so many do not exceed)
    :param longest_id: the first of the longest inputs
    """

    mean: float
    quantiles: Mapping[int, int]
    longest: int
    longest_id: str


@dataclass(frozen=True)
class Statistics:
    """What there is to know of a split.

    :param units: size in the unit of the paper's Table 3
    :param inputs: what is predicted at once: sentences, pairs, questions
    :param words: words of an input (see `blurb.data.examples.words`)
    :param labels: entities of each type (ner), words (pico), documents (document), else examples of each class
    :param score: mean and standard deviation of the gold scores (similarity)
    :param adjacent: entities straight after another of their type (ner): without borders, the two become one
    :param io_ceiling: entity F1 times 100 of perfect predictions in the scheme IO (ner)
    :param majority: score times 100 of the most frequent answer of train; None without train
    :param subtokens: sub-tokens of an input, special tokens included, before anything is cut; None without a tokenizer
    :param limit: sub-tokens that training lets through
    :param truncated: inputs that lose text there
    :param windowed: inputs that are read in windows, or in a window around their entities
    """

    task: Task
    split: Split
    units: int
    inputs: int
    words: Lengths
    labels: Mapping[str, int]
    score: tuple[float, float] | None = None
    adjacent: int | None = None
    io_ceiling: float | None = None
    majority: float | None = None
    subtokens: Lengths | None = None
    limit: int | None = None
    truncated: int | None = None
    windowed: int | None = None


def measure(
    task: Task,
    splits: Mapping[Split, Sequence[Example]],
    read: Read | None = None,
    majority: Callable[[Task, Sequence[Example], Sequence[Example]], float] | None = None,
) -> list[Statistics]:
    """The statistics of every split that is there.

    :param read: how an encoder reads the inputs, for lengths in sub-tokens
    :param majority: (task, train, split) -> score as a fraction of the most frequent answer of train
    """
    train = splits.get("train")
    found = []
    for split, rows in splits.items():
        ids = [str(row["id"]) for row in rows]
        sizes: dict[str, object] = {}
        if read is not None:
            reading = read(task, rows)
            sizes = {
                "subtokens": lengths(reading.lengths.tolist(), ids), "limit": reading.limit,
                "truncated": reading.cut.truncated, "windowed": reading.cut.windowed,
            }  # fmt: skip
        if task.task_type.borders:
            sizes["adjacent"], sizes["io_ceiling"] = adjacent(rows), 100 * io_ceiling(rows)
        if "score" in task.task_type.columns:
            scores = [row["score"] for row in rows]
            sizes["score"] = float(np.mean(scores)), float(np.std(scores))
        if majority is not None and train:
            sizes["majority"] = 100 * majority(task, train, rows)
        found.append(
            Statistics(
                task, split, task.task_type.size(rows), len(rows), lengths(list(map(words, rows)), ids),
                label_counts(task, rows), **sizes,  # type: ignore[arg-type]
            )
        )  # fmt: skip
    return found


def lengths(sizes: Sequence[int], ids: Sequence[str]) -> Lengths:
    """Mean, quantiles and the longest.

    >>> lengths([3, 9, 6, 9], "abcd")
    Lengths(mean=6.75, quantiles={5: 3, 25: 3, 50: 6, 75: 9, 95: 9}, longest=9, longest_id='b')
    """
    ordered = sorted(sizes)
    quantiles = {part: ordered[max(0, math.ceil(part * len(ordered) / 100) - 1)] for part in QUANTILES}
    return Lengths(sum(sizes) / len(sizes), quantiles, ordered[-1], ids[sizes.index(ordered[-1])])


def label_counts(task: Task, rows: Sequence[Example]) -> dict[str, int]:
    """How often each label is the answer, in the order of the declaration; a document has the labels of its parts."""
    found = task.task_type.label_counts(rows)
    return {label: found[label] for label in (*task.labels, *(name for name in found if name not in task.labels))}


def adjacent(rows: Sequence[Example]) -> int:
    """Entities that begin straight after another of their type.

    >>> adjacent([{"tags": ["B-X", "B-X", "I-X", "O", "B-X", "B-Y"]}])
    1
    """
    return sum(after[0] == "B" and before[2:] == after[2:] for row in rows for before, after in pairwise(row["tags"]))


def io_ceiling(rows: Sequence[Example]) -> float:
    """Entity F1 of perfect predictions in IO, which has no border between neighbours."""
    gold = [row["tags"] for row in rows]
    merged = [tagging.convert(tagging.convert(tags, "bio", "io"), "io", "bio") for tags in gold]
    return float(metrics.get("entity_f1")(gold, merged)["f1"])

"""Statistics of a split: sizes, lengths, labels, and the cost of tagging without borders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal, TypedDict

import numpy as np

from blurb import metrics
from blurb.data.schema import Example, count_words
from blurb.formulations._base import majority_score
from blurb.inputs import tagging
from blurb.inputs.tokenized_split import Read
from blurb.records import Count
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
RULE = 1_500
"""Below this ratio of training examples to their mean words, bigrams are expected to classify texts better than models
of word order trained from nothing (Google's guide to text classification, "Choose a Model")."""


Winner = Literal["bigrams", "sequence"]


class Sizes(TypedDict):
    """Lengths of inputs."""

    mean: Annotated[float, "mean length"]
    p5: Annotated[Count, "length that 5 % of the inputs do not exceed"]
    p25: Annotated[Count, "length that 25 % of the inputs do not exceed"]
    p50: Annotated[Count, "length that 50 % of the inputs do not exceed"]
    p75: Annotated[Count, "length that 75 % of the inputs do not exceed"]
    p95: Annotated[Count, "length that 95 % of the inputs do not exceed"]
    longest: Annotated[Count, "greatest length"]
    longest_id: Annotated[str, "id of the first of the longest inputs"]


class Table8(TypedDict):
    """Mean lengths in Table 8 of Gu et al."""

    wiki_books: Annotated[float, "BERT's"]
    pubmed: Annotated[float, "PubMedBERT's"]


class Gold(TypedDict):
    """The gold scores."""

    mean: Annotated[float, "mean"]
    sd: Annotated[float, "standard deviation"]


class Described(TypedDict):
    """Statistics of a split."""

    task: Annotated[str, "name of the task, as in `blurb tasks`"]
    split: Annotated[Split, "split"]
    unit: Annotated[str, "what `units` counts"]
    units: Annotated[Count, "size in that unit"]
    inputs: Annotated[Count, "number of examples"]
    words: Annotated[Sizes, "lengths in words"]
    sub_tokens: Annotated[Sizes | None, "lengths in sub-tokens; null without --model"]
    limit: Annotated[
        Count | None, "longest input that training reads, in sub-tokens; null without --model"
    ]
    truncated: Annotated[Count | None, "inputs that are cut; null without --model"]
    windowed: Annotated[Count | None, "inputs read in windows; null without --model"]
    table_8: Annotated[
        Table8 | None,
        "mean lengths of two vocabularies in Table 8 of Gu et al.; null outside BLURB",
    ]
    labels: Annotated[dict[str, Count], "count of each label"]
    score: Annotated[Gold | None, "of the gold scores (similarity); null for other types"]
    adjacent_entities: Annotated[
        Count | None, "entities that touch another of their type; null for other types"
    ]
    io_ceiling: Annotated[float | None, "F1 of perfect IO tags, times 100; null for other types"]
    majority: Annotated[
        float | None, "score of the most frequent answer, times 100; null without train"
    ]
    examples_per_word: Annotated[
        float | None, "examples divided by mean words per example; null but for train"
    ]
    expected: Annotated[
        Winner | None,
        "what is expected to win: bigrams below a ratio of 1,500; null but for train, and for tags and scores",
    ]


def measure(
    task: Task, splits: Mapping[Split, Sequence[Example]], read: Read | None = None
) -> list[Described]:
    """Statistics of all given splits.

    :param read: tokenizes the inputs, for lengths in sub-tokens
    """
    train = splits.get("train")
    columns = {*task.task_type.columns}
    published = TABLE_8.get(task.name)
    statistics = []
    for split, rows in splits.items():
        ids = [str(row["id"]) for row in rows]
        words = lengths(list(map(count_words, rows)), ids)
        reading = read(task, rows) if read else None
        scores = [row["score"] for row in rows] if "score" in columns else []
        ratio = len(rows) / words["mean"] if split == "train" and words["mean"] else None
        expected: Winner | None = None
        if ratio is not None and columns & {"label", "labels"}:  # the rule is of classes
            expected = "bigrams" if ratio < RULE else "sequence"
        statistics.append(
            Described(
                task=task.name,
                split=split,
                unit=task.unit,
                units=task.task_type.size(rows),
                inputs=len(rows),
                words=words,
                sub_tokens=lengths(reading.lengths.tolist(), ids) if reading else None,
                limit=reading.limit if reading else None,
                truncated=reading.cut.truncated if reading else None,
                windowed=reading.cut.windowed if reading else None,
                table_8=published and Table8(wiki_books=published[0], pubmed=published[1]),
                labels=label_counts(task, rows),
                score=Gold(mean=float(np.mean(scores)), sd=float(np.std(scores)))
                if scores
                else None,
                adjacent_entities=adjacent(rows) if task.task_type.borders else None,
                io_ceiling=100 * io_ceiling(rows) if task.task_type.borders else None,
                majority=100 * majority_score(task, train, rows) if train else None,
                examples_per_word=ratio,
                expected=expected,
            )
        )
    return statistics


def lengths(sizes: Sequence[int], ids: Sequence[str]) -> Sizes:
    """Mean, quantiles and maximum of lengths.

    >>> lengths([3, 9, 6, 9], "abcd")["p50"], lengths([3, 9, 6, 9], "abcd")["longest_id"]
    (6, 'b')
    """
    longest = max(sizes)
    p5, p25, p50, p75, p95 = np.percentile(
        sizes, [5, 25, 50, 75, 95], method="inverted_cdf"
    ).tolist()
    return Sizes(
        mean=sum(sizes) / len(sizes),
        p5=p5,
        p25=p25,
        p50=p50,
        p75=p75,
        p95=p95,
        longest=longest,
        longest_id=ids[sizes.index(longest)],
    )


def label_counts(task: Task, rows: Sequence[Example]) -> dict[str, int]:
    """Frequency of each label in the gold answers, in declared order; a document has the labels of its parts."""
    counts = task.task_type.label_counts(rows)
    return {label: counts[label] for label in dict.fromkeys((*task.labels, *counts))}


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

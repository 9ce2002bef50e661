"""Word-level F1 of each label, averaged over the labels. (EBM PICO.)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from blurb.metrics._metric import (
    Counts,
    Metric,
    Sentences,
    check_labels,
    check_sentences,
    count_ratios,
    count_wrong,
    mean_f1,
    safe_ratio,
)

PREFIXES = "BIESLU"


def _label(tag: str, labels: Sequence[str]) -> str | None:
    """`I-PAR` -> `PAR`, `O` -> None, as `O` is not a class."""
    if tag == "O":
        return None
    prefix, _, label = str(tag).partition("-")
    if len(prefix) != 1 or prefix not in PREFIXES or label not in labels:
        raise ValueError(
            f"{tag!r} is not a valid tag: expected 'O' or a prefix and one of {', '.join(labels)}, as 'I-{labels[0]}'."
        )
    return label


def token_macro_f1(
    gold: Sentences, predicted: Sentences, labels: Sequence[str] = ("PAR", "INT", "OUT")
) -> dict[str, float]:
    """F1 of each label, pooled over all words of all sentences; then the unweighted mean over the labels.

    Args:
        gold, predicted: the tags of each sentence, (sentences, words of the sentence). Prefixes are ignored: `B-PAR`,
            `I-PAR` and `U-PAR` are the same.
        labels: the classes, in the order of the output, without `O`.

    Returns:
        `macro_f1`, then `f1_PAR` and so on, one per label. A label that occurs on neither side scores 0.0.

    Raises:
        ValueError: if the lengths differ (the message names the sentence and both lengths), the label of a tag is not
            in `labels`, or `labels` is empty.

    Example: PAR has one correct word of two predicted and one gold; INT is perfect; OUT is missed.

    >>> token_macro_f1([["I-PAR", "O", "I-INT"], ["I-OUT"]], [["B-PAR", "I-PAR", "U-INT"], ["O"]])
    {'macro_f1': 0.5555555555555555, 'f1_PAR': 0.6666666666666666, 'f1_INT': 1.0, 'f1_OUT': 0.0}

    Source: Gu et al. section 2.4 and LinkBERT's evaluation of PICO, which rewrites every tag to B before it calls
    seqeval, so that each word is a span (docs/benchmark.md, "EBM PICO").
    """
    check_labels(labels)
    check_sentences(gold, predicted)
    true_positives: Counter[str] = Counter()
    n_predicted: Counter[str] = Counter()
    n_gold: Counter[str] = Counter()
    # There are few different pairs of tags: count those first, read the tags after.
    pairs = Counter(zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True))
    for (gold_tag, predicted_tag), words in pairs.items():
        gold_label, predicted_label = _label(gold_tag, labels), _label(predicted_tag, labels)
        if gold_label is not None:
            n_gold[gold_label] += words
        if predicted_label is not None:
            n_predicted[predicted_label] += words
        if gold_label is not None and gold_label == predicted_label:
            true_positives[gold_label] += words
    per_label = {
        f"f1_{label}": count_ratios(true_positives[label], n_predicted[label], n_gold[label]).f1
        for label in labels
    }
    return {"macro_f1": safe_ratio(sum(per_label.values()), len(labels)), **per_label}


def _counts(gold: Sentences, predicted: Sentences, labels: Sequence[str]) -> Counts:
    """Three numbers per label: (sentences, 3 * labels)."""
    check_sentences(gold, predicted)
    counts = np.zeros((len(gold), len(labels), 3))
    column = {label: place for place, label in enumerate(labels)}
    for row, (right, answer) in enumerate(zip(gold, predicted, strict=True)):
        for one, other in zip(right, answer, strict=True):
            if one == other == "O":
                continue
            requested, given = column.get(one[2:]), column.get(other[2:])
            if given is not None:
                counts[row, given, 1] += 1
            if requested is not None:
                counts[row, requested, 2] += 1
                counts[row, requested, 0] += requested == given
    return counts.reshape(len(gold), -1)


METRIC = Metric(
    token_macro_f1,
    main="macro_f1",
    hub="f1",
    counts=_counts,
    score=mean_f1,
    mistakes=count_wrong,
    sequence=True,
    low=0.0,
)

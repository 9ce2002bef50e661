"""Micro-F1 over all classes except the negative one. (ChemProt, DDI.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.metrics._metric import (
    Counts,
    Metric,
    check_pairs,
    count_ratios,
    count_wrong,
    f1,
    label_arrays,
)


def micro_f1_without(
    gold: Sequence[str], predicted: Sequence[str], *, negative: str
) -> dict[str, float]:
    """Micro-F1 over all classes except the negative one, so that correct negatives give no credit.

    Precision is over the examples with a positive prediction, recall over those with a positive label. (Including the
    negative class, precision, recall and F1 would all be the accuracy.)

    Args:
        gold, predicted: one label per example, (examples,).
        negative: the label for "no relation".

    Returns:
        `f1`, `precision`, `recall`; 0.0 if the denominator is 0.

    Raises:
        ValueError: if the lengths differ.

    Example: three examples are positive, two are predicted as positive, one of them with the correct class.

    >>> micro_f1_without(["CPR:3", "CPR:4", "CPR:9", "false"], ["CPR:3", "CPR:3", "false", "false"], negative="false")
    {'f1': 0.4, 'precision': 0.5, 'recall': 0.3333333333333333}

    Source: the evaluation of ChemProt and DDI by LinkBERT, KeBioLM and IQVIA
    (docs/benchmark.md, "ChemProt" and docs/benchmark.md, "DDI").
    """
    check_pairs(gold, predicted, "label")
    true_positives = sum(g == p != negative for g, p in zip(gold, predicted, strict=True))
    n_predicted = sum(p != negative for p in predicted)
    n_gold = sum(g != negative for g in gold)
    return count_ratios(true_positives, n_predicted, n_gold)._asdict()


def _counts(gold: Sequence[str], predicted: Sequence[str], negative: str) -> Counts:
    right, answer = label_arrays(gold, predicted)
    return np.stack(
        [(right == answer) & (right != negative), answer != negative, right != negative], 1
    )


METRIC = Metric(
    micro_f1_without, main="f1", hub="f1", counts=_counts, score=f1, mistakes=count_wrong, low=0.0
)

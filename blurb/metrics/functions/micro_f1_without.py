"""Micro-F1 over all classes but the negative one. (ChemProt, DDI.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.metrics._checks import check_pairs, label_arrays
from blurb.metrics._metric import Counts, Metric
from blurb.metrics._ratios import f1, ratios, wrong


def micro_f1_without(gold: Sequence[str], predicted: Sequence[str], *, negative: str) -> dict[str, float]:
    """Micro-F1 over all classes but the negative one: no reward for finding that there is no relation.

    Precision is taken over the units that are predicted to be positive, recall over those that are. (With the negative
    class included, precision, recall and F1 would all be the accuracy.)

    Args:
        gold, predicted: one label for each unit, (units,).
        negative: the label that says "no relation".

    Returns:
        `f1`, `precision`, `recall`; 0.0 where there is nothing to divide by.

    Raises:
        ValueError: unequal lengths.

    Example: three are positive, two are predicted to be, one of them with the right class.

    >>> micro_f1_without(["CPR:3", "CPR:4", "CPR:9", "false"], ["CPR:3", "CPR:3", "false", "false"], negative="false")
    {'f1': 0.4, 'precision': 0.5, 'recall': 0.3333333333333333}

    Source: the evaluation of ChemProt and DDI by LinkBERT, KeBioLM and IQVIA
    (docs/benchmark.md, "ChemProt" and docs/benchmark.md, "DDI").
    """
    check_pairs(gold, predicted, "label")
    true_positives = sum(g == p != negative for g, p in zip(gold, predicted, strict=True))
    n_predicted = sum(p != negative for p in predicted)
    n_gold = sum(g != negative for g in gold)
    return dict(ratios(true_positives, n_predicted, n_gold)._asdict())


def _counts(gold: Sequence[str], predicted: Sequence[str], negative: str) -> Counts:
    right, answer = label_arrays(gold, predicted)
    return np.stack([(right == answer) & (right != negative), answer != negative, right != negative], 1)


METRIC = Metric(micro_f1_without, main="f1", hub="f1", counts=_counts, score=f1, mistakes=wrong)

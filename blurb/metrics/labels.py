"""One label for each unit: accuracy (the QA tasks), F1 without the negative class (ChemProt, DDI), F1 of one (GAD)."""

from __future__ import annotations

from collections.abc import Sequence

from blurb.metrics._checks import check_pairs
from blurb.metrics._ratios import ratio, ratios


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
    """The share of units whose label is right.

    Args:
        gold, predicted: one label for each unit, (units,).

    Returns:
        `accuracy`; 0.0 if there are no units.

    Raises:
        ValueError: unequal lengths.

    >>> accuracy(["yes", "no", "maybe", "yes"], ["yes", "no", "no", "no"])
    {'accuracy': 0.5}

    Source: Gu et al. section 2.3 (PubMedQA, BioASQ); docs/benchmark.md, "PubMedQA" and docs/benchmark.md, "BioASQ".
    """
    check_pairs(gold, predicted, "label")
    return {"accuracy": ratio(sum(g == p for g, p in zip(gold, predicted, strict=True)), len(gold))}


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


def binary_f1(gold: Sequence[str], predicted: Sequence[str], *, positive: str) -> dict[str, float]:
    """F1 of one class against all others.

    Args:
        gold, predicted: one label for each unit, (units,).
        positive: the label that counts.

    Returns:
        `f1`, `precision`, `recall`; 0.0 where there is nothing to divide by.

    Raises:
        ValueError: unequal lengths.

    >>> binary_f1(["1", "0", "1", "1"], ["1", "1", "0", "1"], positive="1")["f1"]
    0.6666666666666666

    Source: Gu et al. print "Micro F1" for GAD; the scripts of LinkBERT, KeBioLM and BioBERT compute the F1 of label 1
    (docs/benchmark.md, "GAD"). scikit-learn's `average="micro"` over both classes would be the accuracy.
    """
    check_pairs(gold, predicted, "label")
    true_positives = sum(g == p == positive for g, p in zip(gold, predicted, strict=True))
    n_predicted = sum(p == positive for p in predicted)
    n_gold = sum(g == positive for g in gold)
    return dict(ratios(true_positives, n_predicted, n_gold)._asdict())

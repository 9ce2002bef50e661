"""The mean of the F1 of all classes. (Classification of texts, where a task file asks for it.)"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blurb.metrics._metric import (
    Counts,
    Metric,
    check_labels,
    check_pairs,
    count_wrong,
    f1,
    label_arrays,
    mean_f1,
)


def macro_f1(
    gold: Sequence[str], predicted: Sequence[str], *, labels: Sequence[str]
) -> dict[str, float]:
    """F1 of each class over all examples; then the unweighted mean over the classes.

    Args:
        gold, predicted: one label per example, (examples,).
        labels: the classes, in the order of the output.

    Returns:
        `macro_f1`, then `f1_yes` and so on, one per class. A class that occurs on neither side scores 0.0.

    Raises:
        ValueError: if the lengths differ, or `labels` is empty.

    >>> macro_f1(["yes", "no", "no"], ["yes", "yes", "no"], labels=["yes", "no"])
    {'macro_f1': 0.6666666666666666, 'f1_yes': 0.6666666666666666, 'f1_no': 0.6666666666666666}

    Source: the mean of F1 over classes, as `average="macro"` of scikit-learn; no dataset of BLURB is scored by it.
    """
    check_labels(labels)
    check_pairs(gold, predicted, "label")
    each = f1(_counts(gold, predicted, labels).sum(0).reshape(-1, 3))
    named = zip(labels, each.tolist(), strict=True)
    return {"macro_f1": float(each.mean()), **{f"f1_{label}": one for label, one in named}}


def _counts(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str]) -> Counts:
    """Right, predicted and gold of each class: (examples, 3 * classes)."""
    right, answer = (side[:, None] == np.array(labels) for side in label_arrays(gold, predicted))
    return np.stack([right & answer, answer, right], 2).reshape(len(right), -1).astype(np.float64)


METRIC = Metric(
    macro_f1,
    main="macro_f1",
    hub="f1",
    counts=_counts,
    score=mean_f1,
    mistakes=count_wrong,
    low=0.0,
)

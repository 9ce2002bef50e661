"""Scores of predictions as lines of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from blurb import records
from blurb.records import From
from blurb.scoring.scores import Score
from blurb.tasks import SCORED


class Line(TypedDict):
    """The score of the predictions of a dataset; figures are times 100, empty where nothing is known."""

    dataset: Annotated[str, "name of the task", From("task.name")]
    split: Annotated[str, f"{' or '.join(SCORED)}"]
    metric: Annotated[str, "name of the score"]
    score: Annotated[float, "BLURB's metric"]
    low: Annotated[float | None, "lower end of its 95 % interval, over the choice of test examples", From("interval.0")]
    high: Annotated[float | None, "upper end", From("interval.1")]
    majority: Annotated[float | None, "score of the most frequent answer of train"]
    floor: Annotated[float | None, "score of the best constant answer"]
    published: Annotated[float | None, "best figure of the paper's Table 6", From("published.0")]
    published_model: Annotated[str, "its model", From(lambda one: one.published[1] if one.published else "")]
    all_class_accuracy: Annotated[
        float | None, "accuracy over all classes, which is not BLURB's metric", From("all_classes.accuracy")
    ]
    all_class_constant: Annotated[
        float | None, "accuracy over all classes of the negative class for all examples", From("all_classes.constant")
    ]
    examples: Annotated[int, "number of examples"]
    matched: Annotated[str, "how the example of each answer was found"]
    data: Annotated[str, "verdict on the data: identical to BLURB's, or what else", From("verdict")]
    predictions: Annotated[str, "SHA-256 of the predictions by id"]
    remarks: Annotated[list[str], "what to know before the score is compared with others"]


def lines(scores: Iterable[Score]) -> list[dict[str, Any]]:
    """The scores as lines."""
    return [records.of(Line, each) for each in scores]

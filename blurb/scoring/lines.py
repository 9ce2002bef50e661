"""Scores of predictions as lines of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from blurb.scoring.scores import Score
from blurb.tasks import SCORED


class Line(TypedDict):
    """The score of the predictions of a dataset; figures are times 100, empty where nothing is known."""

    dataset: Annotated[str, "name of the task"]
    split: Annotated[str, f"{' or '.join(SCORED)}"]
    metric: Annotated[str, "name of the score"]
    score: Annotated[float, "BLURB's metric"]
    low: Annotated[float | None, "lower end of its 95 % interval, over the choice of test examples"]
    high: Annotated[float | None, "upper end"]
    majority: Annotated[float | None, "score of the most frequent answer of train"]
    floor: Annotated[float | None, "score of the best constant answer"]
    published: Annotated[float | None, "best figure of the paper's Table 6"]
    published_model: Annotated[str, "its model"]
    all_class_accuracy: Annotated[float | None, "accuracy over all classes, which is not BLURB's metric"]
    all_class_constant: Annotated[float | None, "accuracy over all classes of the negative class for all examples"]
    examples: Annotated[int, "number of examples"]
    matched: Annotated[str, "how the example of each answer was found"]
    data: Annotated[str, "verdict on the data: identical to BLURB's, or what else"]
    predictions: Annotated[str, "SHA-256 of the predictions by id"]
    remarks: Annotated[list[str], "what to know before the score is compared with others"]


def lines(scores: Iterable[Score]) -> list[Line]:
    """The scores as lines."""
    return [_line(each) for each in scores]


def _line(score: Score) -> Line:
    low, high = score.interval or (None, None)
    best, model = score.published or (None, "")
    return Line(
        dataset=score.task.name,
        split=score.split,
        metric=score.metric,
        score=score.score,
        low=low,
        high=high,
        majority=score.majority,
        floor=score.floor,
        published=best,
        published_model=model,
        all_class_accuracy=None if score.all_classes is None else score.all_classes.accuracy,
        all_class_constant=None if score.all_classes is None else score.all_classes.constant,
        examples=score.examples,
        matched=score.matched,
        data=score.verdict,
        predictions=score.predictions,
        remarks=score.remarks,
    )

"""The score of predictions of any tool: BLURB's metric with its interval, and the facts shown with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypedDict

from blurb import formulations, metrics
from blurb.data.schema import Example
from blurb.formulations._base import Formulation
from blurb.messages import DataError
from blurb.records import From
from blurb.results.groups import TOLD, UNREAD
from blurb.results.predictions import shared_clusters
from blurb.results.published import best_of_paper
from blurb.scoring import matching, requests, values
from blurb.scoring.answer_forms import NO_PLACE
from blurb.scoring.batch import Replies
from blurb.scoring.columns import AnswerFile, reading_values
from blurb.scoring.decoding import SHORT, decode_answers, tags_of_mentions
from blurb.statistics import bootstrap
from blurb.store.record import score_bounds
from blurb.system.files import text_hash
from blurb.tasks import SCORED, Split, Task

RELEASED, ORDER = ("identical", "counts only"), "by order"
"""Verdicts on the release, and how answers were matched if by nothing but their order."""
RESAMPLES = 2_000
"""Resamples of the test examples; enough for the digits that are shown."""


@dataclass(frozen=True)
class AllClasses:
    """Accuracy over all classes, which others print as "micro F1": it counts the class of no relation as right.

    :param accuracy: of the predictions, times 100
    :param constant: of the answer that is always the negative class, whose score is 0
    :param negative: that class
    """

    accuracy: float
    constant: float
    negative: str


@dataclass(frozen=True)
class Score:
    """Scores of the predictions of one dataset, all times 100.

    :param file: where the predictions are from
    :param split: dev or test
    :param metric: name of the score among `figures`
    :param interval: of the score: 95 %, over the choice of test examples
    :param figures: all metrics of the task
    :param majority: score of the most frequent answer of train; None without train
    :param floor: score of the best constant answer; None if unknown
    :param published: best figure of the paper's Table 6, and its model
    :param matched: how the example of each answer was found
    :param verdict: on the data
    :param predictions: hash of the predictions by id
    :param missing: splits that the data lacks
    :param replaced: whether a row had other predictions in the place where these were stored
    :param gold_column: the column that they were read from, if its name is that of gold answers; else ""
    :param is_gold: whether all answers are the gold ones
    :param faults: what is wrong with the answers of a language model, and how often
    :param unread: share of its answers that could not be read
    """

    task: Task
    split: Split
    file: Path
    score: float
    interval: tuple[float, float] | None
    metric: str
    figures: Mapping[str, float]
    majority: float | None
    floor: float | None
    published: tuple[float, str] | None
    all_classes: AllClasses | None
    examples: int
    matched: str
    verdict: str
    predictions: str
    missing: Sequence[str] = ()
    replaced: bool = False
    gold_column: str = ""
    is_gold: bool = False
    faults: Mapping[str, int] = field(default_factory=dict)
    unread: float = 0.0

    @property
    def remarks(self) -> list[str]:
        """Notes to read before the score is compared with others."""
        lost, column = " and ".join(self.missing), self.gold_column
        remarks = {
            f"the data lacks {lost}; the verdict is on the rest": bool(lost),
            f"data {self.verdict}: not the release that published figures are on": self.verdict
            not in RELEASED,
            "matched by order alone: nothing in the file says which example an answer belongs to": self.matched
            == ORDER,
            f"read from the column '{column}'; call that of the predictions 'prediction'": bool(
                column
            ),
            UNREAD.format(f"{self.unread:.0%}"): self.unread >= TOLD,
            "ALL ANSWERS ARE EQUAL TO THE GOLD ANSWERS: these are hardly predictions": self.is_gold,
            "not better than one answer for all examples": self.floor is not None
            and self.score <= self.floor,
            "other predictions were in the place of these in the row before": self.replaced,
        }
        return [sentence for sentence, holds in remarks.items() if holds]


@dataclass(frozen=True)
class MatchedAnswers:
    """Predictions with the examples that they answer.

    :param answers: one a unit, in the order of the units
    :param matched: how they were found, as words
    :param gold_column: the column that they were read from, if its name is that of gold answers; else ""
    :param faults: their faults, and how often
    :param replies: of the language model that they are from
    """

    formulation: Formulation
    split: Split
    units: Sequence[Example]
    answers: Sequence[Any]
    facts: matching.DataFacts
    matched: str
    gold_column: str = ""
    faults: Mapping[str, int] = field(default_factory=dict)
    replies: Replies | None = None

    @property
    def unanswered(self) -> int:
        """The number of requests to a language model without any line of an answer."""
        return 0 if self.replies is None else len(self.units) - len(self.replies.by_id)

    @property
    def is_gold(self) -> bool:
        """Whether all answers are the gold ones; the order of the labels of a document says nothing."""
        gold = [self.formulation.gold(unit) for unit in self.units]
        if self.formulation.kind == "multi":
            return list(map(set, gold)) == list(map(set, self.answers))
        return gold == list(self.answers)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The input of the metrics, and the majority answer; the columns of a trial's predictions without scores."""
        known = self.facts.majority
        return {
            "split": [self.split] * len(self.units),
            "id": [unit["id"] for unit in self.units],
            "doc_id": [unit.get("doc_id") for unit in self.units],
            "gold": [self.formulation.gold(unit) for unit in self.units],
            "prediction": list(self.answers),
            "majority": [
                None if known is None else self.formulation.constant(known, unit)
                for unit in self.units
            ],
        }


def hash_predictions(columns: Mapping[str, Sequence[Any]]) -> str:
    """SHA-256 of predictions by split and id; no text and no gold answer is part of it."""
    lines = zip(columns["split"], columns["id"], columns["prediction"], strict=True)
    text = "".join(json.dumps(line) + "\n" for line in sorted(lines, key=lambda line: line[:2]))
    return text_hash(text)


def matched(
    task: Task, file: AnswerFile, folder: Path, split: Split, reading: values.Reading
) -> MatchedAnswers:
    """The answers of a file with their examples.

    :raises DataError: if a file is invalid, or not every example has exactly one answer
    """
    title = file.dataset.replace(" ", "-").lower()
    if title and title not in (task.name, task.title.replace(" ", "-").lower()):
        raise DataError(f"these are predictions of {file.dataset}, not of {task.name}.", file.path)
    file = values.shape_answers(task, file)
    formulation = formulations.bind(task)
    examples = matching.units_of(formulation, folder, split)
    documents = {str(unit.get("doc_id")) for unit in examples}
    if all(answer.id in documents for answer in file.answers):
        if "document_unit" in formulation.own_settings:
            formulation = formulations.bind(task, {"document_unit": "abstract"})
            examples = matching.units_of(formulation, folder, split)
        elif formulation.kind == "tokens" and not file.mentions:
            file = matching.by_sentence(file, examples)
    faults = Counter[str]()
    if file.padded and len(file.answers) == len(examples):
        pairs = [
            (each, len(unit["tokens"]) - len(each.value))
            for unit, each in zip(examples, file.answers, strict=True)
        ]
        file = replace(
            file,
            answers=[replace(each, value=[*each.value, *["O"] * lost]) for each, lost in pairs],
        )
        faults[SHORT] = sum(lost > 0 for _, lost in pairs)
    nameless = (
        replace(file, answers=[replace(each, value=None) for each in file.answers])
        if file.mentions
        else file
    )
    places, how = matching.match(nameless, examples, split)
    read = values.read(task, file, reading)
    placed, facts = [read[place] for place in places], matching.facts(task, folder)
    for number, place in enumerate(places if file.mentions else ()):
        with reading_values(file.path, file.answers[place].line, lambda: NO_PLACE):
            placed[number] = tags_of_mentions(task, examples[number], placed[number], faults)
    return MatchedAnswers(
        formulation, split, examples, placed, facts, how, file.gold_column, +faults
    )


def replied(task: Task, replies: Replies, folder: Path, split: Split) -> MatchedAnswers:
    """The answers of a language model with their examples; errors as of `blurb.scoring.decoding.decode_answers`."""
    formulation, units = requests.requested_examples(task, folder, split, replies.manifest.limit)
    faults = Counter[str]()
    given = decode_answers(task, replies, units, split, faults)
    return MatchedAnswers(
        formulation,
        split,
        units,
        given,
        matching.facts(task, folder),
        "by id",
        faults=+faults,
        replies=replies,
    )


def score(matched_answers: MatchedAnswers, file: Path, resamples: int = RESAMPLES) -> Score:
    """The score of predictions, with all facts shown with it.

    :param resamples: for the interval; 0 for none
    """
    formulation, columns = matched_answers.formulation, matched_answers.columns
    task, documents = formulation.task, columns["doc_id"]
    figures = formulation.score(columns["gold"], columns["prediction"], documents)
    floor = formulation.best_constant(columns["gold"], documents)
    unscaled = metrics.get(task.metric).unscaled
    best = best_of_paper().get(task.name)
    majority = None
    if matched_answers.facts.majority is not None:
        majority = 100 * formulation.main_metric(
            formulation.score(columns["gold"], columns["majority"], documents)
        )
    return Score(
        task=task,
        split=matched_answers.split,
        file=file,
        score=100 * formulation.main_metric(figures),
        interval=_interval_of(matched_answers, resamples) if resamples else None,
        metric=next(iter(figures)),
        figures={
            name: value if name in unscaled else 100 * value for name, value in figures.items()
        },
        majority=majority,
        floor=None if floor is None else 100 * floor,
        published=best if matched_answers.split == "test" else None,
        all_classes=_all_classes(task, columns),
        examples=len(matched_answers.units),
        matched=matched_answers.matched,
        verdict=matched_answers.facts.verdict,
        predictions=hash_predictions(columns),
        missing=matched_answers.facts.missing,
        gold_column=matched_answers.gold_column,
        is_gold=matched_answers.is_gold,
        faults=matched_answers.faults,
        unread=0.0 if matched_answers.replies is None else matched_answers.replies.unread,
    )


def _interval_of(found: MatchedAnswers, resamples: int) -> tuple[float, float]:
    """95 % over the choice of test examples, by documents where the source names them, as for every row."""
    name = found.formulation.task.name
    clusters = shared_clusters([(found.formulation, found.columns)])
    assert clusters is not None  # of one run
    ends = bootstrap.spread(clusters, name, resamples).interval
    least, most = score_bounds(name)
    return max(ends[0], least), min(ends[1], most)


def _all_classes(task: Task, columns: Mapping[str, Sequence[Any]]) -> AllClasses | None:
    """Accuracy over all classes, if the task's metric leaves one out."""
    negative = task.metric_options.get("negative")
    if not isinstance(negative, str):
        return None
    gold = columns["gold"]
    right = sum(map(str.__eq__, gold, columns["prediction"]))
    return AllClasses(100 * right / len(gold), 100 * gold.count(negative) / len(gold), negative)


class ScoreLine(TypedDict):
    """The score of the predictions of a dataset; figures are times 100, empty where nothing is known."""

    dataset: Annotated[str, "name of the task", From("task.name")]
    split: Annotated[str, f"{' or '.join(SCORED)}"]
    metric: Annotated[str, "name of the score"]
    score: Annotated[float, "BLURB's metric"]
    low: Annotated[
        float | None,
        "lower end of its 95 % interval, over the choice of test examples",
        From("interval.0"),
    ]
    high: Annotated[float | None, "upper end", From("interval.1")]
    majority: Annotated[float | None, "score of the most frequent answer of train"]
    floor: Annotated[float | None, "score of the best constant answer"]
    published: Annotated[float | None, "best figure of the paper's Table 6", From("published.0")]
    published_model: Annotated[
        str, "its model", From(lambda one: one.published[1] if one.published else "")
    ]
    all_class_accuracy: Annotated[
        float | None,
        "accuracy over all classes, which is not BLURB's metric",
        From("all_classes.accuracy"),
    ]
    all_class_constant: Annotated[
        float | None,
        "accuracy over all classes of the negative class for all examples",
        From("all_classes.constant"),
    ]
    examples: Annotated[int, "number of examples"]
    matched: Annotated[str, "how the example of each answer was found"]
    data: Annotated[str, "verdict on the data: identical to BLURB's, or what else", From("verdict")]
    predictions: Annotated[str, "SHA-256 of the predictions by id"]
    faults: Annotated[
        Mapping[str, int], "what is wrong with answers, and how often (docs/language-models.md)"
    ]
    remarks: Annotated[list[str], "what to know before the score is compared with others"]

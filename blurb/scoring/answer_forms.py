"""The answers of language models: mentions, a label, labels or a number, by the column of the gold answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from blurb.data.schema import Example
from blurb.scoring import mentions
from blurb.scoring.columns import MENTIONS
from blurb.tasks import Task

NO_LABEL = "(none)"
"""The class of examples without a label or a mention."""
Names = Mapping[str, str]


class AnswerForm(NamedTuple):
    """The form of the answers to the tasks of some types.

    :param key: of the JSON object
    :param schema: from the JSON Schema of a label's name to that of the value
    :param gold: the right value for an example, from it and the name of each label in the prompts
    :param classes: of an example, from which shots are drawn in turn
    :param read: the answer from the task, the value and the label of each name; raises one of `UNREADABLE` for a value
        that the schema does not allow
    :param unreadable: replaces an answer that cannot be read: an empty one where possible, else a wrong one
    """

    key: str
    schema: Callable[[dict[str, Any]], dict[str, Any]]
    gold: Callable[[Example, Names], Any]
    classes: Callable[[Example], Collection[str]]
    read: Callable[[Task, Any, Names], Any]
    unreadable: Callable[[Task, Example], Any]


UNREADABLE = (LookupError, TypeError, ValueError, OverflowError)


def of(task: Task) -> AnswerForm:
    """The form of the answers to a task."""
    return next(FORMS[name] for name in task.task_type.columns if name in FORMS)


def closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with these keys and no others, which servers call strict."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _mentions_of(task: Task, value: Any, names: Names) -> list[dict[str, str]]:
    read = [
        {"text": each["text"], "type": names[each["type"]]}
        for each in _as_list(value)
        if len(each) == 2
    ]
    if len(read) < len(value) or not all(isinstance(each["text"], str) for each in read):
        raise ValueError
    return read


def _labels_of(task: Task, value: Any, names: Names) -> list[str]:
    chosen = {names[each] for each in _as_list(value)}
    return [label for label in task.labels if label in chosen]


def _scale_of(task: Task) -> list[float]:
    return [float(task.metric_options[end]) for end in ("low", "high")]  # type: ignore[arg-type]


def _score_of(task: Task, value: Any, names: Names) -> float:
    low, high = _scale_of(task)
    if isinstance(value, bool) or not low <= float(value) <= high:
        raise ValueError
    return float(value)


def _wrong_label(task: Task, unit: Example) -> str:
    """The class that the metric leaves out, such as no relation; else the first label that is wrong."""
    options = task.metric_options
    wrong = options.get("positive", unit["label"])
    return str(
        options.get("negative")
        or next((label for label in task.labels if label != wrong), task.labels[0])
    )


FORMS: Mapping[str, AnswerForm] = {
    "tags": AnswerForm(
        MENTIONS,
        schema=lambda name: {
            "type": "array",
            "items": closed({"text": {"type": "string"}, "type": name}),
        },
        gold=lambda row, shown: [
            {**each, "type": shown[each["type"]]}
            for each in mentions.of_tags(row["tokens"], row["tags"])
        ],
        classes=lambda row: ["a mention"] if set(row["tags"]) - {"O"} else [NO_LABEL],
        read=_mentions_of,
        unreadable=lambda task, unit: ["O"] * len(unit["tokens"]),
    ),
    "label": AnswerForm(
        "label",
        schema=lambda name: name,
        gold=lambda row, shown: shown[row["label"]],
        classes=lambda row: [row["label"]],
        read=lambda task, value, names: names[value],
        unreadable=_wrong_label,
    ),
    "labels": AnswerForm(
        "labels",
        schema=lambda name: {"type": "array", "items": name},
        gold=lambda row, shown: [shown[label] for label in row["labels"]],
        classes=lambda row: row["labels"] or [NO_LABEL],
        read=_labels_of,
        unreadable=lambda task, unit: [],
    ),
    "score": AnswerForm(
        "score",
        schema=lambda name: {"type": "number"},
        gold=lambda row, shown: row["score"],
        classes=lambda row: [str(round(row["score"]))],
        read=_score_of,
        # The end of the scale that is farther from the right score.
        unreadable=lambda task, unit: max(
            reversed(_scale_of(task)), key=lambda end: abs(end - unit["score"])
        ),
    ),
}

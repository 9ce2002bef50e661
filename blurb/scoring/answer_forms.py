"""The answers of language models: mentions, a label, labels or a number, by the column of the gold answers.

Mentions are texts: the entities of a sentence in its order, and there is a way back to one tag a word. In
`{"text": ..., "type": ...}` a mention that occurs twice is listed twice. On the gold answers of BLURB's test files this
way back loses at most 0.14 points of F1 (docs/language-models.md has the table, and that of other rules).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.scoring.columns import MENTIONS
from blurb.tasks import Task

MISSING, UNORDERED, OVERLAPPING = "not_in_text", "out_of_order", "overlapping"
"""Faults of a mention; one that is only out of order is taken."""
NO_PLACE = (
    "an entity is at no place of its sentence, or its 'word' is not there: places are characters beside a 'word', "
    "else words, and the end is the place after the last one."
)
PLAIN = frozenset(string.printable) - {*"[]<>"}
"""Characters that a tokenizer gives back as they are; beside them, a word may be `[UNK]`."""


def of_tags(words: Sequence[str], tags: Sequence[str]) -> list[dict[str, str]]:
    """The mentions of a sentence.

    >>> of_tags(["IL", "-", "2", "binds"], ["B-GENE", "I-GENE", "I-GENE", "O"])
    [{'text': 'IL - 2', 'type': 'GENE'}]
    """
    return [
        {"text": " ".join(words[start:end]), "type": kind}
        for start, end, kind in tagging.decode_spans(tags)
    ]


@dataclass
class SearchedWords:
    """Words that mentions are looked for in, letter by letter without blanks: `IL-2` is `IL - 2`."""

    words: Sequence[str]

    def __post_init__(self) -> None:
        parts = ["".join(word.split()) for word in self.words]
        self._text = "".join(parts)
        ends = list(accumulate(map(len, parts)))
        self._starts = {
            end - len(part): place
            for place, (part, end) in enumerate(zip(parts, ends, strict=True))
        }
        self._ends = {end: place + 1 for place, end in reversed([*enumerate(ends)])}

    def spans(
        self, mentions: Sequence[Mapping[str, Any]], faults: Counter[str]
    ) -> list[tagging.Span]:
        """The words of mentions, in the order of the sentence.

        A mention is at the first free place after the mention before, else at the first free place anywhere.

        :param mentions: `text` and `type` of each
        :param faults: counts the faults of mentions
        """
        spans, taken, cursor = list[tagging.Span](), set[int](), 0
        for mention in mentions:
            given = mention.get("place")
            places = (
                self._at(given, mention["text"])
                if given
                else self._places("".join(mention["text"].split()))
            )
            free = [place for place in places if taken.isdisjoint(range(*place))]
            start, end = next(
                (place for place in free if place[0] >= cursor), next(iter(free), (0, 0))
            )
            if not end or start < cursor:
                faults[UNORDERED if end else OVERLAPPING if places else MISSING] += 1
            if end:
                spans.append(tagging.Span(start, end, mention["type"]))
                taken.update(range(start, end))
                cursor = end
        return sorted(spans)

    def _at(self, place: tuple[int, int], text: str | None) -> list[tuple[int, int]]:
        """The words at a place: counted in words without a text, else in characters of the words joined by blanks.

        :raises ValueError: if it is no place of the sentence, or not that of the text, and so is counted otherwise
        """
        (start, end), blank = place, text is not None
        ends = [*accumulate(len(word) + 1 if blank else 1 for word in self.words)]
        if not 0 <= start < end <= ends[-1]:
            raise ValueError
        if text is not None and {*text, *(there := " ".join(self.words)[start:end])} <= PLAIN:
            said, read = ("".join(re.findall("[a-z0-9]", one.lower())) for one in (text, there))
            letters = iter(read)  # tokens that were joined may have left some out
            if not all(letter in letters for letter in said):
                raise ValueError
        inside = [
            number
            for number, (at, to) in enumerate(pairwise([0, *ends]))
            if at < end and start < to - blank
        ]
        return [(inside[0], inside[-1] + 1)] if inside else []

    def _places(self, letters: str) -> list[tuple[int, int]]:
        """First word, and the one after the last, of each occurrence from word border to word border."""
        places, at = [], self._text.find(letters) if letters else -1
        while at >= 0:
            if at in self._starts and at + len(letters) in self._ends:
                places.append((self._starts[at], self._ends[at + len(letters)]))
            at = self._text.find(letters, at + 1)
        return places


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


def _score_of(task: Task, value: Any, names: Names) -> float:
    low, high = task.scale
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
            {**each, "type": shown[each["type"]]} for each in of_tags(row["tokens"], row["tags"])
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
            reversed(task.scale), key=lambda end: abs(end - unit["score"])
        ),
    ),
}

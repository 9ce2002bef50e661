"""Seen and unseen: whether train has the string of a mention, a word or a pair of entities.

A string is its words joined by one blank, in lower case. It is *seen* if it is a gold mention of the whole train
split, whatever its type there. A gold mention and a predicted one each belong to the class of their own string, so hits
and wrong predictions are counted within a class, and precision of unseen strings is that of predictions which no
dictionary of train could have made (NLM asked for these figures: arXiv 2605.20537).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb.inputs.tagging import Span, decode_spans
from blurb.tasks import Task

CLASSES = ("seen", "unseen")
Counts = NDArray[np.float64]
"""(examples, classes, 3): right, predicted and gold items of each class."""


class Item(NamedTuple):
    """A mention, word or pair of an example that is gold, predicted or both."""

    string: str
    type: str
    right: bool
    predicted: bool
    gold: bool


def mention_string(tokens: Sequence[str], span: Span) -> str:
    """The words of a mention joined by one blank, in lower case."""
    return " ".join(tokens[span.start : span.end]).lower()


class SeenStrings(ABC):
    """The strings of train, by which the answers of a task type are counted.

    :param train: examples of the whole train split
    :ivar strings: string -> the types that train gives it, with the number of items of each
    """

    unit: ClassVar[str]
    """What is counted, a plural noun."""
    answer: ClassVar[str]
    """The column of the gold answer."""
    typed: ClassVar[bool] = False
    """Whether a string is seen only with the type that it has in train. A wrong prediction has no class then, and there
    is no precision."""

    def __init__(self, task: Task, train: Iterable[Mapping[str, Any]]) -> None:
        self.task = task
        self.strings: dict[str, Counter[str]] = {}
        for row in train:
            for item in self.items(row, row[self.answer], row[self.answer]):
                self.strings.setdefault(item.string, Counter())[item.type] += 1

    @abstractmethod
    def items(self, example: Mapping[str, Any], gold: Any, predicted: Any) -> Iterable[Item]:
        """The counted items of an example."""

    def count(
        self, examples: Sequence[Mapping[str, Any]], gold: Sequence[Any], predicted: Sequence[Any]
    ) -> tuple[Counts, int]:
        """Counts of each example; and how many gold items have a string that train has with other types only."""
        counts, others = np.zeros((len(examples), len(CLASSES), 3)), 0
        for place, answers in enumerate(zip(examples, gold, predicted, strict=True)):
            for item in self.items(*answers):
                types = self.strings.get(item.string, Counter())
                seen = item.type in types if self.typed else bool(types)
                counts[place, int(not seen)] += item.right, item.predicted, item.gold
                others += item.gold and bool(types) and item.type not in types
        return counts, others


class Mentions(SeenStrings):
    """Mentions of NER, micro over types."""

    unit = "mentions"
    answer = "tags"

    def items(self, example: Mapping[str, Any], gold: Any, predicted: Any) -> Iterable[Item]:
        # Most sentences have no mention, which is seen without reading tag by tag.
        right, given = (
            set(decode_spans(tags)) if {*tags} != {"O"} else set() for tags in (gold, predicted)
        )
        for span in right | given:
            string = mention_string(example["tokens"], span)
            yield Item(string, span.type, span in right & given, span in given, span in right)


class Words(SeenStrings):
    """Words of PICO, whose recall is counted."""

    unit = "words"
    answer = "tags"
    typed = True

    def items(self, example: Mapping[str, Any], gold: Any, predicted: Any) -> Iterable[Item]:
        for word, right, given in zip(example["tokens"], gold, predicted, strict=True):
            if right != "O":
                yield Item(word.lower(), right[2:], right[2:] == given[2:], False, True)


class Pairs(SeenStrings):
    """Pairs of entities with their names, whose strings stand in a positive pair of train together."""

    unit = "pairs"
    answer = "label"

    def items(self, example: Mapping[str, Any], gold: Any, predicted: Any) -> Iterable[Item]:
        options = self.task.metric_options
        positive = {options["positive"]} if "positive" in options else set(self.task.labels)
        positive -= {options.get("negative")}
        if not positive.isdisjoint((gold, predicted)):
            names = (
                example["text"][span["start"] : span["end"]]
                for span in (example["head"], example["tail"])
            )
            string = " | ".join(sorted(" ".join(name.lower().split()) for name in names))
            yield Item(
                string,
                gold if gold in positive else predicted,
                gold == predicted,
                predicted in positive,
                gold in positive,
            )

"""Mentions as text: the entities of a sentence in its order, and the way back to one tag a word.

In `{"text": ..., "type": ...}` a mention that occurs twice is listed twice. On the gold answers of BLURB's test files
this way back loses at most 0.14 points of F1 (docs/language-models.md has the table, and that of other rules).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from blurb.inputs import tagging

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

"""Tag sequences as arrays. Reading takes longer than all else that the entity metric does: no loops over words here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Flags = NDArray[np.bool_]

NO_TYPE = "_"  # seqeval's name for the type of a tag that has none
FIRST_TYPED = 128  # numbers below are the letters of tags without a type


class Tags(NamedTuple):
    """The tags of all words in a row, as numbers, and what each number stands for."""

    numbers: NDArray[np.unsignedinteger]  # (words,)
    prefixes: str  # (tags,)
    types: Numbers  # (tags,) the same number for the same type in all that one table reads; no meaning for an O

    def has_prefix(self, letters: str) -> Flags:
        """Whether a tag begins with one of these letters: (tags,)."""
        return np.array([prefix in letters for prefix in self.prefixes], dtype=np.bool_)


class TagTable(dict[str, str]):
    """Maps a tag to a character, the code point of which is its number: the letter itself if the tag has no type.

    Characters, because a string of them is the quickest way from many Python strings to an array of numbers.
    """

    def __init__(self, prefixes: str) -> None:
        """`prefixes`: the letters that a tag may begin with."""
        super().__init__({prefix: prefix for prefix in prefixes})
        self.allowed = prefixes
        self.prefixes = [chr(number) for number in range(FIRST_TYPED)]  # by number of the tag
        self.types = [0] * FIRST_TYPED  # by number of the tag
        self.type_numbers = {NO_TYPE: 0}

    def __missing__(self, tag: str) -> str:
        prefix, _, name = str(tag).partition("-")
        if len(prefix) != 1 or prefix not in self.allowed:
            raise self.not_a_tag(tag)
        self[tag] = chr(len(self.prefixes))
        self.prefixes.append(prefix)
        self.types.append(self.type_numbers.setdefault(name or NO_TYPE, len(self.type_numbers)))
        return self[tag]

    def not_a_tag(self, tag: str) -> ValueError:
        expected = ", ".join(self.allowed)
        return ValueError(f"{tag!r} is not a tag here: expected one of {expected}, alone or followed by '-TYPE'.")

    def read(self, sentences: Sequence[Sequence[str]]) -> Tags:
        """Raises ValueError at a tag with another prefix than those allowed."""
        text = join_letters(sentences)
        if text is None:
            text = "".join(map(self.__getitem__, chain.from_iterable(sentences)))
        elif text.encode().translate(None, delete=self.allowed.encode()):
            raise self.not_a_tag(next(letter for letter in text if letter not in self.allowed))
        numbers: NDArray[np.unsignedinteger]  # (words,)
        if len(self.prefixes) <= 256:
            numbers = np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
        else:
            numbers = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return Tags(numbers, "".join(self.prefixes), np.array(self.types, dtype=np.intp))


def join_letters(sentences: Sequence[Sequence[str]]) -> str | None:
    """All tags as one text if each is a single letter, as in BLURB's own files; None if any is longer, or empty.

    >>> join_letters([["B", "I"], ["O"]])
    'BIO'
    >>> join_letters([["O"], ["B-Disease"]]) is None
    True
    """
    joined = []
    for sentence in sentences:
        letters = "".join(sentence)
        # Only an empty tag beside one of two letters is missed; to look at every word would take as long again.
        if len(letters) != len(sentence):
            return None
        joined.append(letters)
    return "".join(joined)

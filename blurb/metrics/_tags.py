"""Tag sequences as arrays. Reading them is the slowest part of the entity metric, so there are no loops over words."""

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
    """The concatenated tags of all words as numbers, and the tag of each number."""

    numbers: NDArray[np.unsignedinteger]  # (words,)
    prefixes: str  # (tags,)
    types: Numbers  # (tags,) the same number for the same type in all that one table reads; no meaning for an O

    def has_prefix(self, letters: str) -> Flags:
        """Whether a tag begins with one of these letters: (tags,)."""
        return np.array([prefix in letters for prefix in self.prefixes], dtype=np.bool_)


class TagTable(dict[str, str]):
    """Maps a tag to a character whose code point is its number: the letter itself if the tag has no type.

    A string of characters is the fastest way from many Python strings to an array of numbers.
    """

    def __init__(self, prefixes: str) -> None:
        """`prefixes`: the letters with which a tag may begin."""
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
        return ValueError(
            f"{tag!r} is not a valid tag: expected one of {expected}, alone or followed by '-TYPE'."
        )

    def with_type(self, letters: str, name: str) -> str:
        """The characters of tags in which all letters except O are followed by `name`."""
        typed = {letter: self[letter + name] for letter in self.allowed if letter != "O"}
        if max(typed.values()) > chr(255):  # more types than a corpus has
            return letters.translate({ord(letter): tag for letter, tag in typed.items()})
        table = bytes.maketrans("".join(typed).encode(), "".join(typed.values()).encode("latin-1"))
        return letters.encode().translate(table).decode("latin-1")

    def read(self, sentences: Sequence[Sequence[str]]) -> Tags:
        """The tags of sentences; raises ValueError for a tag with an invalid prefix."""
        letters, name = join_letters(sentences)
        if letters is None:
            text = "".join(map(self.__getitem__, chain.from_iterable(sentences)))
        else:
            if letters.encode().translate(None, delete=self.allowed.encode()):
                raise self.not_a_tag(
                    next(letter for letter in letters if letter not in self.allowed)
                )
            text = self.with_type(letters, name) if name else letters
        numbers: NDArray[np.unsignedinteger]  # (words,)
        if len(self.prefixes) <= 256:
            numbers = np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
        else:
            numbers = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return Tags(numbers, "".join(self.prefixes), np.array(self.types, dtype=np.intp))


def join_letters(sentences: Sequence[Sequence[str]]) -> tuple[str | None, str]:
    """The first letters of all tags as one string, and the common suffix of all except O: "" or `-TYPE`.

    None and "" if the tags have several types, or some have a type and some do not.

    >>> join_letters([["B", "I"], ["O"]])
    ('BIO', '')
    >>> join_letters([["O"], ["B-Disease", "I-Disease"]])
    ('OBI', '-Disease')
    >>> join_letters([["O"], ["B-Disease", "I"]])
    (None, '')
    """
    words = sum(map(len, sentences))
    text = "".join(map("".join, sentences))
    # Only an empty tag beside one of two letters is missed; to look at every word would take as long again.
    if len(text) == words:
        return text, ""
    name = next((tag[1:] for sentence in sentences for tag in sentence if len(tag) > 1), "")
    letters, named = _count_removed(text, name)
    if name.startswith("-") and len(letters) == words and letters.count("O") + named == words:
        return letters, name
    return None, ""


def _count_removed(text: str, name: str) -> tuple[str, int]:
    """`text.replace(name, "")`, and the number of replacements.

    Deletes the characters of the name instead if that gives the same result, as it is faster.
    """
    named = text.count(name)
    if text.isascii():
        letters = text.encode().translate(None, delete=name.encode()).decode()
        if len(text) - len(letters) == named * len(name):  # none of them stands anywhere else
            return letters, named
    return text.replace(name, ""), named

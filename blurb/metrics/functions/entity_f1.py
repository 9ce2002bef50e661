"""Entity-level F1: an entity is correct if its first word, last word and type are correct. (The five NER tasks.)

Both readings of a tag sequence split the words inside entities into runs, and differ only in which runs count:

    word           1    2    3    4    5
    tag            O    I    I    B    O
    runs               [I    I]  [B]
    lenient            entity    entity
    strict                       entity

A word joins the previous word if it continues (I, E, L) an unfinished entity (B, I) of the same type.

Tag sequences are read as arrays, without loops over words: reading them is the slowest part of the metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb.metrics._metric import Metric, Sentences, check_sentences, count_ratios, count_wrong, f1

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
        return ValueError(
            f"{tag!r} is not a valid tag: expected one of {', '.join(self.allowed)}, alone or followed by '-TYPE'."
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


IOB2_PREFIXES = "BIO"
ALL_PREFIXES = "BIOESLU"  # E and S of IOBES are L and U of BIOUL
STARTS, CONTINUES, UNFINISHED = "BSU", "IEL", "BI"


class _Entities(NamedTuple):
    """Arrays of (entities,), in the order of the text."""

    starts: Numbers  # the first word
    lengths: Numbers  # in words
    types: Numbers


def _find_entities(tags: Tags, is_first: Flags, strict: bool) -> _Entities:
    """The entities of tags; `is_first`, (words,): whether a word is the first of its sentence."""
    # (inside,); few words are in an entity
    inside = np.flatnonzero(tags.has_prefix(STARTS + CONTINUES).take(tags.numbers))
    numbers = tags.numbers[inside]  # (inside,)
    # (inside,) each
    continues, unfinished = (
        tags.has_prefix(CONTINUES)[numbers],
        tags.has_prefix(UNFINISHED)[numbers],
    )
    types = tags.types[numbers]  # (inside,)
    # (inside,) whether a word belongs to the run of the one before
    joins = np.zeros(len(inside), dtype=np.bool_)
    joins[1:] = (
        continues[1:]
        & unfinished[:-1]
        & (np.diff(types) == 0)
        & (np.diff(inside) == 1)
        & ~is_first[inside[1:]]
    )
    runs = np.flatnonzero(~joins)  # (runs,) where each begins, among the words inside
    lengths = np.diff(runs, append=len(inside))  # (runs,)
    if strict:
        begins = ~continues[runs]  # (runs,) a run that begins in the middle is no entity
        runs, lengths = runs[begins], lengths[begins]
    return _Entities(inside[runs], lengths, types[runs])


def entity_counts(
    gold: Sentences, predicted: Sentences, *, strict: bool = False
) -> NDArray[np.int64]:
    """Numbers of correct, predicted and gold entities of each sentence, (sentences, 3); their sums give `entity_f1`.

    >>> entity_counts([["B", "I", "O"], ["O", "B"]], [["B", "I", "B"], ["O", "O"]])
    array([[1, 2, 1],
           [0, 0, 1]])

    Arguments and errors are those of `entity_f1`.
    """
    sentence_lengths = check_sentences(gold, predicted)
    sentence_of = np.repeat(np.arange(len(gold)), sentence_lengths)  # (words,)
    # (words + 1,) an empty sentence may begin after the last
    is_first = np.zeros(len(sentence_of) + 1, dtype=np.bool_)
    is_first[np.cumsum(sentence_lengths) - sentence_lengths] = True
    table = TagTable(IOB2_PREFIXES if strict else ALL_PREFIXES)
    g, p = (_find_entities(table.read(side), is_first, strict) for side in (gold, predicted))
    same_start, in_g, in_p = np.intersect1d(
        g.starts, p.starts, assume_unique=True, return_indices=True
    )
    right = same_start[(g.lengths[in_g] == p.lengths[in_p]) & (g.types[in_g] == p.types[in_p])]
    return np.stack(
        [
            np.bincount(sentence_of[starts], minlength=len(gold))
            for starts in (right, p.starts, g.starts)
        ],
        axis=1,
    )


def entity_f1(gold: Sentences, predicted: Sentences, *, strict: bool = False) -> dict[str, float]:
    """Micro-F1 over all entities of all types.

    Args:
        gold, predicted: the tags of each sentence, (sentences, words of the sentence): `O`, or a prefix alone (`B`) or
            with a type (`B-Disease`). Prefixes: B and I, E or L (last word), S or U (single word).
        strict: whether an entity must begin with B, as in IOB2; E, L, S and U are then invalid.

    Returns:
        `f1`, `precision`, `recall` as fractions; `true_positives`, `predicted`, `gold` as counts of entities.

    Raises:
        ValueError: if the lengths differ (the message names the sentence and both lengths), or a tag is invalid.

    Example: an I after O begins an entity for the lenient reading only (docs/benchmark.md, "Orphan I").

    >>> entity_f1([["B", "I", "O"]], [["I", "I", "O"]])["f1"]
    1.0
    >>> entity_f1([["B", "I", "O"]], [["I", "I", "O"]], strict=True)
    {'f1': 0.0, 'precision': 0.0, 'recall': 0.0, 'true_positives': 0.0, 'predicted': 0.0, 'gold': 1.0}

    Source: exact spans, Gu et al. section 2.4; the lenient reading is conlleval's and the default of seqeval 1.2.2,
    which LinkBERT's script calls; strict is seqeval's `mode="strict", scheme=IOB2`. One difference is intended:
    seqeval's default mode supports E and S, but misreads L and U with a warning; here L is E and U is S.
    """
    true_positives, n_predicted, n_gold = (
        entity_counts(gold, predicted, strict=strict).sum(axis=0).tolist()
    )
    return {
        **count_ratios(true_positives, n_predicted, n_gold)._asdict(),
        "true_positives": float(true_positives),
        "predicted": float(n_predicted),
        "gold": float(n_gold),
    }


METRIC = Metric(
    entity_f1,
    main="f1",
    hub="f1",
    counts=entity_counts,
    score=f1,
    mistakes=count_wrong,
    sequence=True,
    tallies=frozenset({"true_positives", "predicted", "gold"}),
    low=0.0,
)

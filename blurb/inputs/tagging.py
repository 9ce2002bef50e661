"""Converts between entity spans and tags. Examples have the tags of their files: BIO (NER), `I-` (PICO).

    words    the   BRCA1   gene   of   p53
    IO       O     I       I      O    I
    BIO      O     B       I      O    B
    BIOUL    O     B       L      O    U

All schemes are read by the same rule: a word belongs to the entity of the previous word if it continues (I, L) an
unfinished entity (B, I) of the same type; any other word except O begins an entity. `blurb.metrics.entity_f1` uses the
same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blurb.messages import UnknownName


class Span(NamedTuple):
    """An entity: words `start` to `end` (exclusive) of a sentence, and its type."""

    start: int
    end: int
    type: str


class Scheme(NamedTuple):
    """The prefixes of the words of an entity, which define the scheme."""

    first: str
    inside: str
    last: str
    single: str


SCHEMES = {
    "io": Scheme(first="I", inside="I", last="I", single="I"),
    "bio": Scheme(first="B", inside="I", last="I", single="B"),
    "bioul": Scheme(first="B", inside="I", last="L", single="U"),
}
ALIASES = {"bilou": "bioul", "iobes": "bioul"}
NAMES = (*SCHEMES, *ALIASES)
OTHER_LETTERS = {"E": "L", "S": "U"}
"""The prefixes of IOBES for those of BIOUL; they are read but never written."""


IOB1 = "iob1"
"""A scheme that is read and never written: BIO where an entity begins with B only if it follows another at once."""
READ = (*NAMES, IOB1)
"""All schemes that a file may have."""


class TaggingRules(NamedTuple):
    """Which tags a scheme allows at which position, for K tags in the given order."""

    start_transitions: NDArray[np.bool_]  # (K,) may be the first tag of a sentence
    transitions: NDArray[np.bool_]  # (K, K) the second tag may follow the first
    end_transitions: NDArray[np.bool_]  # (K,) may be the last tag of a sentence


def scheme_name(name: str) -> str:
    """The canonical name of a scheme; UnknownName if it does not exist.

    >>> scheme_name("BILOU")
    'bioul'
    """
    known = ALIASES.get(name.lower(), name.lower())
    if known not in SCHEMES:
        raise UnknownName("tagging scheme", name.lower(), NAMES)
    return known


def reading_scheme(name: str, where: object = None) -> str:
    """The scheme whose rule (`decode_spans`) reads the tags of a file; UnknownName if it does not exist.

    >>> reading_scheme("IOB1"), reading_scheme("iobes")
    ('bio', 'bioul')
    """
    if name.lower() not in READ:
        raise UnknownName("tagging scheme", name.lower(), READ, where=where)
    return "bio" if name.lower() == IOB1 else scheme_name(name)


def decode_spans(tags: Sequence[str], scheme: str = "bio") -> list[Span]:
    """The entities of a tag sequence, even if the scheme does not allow it:

    - IO: every sequence is allowed; a run of one type is an entity, so adjacent entities of one type are merged.
    - BIO: an I after O or after another type begins an entity, like a B.
    - BIOUL: the same for an I or L that continues nothing; an entity without L ends where it is not continued.

    No word is lost: every tag except O belongs to an entity.

    >>> decode_spans(["I-PAR", "I-PAR", "O", "B-INT", "B-INT", "I-INT"])
    [Span(start=0, end=2, type='PAR'), Span(start=3, end=4, type='INT'), Span(start=4, end=6, type='INT')]
    >>> tags = ["L-PAR", "I-PAR", "O", "B-INT", "U-INT", "B-INT", "L-INT"]
    >>> decode_spans(tags, "bioul")  # doctest: +NORMALIZE_WHITESPACE
    [Span(start=0, end=1, type='PAR'), Span(start=1, end=2, type='PAR'), Span(start=3, end=4, type='INT'),
     Span(start=4, end=5, type='INT'), Span(start=5, end=7, type='INT')]

    :raises ValueError: for a tag that the scheme does not have
    """
    name = scheme_name(scheme)
    entities: list[Span] = []
    start, before = 0, OUTSIDE
    for place, tag in enumerate([*tags, "O"]):
        if tag == "O" and before is OUTSIDE:  # nine words of ten
            continue
        word = _read_tag(tag, name)
        if not _joins_before(before, word):
            if before is not OUTSIDE:
                entities.append(Span(start, place, before.type))
            start = place
        before = word
    return entities


def tags(spans: Sequence[Span], length: int, scheme: str) -> list[str]:
    """The tags of a sentence of `length` words with these entities. Always legal.

    >>> tags([Span(0, 1, "PAR"), Span(1, 4, "PAR")], 5, "bioul")
    ['U-PAR', 'B-PAR', 'I-PAR', 'L-PAR', 'O']

    :raises ValueError: if entities overlap or leave the sentence
    """
    prefixes = SCHEMES[scheme_name(scheme)]
    written = ["O"] * length
    for start, end, kind in spans:
        if not 0 <= start < end <= length or any(tag != "O" for tag in written[start:end]):
            raise ValueError(
                f"entity at words {start} to {end} overlaps another one or exceeds the sentence of {length} words."
            )
        run = [prefixes.first, *[prefixes.inside] * (end - start - 2), prefixes.last]
        written[start:end] = [
            _make_tag(prefix, kind) for prefix in (run if end - start > 1 else [prefixes.single])
        ]
    return written


def convert_tags(sequence: Sequence[str], source: str, target: str) -> list[str]:
    """Converts a tag sequence to another scheme, by way of its spans; converting to the same scheme repairs it.

    >>> convert_tags(["I-PAR", "B-PAR", "I-PAR", "O"], "bio", "bioul")
    ['U-PAR', 'B-PAR', 'L-PAR', 'O']
    >>> convert_tags(["B", "E", "S"], "iobes", "io")
    ['I', 'I', 'I']
    """
    return tags(decode_spans(sequence, source), len(sequence), target)


def labels(types: Sequence[str], scheme: str) -> tuple[str, ...]:
    """All tags for these entity types; `O` comes first, so that index 0 is "no entity".

    >>> labels(["PAR"], "bioul")
    ('O', 'B-PAR', 'I-PAR', 'L-PAR', 'U-PAR')
    """
    prefixes = dict.fromkeys(SCHEMES[scheme_name(scheme)])  # each once
    return ("O", *(_make_tag(prefix, kind) for kind in types for prefix in prefixes))


def tagging_rules(labels: Sequence[str], scheme: str) -> TaggingRules:
    """Which of these tags may begin a sentence, follow one another and end it.

    A sequence is legal if `tags` could have written it: two neighbours are of one entity, or the first can end an
    entity and the second can begin one. (O does both.)

    >>> found = tagging_rules(["O", "B-PAR", "I-PAR"], "bio")
    >>> found.start_transitions.tolist(), found.end_transitions.tolist()
    ([True, True, False], [True, True, True])
    >>> found.transitions.tolist()
    [[True, True, False], [True, True, True], [True, True, True]]
    """
    name = scheme_name(scheme)
    read = [_read_tag(tag, name) for tag in labels]

    return TaggingRules(
        start_transitions=np.array([word.begins for word in read]),
        transitions=np.array(
            [[_joins_before(a, b) or (a.ends and b.begins) for b in read] for a in read]
        ),
        end_transitions=np.array([word.ends for word in read]),
    )


class _Word(NamedTuple):
    """The meaning of a tag."""

    type: str
    begins: bool  # it can be the first word of an entity
    continues: bool  # it can be a later one
    unfinished: bool  # another can follow in the entity
    ends: bool  # it can be the last one


OUTSIDE = _Word("", begins=True, continues=False, unfinished=False, ends=True)


@lru_cache(maxsize=4096)
def _read_tag(tag: str, scheme: str) -> _Word:
    if tag == "O":
        return OUTSIDE
    prefix, _, kind = tag.partition("-")
    if scheme == "bioul":
        prefix = OTHER_LETTERS.get(prefix, prefix)
    first, inside, last, single = prefixes = SCHEMES[scheme]
    if prefix not in prefixes:
        raise ValueError(f"{tag!r} is not a tag of {scheme.upper()}.")
    return _Word(
        kind,
        prefix in (first, single),
        prefix in (inside, last),
        prefix in (first, inside),
        prefix in (last, single),
    )


def _joins_before(before: _Word, word: _Word) -> bool:
    """Whether two adjacent words belong to the same entity."""
    return before.unfinished and word.continues and before.type == word.type


def _make_tag(prefix: str, kind: str) -> str:
    return f"{prefix}-{kind}" if kind else prefix

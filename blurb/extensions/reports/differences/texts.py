"""Text of an example with parts of it marked: entities, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from blurb.extensions.reports.errors.entities import CONTEXT
from blurb.inputs.tagging import Span
from blurb.tasks import TaskType

MOST_LETTERS = 40
"""Words that `shortened` keeps of a text without marks."""
ANSWERS = ("doc_id", "label")
"""Columns of text that are no text to read."""


class Piece(NamedTuple):
    """A part of a text."""

    text: str
    marked: bool = False


Text = tuple[Piece, ...]


def of_words(tokens: Sequence[str], span: Span) -> Text:
    """A sentence with an entity marked.

    >>> [piece.text for piece in of_words(["a", "rare", "disease"], Span(1, 3, ""))]
    ['a ', 'rare disease']
    """
    before, inside, after = tokens[: span.start], tokens[span.start : span.end], tokens[span.end :]
    pieces = (
        Piece("".join(f"{word} " for word in before)),
        Piece(" ".join(inside), marked=True),
        Piece("".join(f" {word}" for word in after)),
    )
    return tuple(piece for piece in pieces if piece.text)


def of_characters(text: str, spans: Iterable[tuple[int, int]]) -> Text:
    """A text with spans of characters marked; those that overlap are marked as one.

    >>> of_characters("@GENE$ and more", [(0, 6), (3, 6)])
    (Piece(text='@GENE$', marked=True), Piece(text=' and more', marked=False))
    """
    pieces, done = [], 0
    for start, end in _merged(spans):
        pieces += [Piece(text[done:start]), Piece(text[start:end], marked=True)]
        done = end
    pieces.append(Piece(text[done:]))
    return tuple(piece for piece in pieces if piece.text)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def of_example(example: Mapping[str, Any], task_type: TaskType) -> dict[str, Text]:
    """The texts of an example by column; in `text` the entities of a relation are marked."""
    columns = task_type.columns
    entities = [example[name] for name, column in columns.items() if column == "span" and example.get(name)]
    spans = [(entity["start"], entity["end"]) for entity in entities]
    names = [name for name, column in columns.items() if column == "text" and name not in ANSWERS]
    return {
        name: of_characters(str(example[name]), spans if name == "text" else ()) for name in names if example.get(name)
    }


def shortened(text: Text, context: int = CONTEXT, most: int = MOST_LETTERS) -> Text:
    """The marks with some words around them; of a text without marks the first words.

    >>> shortened(of_words(list("abcdef"), Span(3, 4, "")), context=1)
    (Piece(text='... c ', marked=False), Piece(text='d', marked=True), Piece(text=' e ...', marked=False))
    """
    if not any(piece.marked for piece in text):
        words = "".join(piece.text for piece in text).split()
        return (Piece(" ".join(words[:most]) + " ..."),) if len(words) > most else text
    pieces = list(text)
    if not pieces[0].marked and len(words := pieces[0].text.split(" ")) > context + 1:
        pieces[0] = Piece(" ".join(["...", *words[-context - 1 :]]))
    if not pieces[-1].marked and len(words := pieces[-1].text.split(" ")) > context + 1:
        pieces[-1] = Piece(" ".join([*words[: context + 1], "..."]))
    return tuple(pieces)


def bracketed(text: Text) -> str:
    """A text with its marks as brackets.

    >>> bracketed(of_words(["a", "rare", "disease"], Span(1, 3, "")))
    'a [rare disease]'
    """
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in text)

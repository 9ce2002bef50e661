"""Terms and how a tokenizer splits them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from blurb.inputs.tokenizer import Tokenizer
from blurb.table_files import lines_of


def read(path: Path) -> list[str]:
    """The terms of a file, one a line; empty lines and repetitions are left out.

    :raises DataError: if the file is missing, is not UTF-8, or has no terms
    """
    terms: dict[str, None] = {}
    for line, text in lines_of(path):
        if "\0" in text:
            raise line.error("the line is not text", "save the terms as UTF-8, one a line.")
        if text.strip():
            terms[text.strip()] = None
    return list(terms)


def split(tokenizer: Tokenizer, terms: Sequence[str]) -> dict[str, list[str]]:
    """The pieces of each term as text; those that show nothing (blanks alone) are left out, an unknown one is `[UNK]`.

    The text is the term's own, so upper case stays where the tokenizer lowers it.
    """
    unknown = tokenizer.inner.unk_token_id
    by_term = {}
    for term, pieces in zip(terms, tokenizer.subtokens(terms), strict=True):
        shown = [
            "[UNK]" if index == unknown else term[start:end]
            for index, start, end in zip(pieces.ids, pieces.starts, pieces.ends, strict=True)
        ]
        by_term[term] = [piece for piece in shown if piece]
    return by_term

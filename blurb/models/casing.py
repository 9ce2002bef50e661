"""Whether a tokenizer keeps capitals: what its files say, unless that throws a part of its vocabulary away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blurb.errors import ModelError
from blurb.inputs.tokenizer import Tokenizer

CASINGS = ("cased", "uncased")


def settle(tokenizer: Tokenizer, casing: str, folder: str, reload: Callable[..., Any]) -> Tokenizer:
    """The tokenizer as it is, or loaded anew so that it keeps capitals.

    :param casing: "cased", "uncased", or "" for what its files say
    :param reload: loads what the tokenizer stands for with further options of `from_pretrained`
    :raises ModelError: if the files lower-case a cased vocabulary and nobody said what is meant, or if what was said
        cannot be
    """
    if not tokenizer.lower_cases:
        if casing == "uncased":
            raise ModelError(f"{folder}: its tokenizer keeps capitals, so casing is not 'uncased'; leave --casing out.")
        return tokenizer
    capitals, entries = tokenizer.capitals
    if casing == "cased":
        if not tokenizer.lowers_a_cased_vocabulary():
            raise ModelError(f"{folder}: its vocabulary is uncased, so casing is not 'cased'; leave --casing out.")
        # Accents follow: BERT's normaliser strips them where it lower-cases, unless the files say otherwise.
        cased = Tokenizer(reload(do_lower_case=False))
        if cased.lower_cases:
            raise ModelError(
                f"{folder}: its tokenizer lower-cases whatever do_lower_case says; take lower-casing out of the "
                "normalizer in its tokenizer.json."
            )
        return cased
    if not casing and tokenizer.lowers_a_cased_vocabulary():
        raise ModelError(
            f"{folder}: its tokenizer lower-cases every text, but {capitals:,} of the {entries:,} entries of its "
            "vocabulary have capitals and would never be used. Say which was meant: --casing cased keeps capitals, "
            "--casing uncased lower-cases as its files say."
        )
    return tokenizer

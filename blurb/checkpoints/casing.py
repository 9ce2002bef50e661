"""Decides whether a tokenizer keeps upper case: as its files say, unless that makes part of its vocabulary useless."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from blurb.inputs.tokenizer import Tokenizer
from blurb.messages.errors import ModelError
from blurb.messages.spelling import opt


def with_casing(tokenizer: Tokenizer, casing: str, folder: Path, reload: Callable[..., Any]) -> Tokenizer:
    """The tokenizer as it is, or reloaded so that it keeps upper case.

    :param casing: "cased", "uncased", or "" to follow its files
    :param reload: reloads the tokenizer with further options of `from_pretrained`
    :raises ModelError: if the files lower-case a cased vocabulary and `casing` is "", or if `casing` contradicts them
    """
    if not tokenizer.lower_cases:
        if casing == "uncased":
            raise ModelError(
                f"{opt('casing', 'uncased')} is not possible, as the tokenizer keeps upper case",
                where=folder,
                fix=f"remove {opt('casing')}.",
            )
        return tokenizer
    capitals, entries = tokenizer.capitals
    if casing == "cased":
        if not tokenizer.lowers_a_cased_vocabulary():
            raise ModelError(
                f"{opt('casing', 'cased')} is not possible, as the vocabulary is lower case",
                where=folder,
                fix=f"remove {opt('casing')}.",
            )
        # Accents follow: BERT's normaliser strips them where it lower-cases, unless the files say otherwise.
        cased = Tokenizer(reload(do_lower_case=False))
        if cased.lower_cases:
            raise ModelError(
                "the tokenizer lower-cases text despite do_lower_case",
                where=folder,
                fix="remove lower-casing from the normalizer in tokenizer.json.",
            )
        return cased
    if not casing and tokenizer.lowers_a_cased_vocabulary():
        raise ModelError(
            f"the tokenizer lower-cases all text, but {capitals:,} of the {entries:,} entries of its "
            "vocabulary have upper case and would never be used.",
            where=folder,
            fix=f"Choose {opt('casing', 'cased')} to keep upper case, or {opt('casing', 'uncased')} to lower-case "
            "as its files say.",
        )
    return tokenizer

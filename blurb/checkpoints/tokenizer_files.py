"""Checks the (untrusted) files of a tokenizer: sizes, token ids, casing, and how long a text may become."""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.checkpoints.reading import check_size, read_json, shorten_value
from blurb.inputs.tokenizer import Tokenizer
from blurb.messages import ModelError, opt

MOST_ID = 10_000_000
"""Tokenizers allocate memory up to the highest id."""
MOST_GROWTH, MOST_STEPS = 1000, 32
"""Maximum number of letters that all steps may make of one letter, and of steps; real tokenizers make 132 in seven."""
UNICODE = 18
"""Maximum number of letters into which Unicode normalization splits a letter, in each step of a normalizer."""
BYTES = 4
"""Maximum number of bytes of a letter; `ByteLevel` turns each byte into a letter."""
TOKENIZER_CONFIG = "tokenizer_config.json"
JSON_FILES = (
    "tokenizer.json",
    TOKENIZER_CONFIG,
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
)
SENTENCEPIECE = (
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
    "sentencepiece.model",
    "tokenizer.model",
)
FILES = (*JSON_FILES, "vocab.txt", "bpe.codes", "merges.txt", *SENTENCEPIECE)
SWITCHES = {
    "BertNormalizer": {
        "lowercase": "do_lower_case",
        "strip_accents": "strip_accents",
        "handle_chinese_chars": "tokenize_chinese_chars",
    },
    "ByteLevel": {"add_prefix_space": "add_prefix_space"},
}
"""Type of a step in tokenizer.json -> field -> name in tokenizer_config.json that overrides it."""
TYPES = {
    "tokenizer_class": (str, "the name of a class"),
    **{
        switch: (bool, "true or false")
        for fields in SWITCHES.values()
        for switch in fields.values()
    },
}
"""Names in tokenizer_config.json that must be absent, null, or of a type."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", *SENTENCEPIECE)
"""One of these makes a tokenizer."""


def read_tokenizer_config(folder: Path) -> dict[str, Any]:
    """The content of tokenizer_config.json, {} without it, once all files of the tokenizer have been checked.

    The content of the other files is not kept: a vocabulary may take 100 MB.

    :raises ModelError: if a file of the tokenizer is huge, no JSON object, has invalid ids, or lets texts grow
    """
    config: dict[str, Any] = {}
    for name in FILES:
        if (folder / name).is_file():
            try:
                check_size(folder, name)
                if name not in JSON_FILES:
                    continue
                content = read_json(folder, name)
                _check_ids(folder, name, content)
                if name == "tokenizer.json":
                    _check_growth(folder, content)
                if name == TOKENIZER_CONFIG:
                    config = content
                    for field, (kind, words) in TYPES.items():
                        if not isinstance(given := content.get(field), kind | None):
                            raise ModelError(
                                f"{name}: {field} must be {words} (got {shorten_value(given)}).",
                                where=folder,
                            )
            except ModelError as error:
                raise ModelError(
                    f"cannot load the tokenizer: {error.what}", where=folder, fix=error.fix
                ) from None
    return config


def _check_ids(folder: Path, name: str, content: Mapping[str, Any]) -> None:
    for token, index in _ids_of_file(name, content):
        if type(index) is not int or not 0 <= index < MOST_ID:
            raise ModelError(
                f"{name}: the id of {shorten_value(token)} must be a whole number from 0 to {MOST_ID - 1:,} "
                f"(got {shorten_value(index)}).",
                where=folder,
            )


def _ids_of_file(name: str, content: Mapping[str, Any]) -> Iterable[tuple[Any, Any]]:
    """All tokens and ids in a file of a tokenizer; other formats are left to the tokenizer."""
    if name in ("vocab.json", "added_tokens.json"):
        yield from content.items()
    if name == "tokenizer.json":
        model = content.get("model")
        vocabulary = model.get("vocab") if isinstance(model, dict) else None
        if isinstance(vocabulary, dict):
            yield from vocabulary.items()
        added = content.get("added_tokens")
        for token in added if isinstance(added, list) else []:
            if isinstance(token, dict):
                yield token.get("content"), token.get("id")
    decoder = content.get("added_tokens_decoder") if name == TOKENIZER_CONFIG else None
    for index, token in decoder.items() if isinstance(decoder, dict) else []:
        yield token, int(index) if index.isdecimal() and len(index) < 20 else index


def _check_growth(folder: Path, content: Mapping[str, Any]) -> None:
    """Raises a ModelError if steps let texts grow: four that make a thousand letters of one would fill any memory."""
    every = [
        step
        for part in ("normalizer", "pre_tokenizer")
        for step in iterate_steps(content.get(part))
    ]
    if len(every) > MOST_STEPS:
        raise ModelError(
            f"tokenizer.json has {len(every)} steps; at most {MOST_STEPS} are accepted.",
            where=folder,
        )
    if (growth := _growth_of_steps(every)) > MOST_GROWTH:
        raise ModelError(
            f"tokenizer.json: its normalizer and pre_tokenizer may make {growth:,} letters of one; at most "
            f"{MOST_GROWTH:,} are accepted.",
            where=folder,
        )


def iterate_steps(step: Any) -> Iterator[dict[str, Any]]:
    """The steps of a normalizer or pre-tokenizer in order; malformed ones are left to the tokenizer."""
    if not isinstance(step, dict):
        return
    inner = [
        step[name] for name in ("normalizers", "pretokenizers") if isinstance(step.get(name), list)
    ]
    if not inner:
        yield step
    for each in (one for group in inner for one in group):
        yield from iterate_steps(each)


def _growth_of_steps(steps: Iterable[Mapping[str, Any]]) -> int:
    """The maximum number of letters that steps make of one; the first Unicode normalization does not count."""
    growth, forms = 1, 0
    for step in steps:
        kind = step.get("type")
        if isinstance(replacement := step.get("content"), str):
            pattern = step.get("pattern")
            letters = isinstance(pattern, dict) and bool(pattern.get("String"))
            # A regular expression may match the empty text between all letters.
            growth *= max(1, len(replacement)) if letters else 1 + 2 * len(replacement)
        if isinstance(prefix := step.get("prepend"), str):
            growth *= 1 + len(prefix)
        if isinstance(charsmap := step.get("precompiled_charsmap"), str):
            growth *= _longest_replacement(charsmap)
        if kind == "ByteLevel":
            growth *= BYTES
        if step.get("add_prefix_space") or kind == "Metaspace":
            growth *= 2
        if kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "BertNormalizer"):
            forms += 1
            growth *= UNICODE if forms > 1 else 1
    return growth


def _longest_replacement(charsmap: str) -> int:
    """The longest one of SentencePiece's table: 4 bytes with the size of a trie, the trie, replacements ended by 0."""
    with contextlib.suppress(binascii.Error, ValueError):
        table = base64.b64decode(charsmap)
        return max(1, *map(len, table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")))
    return 1


def with_casing(
    tokenizer: Tokenizer, casing: str, folder: Path, reload: Callable[..., Any]
) -> Tokenizer:
    """The tokenizer as it is, or reloaded so that it keeps upper case.

    :param casing: "cased", "uncased", or "" to follow its files
    :param reload: reloads the tokenizer with further options of `from_pretrained`
    :raises ModelError: if the files lower-case a cased vocabulary and `casing` is "", or if `casing` contradicts them
    """
    lowers, impossible = tokenizer.lowers_a_cased_vocabulary(), ""
    if casing == "uncased" and not tokenizer.lower_cases:
        impossible = "the tokenizer keeps upper case"
    elif casing == "cased" and tokenizer.lower_cases and not lowers:
        impossible = "the vocabulary is lower case"
    if impossible:
        raise ModelError(
            f"{opt('casing', casing)} is not possible, as {impossible}",
            where=folder,
            fix=f"remove {opt('casing')}.",
        )
    if casing == "uncased" or not lowers:
        return tokenizer
    if not casing:
        capitals, entries = tokenizer.capitals
        raise ModelError(
            f"the tokenizer lower-cases all text, but {capitals:,} of the {entries:,} entries of its "
            "vocabulary have upper case and would never be used.",
            where=folder,
            fix=f"Choose {opt('casing', 'cased')} to keep upper case, or {opt('casing', 'uncased')} to lower-case "
            "as its files say.",
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

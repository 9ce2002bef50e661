"""Checks the (untrusted) files of a tokenizer: token ids, and how long a text may become."""

from __future__ import annotations

import base64
import binascii
import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from blurb.errors import ModelError
from blurb.models.checkpoint import read_json, shortened

MOST_ID = 10_000_000
"""Tokenizers allocate memory up to the highest id."""
MOST_GROWTH = 1000
"""Letters that a normalizer may make of one; Unicode's own (NFKC) make 18."""
JSON_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
)


def check_tokenizer(folder: Path) -> None:
    """Raises a ModelError if a file of the tokenizer is not a JSON object, has invalid ids, or lets texts grow."""
    for name in JSON_FILES:
        if (folder / name).is_file():
            with _of_tokenizer(folder):
                content = read_json(folder, name)
                _check_ids(folder, name, content)
                if name == "tokenizer.json":
                    _check_growth(folder, content)


@contextlib.contextmanager
def _of_tokenizer(folder: Path) -> Iterator[None]:
    try:
        yield
    except ModelError as error:
        said = str(error).removeprefix(f"{folder}: ")
        raise ModelError(f"{folder}: cannot load the tokenizer: {said}") from None


def _check_ids(folder: Path, name: str, content: Mapping[str, Any]) -> None:
    for token, index in _ids(name, content):
        if type(index) is not int or not 0 <= index < MOST_ID:
            raise ModelError(
                f"{folder}: {name}: the id of {shortened(token)} must be a whole number from 0 to {MOST_ID - 1:,} "
                f"(got {shortened(index)})."
            )


def _ids(name: str, content: Mapping[str, Any]) -> Iterable[tuple[Any, Any]]:
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
    decoder = content.get("added_tokens_decoder") if name == "tokenizer_config.json" else None
    for index, token in decoder.items() if isinstance(decoder, dict) else []:
        yield token, int(index) if index.isdecimal() and len(index) < 20 else index


def _check_growth(folder: Path, content: Mapping[str, Any]) -> None:
    """Replacements one after another multiply: four that make a thousand letters of one would fill any memory."""
    for part in ("normalizer", "pre_tokenizer"):
        if (growth := math.prod(_growths(content.get(part)))) > MOST_GROWTH:
            raise ModelError(
                f"{folder}: tokenizer.json: its {part} may make {growth:,} letters of one; at most "
                f"{MOST_GROWTH:,} are accepted."
            )


def _growths(step: Any) -> Iterator[int]:
    """By how much each step of a normalizer may lengthen a text; malformed ones are left to the tokenizer."""
    if not isinstance(step, dict):
        return
    for name in ("normalizers", "pretokenizers"):
        for inner in step[name] if isinstance(step.get(name), list) else ():
            yield from _growths(inner)
    if isinstance(replacement := step.get("content"), str):
        yield max(1, len(replacement))
    if isinstance(prefix := step.get("prepend"), str):
        yield 1 + len(prefix)
    if isinstance(charsmap := step.get("precompiled_charsmap"), str):
        yield _longest_replacement(charsmap)


def _longest_replacement(charsmap: str) -> int:
    """Of SentencePiece's table: the size of a trie in 4 bytes, the trie, then replacements, each with a zero."""
    with contextlib.suppress(binascii.Error, ValueError):
        table = base64.b64decode(charsmap)
        return max(1, *map(len, table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")))
    return 1

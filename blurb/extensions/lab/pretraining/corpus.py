"""The text of a pretraining: read, without what dev and test have, a part held out to measure quality on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from blurb.extensions.lab.text.documents import TextDocument
from blurb.extensions.lab.text.held_out import HeldOut
from blurb.messages.errors import DataError

WORD = re.compile(r"\S+")
HELD_OUT = 50
"""Every fiftieth document, by its hash, is for quality alone."""
MOST_HELD_OUT = 30_000
"""Words of it that are enough."""


@dataclass(frozen=True)
class PretrainingCorpus:
    """Documents to learn from and to measure on.

    :param left_out: reason -> documents that have text of dev or test
    :param hash: SHA-256 of all documents, in order
    """

    texts: Sequence[str]
    held_out: Sequence[str]
    left_out: dict[str, int] = field(default_factory=dict)
    hash: str = ""

    @property
    def words(self) -> int:
        """Number of words to learn from."""
        return sum(len(text.split()) for text in self.texts)


def collect(documents: Iterable[TextDocument], known: HeldOut | None) -> PretrainingCorpus:
    """Keeps out what dev and test have, and copies.

    :param known: dev and test; None where there is no data to compare with
    :raises DataError: if nothing is left
    """
    texts: list[str] = []
    aside: list[str] = []
    left_out: dict[str, int] = {}
    seen: set[bytes] = set()
    digest = hashlib.sha256()
    for document in documents:
        key = hashlib.sha256(" ".join(document.text.split()).casefold().encode()).digest()
        reason = "copy" if key in seen else known.reason(document) if known is not None else ""
        seen.add(key)
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        (aside if int.from_bytes(key[:4], "big") % HELD_OUT == 0 else texts).append(document.text)
        digest.update(document.text.encode() + b"\0")
    if not texts:
        why = f"all {sum(left_out.values())} documents have text of dev or test" if left_out else "it is empty"
        raise DataError(f"There is no text to pretrain on: {why}.")
    if not aside:
        aside = [texts.pop()] if len(texts) > 1 else [_cut(texts)]
    return PretrainingCorpus(texts, _enough(aside), left_out, digest.hexdigest())


def _cut(texts: list[str]) -> str:
    """Takes the last fiftieth of the words of the only document, as a file without blank lines is one."""
    starts = [match.start() for match in WORD.finditer(texts[0])]
    if len(starts) < 2:
        raise DataError("There is no text to pretrain on: it is a single word.")
    place = starts[-max(1, len(starts) // HELD_OUT)]
    texts[0], end = texts[0][:place].rstrip(), texts[0][place:]
    return end


def _enough(texts: Sequence[str]) -> Sequence[str]:
    count = 0
    for number, text in enumerate(texts):
        count += len(text.split())
        if count >= MOST_HELD_OUT:
            return texts[: number + 1]
    return texts


def mixed(first: Sequence[str], second: Sequence[str]) -> Sequence[str]:
    """Two corpora, the smaller repeated until both have as many words, as Gu et al. up-sample (section 3.2).

    Of the last time as many documents as that takes.
    """
    sizes = [sum(len(text.split()) for text in texts) for texts in (first, second)]
    small, large = (first, second) if sizes[0] < sizes[1] else (second, first)
    times, left = divmod(max(sizes), max(1, min(sizes)))
    rest = []
    for text in small:
        if left <= 0:
            break
        rest.append(text)
        left -= len(text.split())
    return [*large, *list(small) * times, *rest]

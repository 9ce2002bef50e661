"""The text and the settings of a pretraining: read, without what dev and test have, a part held out for its quality."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from blurb.extensions.lab.pretraining import documents, task_texts
from blurb.extensions.lab.pretraining.documents import TextDocument
from blurb.extensions.lab.pretraining.inputs import first_words
from blurb.extensions.lab.pretraining.recipe import VERSION, Recipe
from blurb.messages import DataError, SettingsError, UnknownName, opt

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
    left_out: Counter[str] = field(default_factory=Counter)
    hash: str = ""

    @property
    def words(self) -> int:
        """Number of words to learn from."""
        return sum(len(text.split()) for text in self.texts)


def collect(
    documents: Iterable[TextDocument], known: task_texts.HeldOut | None
) -> PretrainingCorpus:
    """Keeps out what dev and test have, and copies.

    :param known: dev and test; None where there is no data to compare with
    :raises DataError: if nothing is left
    """
    texts: list[str] = []
    aside: list[str] = []
    left_out: Counter[str] = Counter()
    seen: set[bytes] = set()
    digest = hashlib.sha256()
    for document in documents:
        key = hashlib.sha256(" ".join(document.text.split()).casefold().encode()).digest()
        reason = "copy" if key in seen else known.reason(document) if known is not None else ""
        seen.add(key)
        if reason:
            left_out[reason] += 1
            continue
        (aside if int.from_bytes(key[:4], "big") % HELD_OUT == 0 else texts).append(document.text)
        digest.update(document.text.encode() + b"\0")
    if not texts:
        why = (
            f"all {left_out.total()} documents have text of dev or test"
            if left_out
            else "it is empty"
        )
        raise DataError(f"There is no text to pretrain on: {why}.")
    if not aside:
        aside = [texts.pop()] if len(texts) > 1 else [_cut(texts)]
    held_out = first_words(aside, MOST_HELD_OUT)
    return PretrainingCorpus(texts, held_out, left_out, digest.hexdigest())


def _cut(texts: list[str]) -> str:
    """Takes the last fiftieth of the words of the only document, as a file without blank lines is one."""
    starts = [match.start() for match in WORD.finditer(texts[0])]
    if len(starts) < 2:
        raise DataError("There is no text to pretrain on: it is a single word.")
    place = starts[-max(1, len(starts) // HELD_OUT)]
    texts[0], end = texts[0][:place].rstrip(), texts[0][place:]
    return end


def mixed(first: Sequence[str], second: Sequence[str]) -> Sequence[str]:
    """Two corpora, the smaller repeated until both have as many words, as Gu et al. up-sample (section 3.2).

    Of the last time as many documents as that takes.
    """
    sizes = [sum(len(text.split()) for text in texts) for texts in (first, second)]
    small, large = (first, second) if sizes[0] < sizes[1] else (second, first)
    times, left = divmod(max(sizes), max(1, min(sizes)))
    return [*large, *list(small) * times, *first_words(small, left)]


TRAIN = "train"
"""Name of the train texts of the data folder; in a folder that has a file of this name, `./train` is the file."""
OF_START = ("size", "vocabulary", "vocabulary_of", "kind", "cased")
"""Settings that a checkpoint to continue from decides."""
NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([kmb]?)", flags=re.IGNORECASE)
UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "b": 1_000_000_000}


def words(text: str) -> int:
    """A number of words.

    >>> words("20M"), words("1.5K"), words("300")
    (20000000, 1500, 300)
    """
    match = NUMBER.fullmatch(text.strip().replace("_", "").replace(",", ""))
    count = Fraction(match[1]) * UNITS[match[2].lower()] if match else Fraction()
    if not count or count.denominator > 1:
        raise SettingsError(f"'{text}' is no number of words", fix="write 300000, 300k or 20M.")
    return int(count)


def recipe(settings: Mapping[str, Any]) -> Recipe:
    """The recipe with some settings, checked; a checkpoint to start from brings its vocabulary.

    :raises UnknownName: for a setting that is none
    :raises SettingsError: for what no pretraining can do
    """
    names = [field.name for field in fields(Recipe) if field.name != "version"]
    for name in settings:
        if name not in names:
            raise UnknownName("setting of a pretraining", name, names)
    requested = Recipe(**settings)
    if requested.start:
        for name in OF_START:
            if getattr(requested, name) != getattr(Recipe(), name):
                raise SettingsError(
                    f"{name} is of a new encoder; {requested.start} has its own",
                    fix=f"remove {name} or start.",
                )
        requested = replace(requested, size="", vocabulary=0)
    requested.check()
    return requested


def corpus(
    text: Sequence[str],
    mix: Sequence[str] = (),
    data: Path | None = None,
    raw: Path | None = None,
    version: int = VERSION,
) -> tuple[PretrainingCorpus, Mapping[str, Any]]:
    """The documents to learn from, and what the card says of them.

    :param text: files, folders, or `train` for the train texts of the data folder
    :param mix: a second corpus, of which the smaller is repeated until both are as large
    :param data: data folder, whose dev and test sets are kept out
    :param raw: folder of the original releases, for the texts of ChemProt and DDI
    :param version: of pretraining, that of what goes on
    :raises DataError: if a text cannot be read or nothing of it is left
    """
    if not text or "" in (*text, *mix):
        raise SettingsError(
            "There is no text",
            fix=f"add {opt('text', 'FILE')}, or {opt('text', 'train')} with {opt('data')}.",
        )
    known = None if data is None else task_texts.read_held_out(data, version)
    train: Sequence[TextDocument] = ()
    missing: Mapping[str, str] = {}
    if TRAIN in (*text, *mix):
        if data is None:
            raise SettingsError(
                f"{opt('text', 'train')} reads the train sets", fix=f"add {opt('data')}."
            )
        train, missing = task_texts.read_train(data, raw)
    first = collect(_documents(text, train), known)
    sizes = [first.words]
    if mix:
        second = collect(_documents(mix, train), known)
        sizes.append(second.words)
        first = replace(
            first,
            texts=mixed(first.texts, second.texts),
            left_out=first.left_out + second.left_out,
            hash=f"{first.hash} {second.hash}",
        )
    return first, {
        "source": source(text, mix),
        "words of each corpus": sizes,
        "compared with": [] if known is None else list(known.tasks),
        "datasets without original text": dict(missing),
    }


def source(text: Sequence[str], mix: Sequence[str] = ()) -> str:
    """The name of the text on the card."""
    return ", mixed with ".join(
        ", ".join(
            "the tasks' own train text" if each == TRAIN else Path(each).name for each in part
        )
        for part in (text, mix)
        if part
    )


def _documents(text: Sequence[str], train: Sequence[TextDocument]) -> Iterator[TextDocument]:
    for each in text:
        yield from train if each == TRAIN else documents.read(Path(each))

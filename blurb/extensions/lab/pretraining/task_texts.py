"""The texts of the datasets: those to learn from, and those that no encoder is pretrained on, as it is scored on them.

Train texts are documents, each text once, and never with dummies in the place of entities.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from blurb import tasks
from blurb.corpora.original_readers import load_original
from blurb.corpora.releases import MissingRelease
from blurb.data import read_split
from blurb.data.loading import path_of
from blurb.data.schema import Example, input_texts
from blurb.extensions.lab.pretraining.documents import TextDocument
from blurb.extensions.lab.pretraining.recipe import FIRST, VERSION
from blurb.extensions.reports.audit.audited import LONG
from blurb.extensions.reports.audit.duplicates import SENTENCE_END
from blurb.messages import DataError, opt
from blurb.tasks import SCORED, Task

BLOCK = 20
"""Sentences of a document, for sets that do not say where one ends: their sentences follow one another."""


def read_train(
    folder: Path, raw: Path | None = None
) -> tuple[Sequence[TextDocument], Mapping[str, str]]:
    """The documents of the train sets. Sets with dummies are read from their originals, and left out without them.

    :param raw: folder of the original releases
    :returns: the documents; dataset of the folder -> why no text of it without dummies is there
    :raises DataError: if there is no train text at all, or for files that are there and cannot be read
    """
    seen: set[str] = set()
    present: list[TextDocument] = []
    missing = {}
    for task in tasks.all():
        if not path_of(task, folder, "train").exists():
            continue
        try:
            rows = _rows(task, folder, raw)
        except MissingRelease as error:
            missing[task.name] = str(error)
            continue
        for document in _documents(rows):
            lines = [line for line in document.text.split("\n") if line.casefold() not in seen]
            seen.update(line.casefold() for line in lines)
            if lines:
                present.append(TextDocument("\n".join(lines), document.pmid))
    if not present:
        raise DataError(
            "has no train text that has no dummies",
            folder,
            fix=f"check {opt('data')}, or add {opt('raw')}.",
        )
    return present, missing


def _rows(task: Task, folder: Path, raw: Path | None) -> Sequence[Example]:
    if not task.dummified:
        return read_split(task, folder, "train")
    if not task.original:
        raise MissingRelease("nothing is known of its originals.")
    if raw is None:
        raise MissingRelease(f"{opt('raw')} was not given.")
    return list(load_original(task, raw, ("train",)).splits["train"])


def _documents(rows: Sequence[Example]) -> Iterator[TextDocument]:
    """Texts of one document a line each; where documents are not named, blocks of neighbours."""
    names = [str(row.get("doc_id") or "") for row in rows]
    keys = [(name, 0 if name else place // BLOCK) for place, name in enumerate(names)]
    for (name, _), group in groupby(zip(keys, rows, strict=True), itemgetter(0)):
        lines = [" ".join(text.split()) for _, row in group for text in input_texts(row)]
        yield TextDocument("\n".join(dict.fromkeys(lines)), name if name.isdigit() else "")


DUMMY = re.compile(r"@[A-Za-z-]+\$")
WORD = re.compile(r"[^\W_]+")
WINDOW = 2 * LONG
"""Words that a document has in common with a held-out text, in a row, to be one of its documents. A heading or a phrase
of fewer words repeats by chance; a shorter sentence must be there as a whole."""
PMID = re.compile(r"\d{4,9}")


def words(text: str, version: int = VERSION) -> list[str]:
    """Runs of letters and digits in lower case: the tokenized text of a corpus and the original have the same.

    Also text with entities of HTML, or with letters in another normal form.

    :param version: of pretraining; the first knew neither
    """
    if version != FIRST:
        text = unicodedata.normalize("NFKC", html.unescape(text))
    return WORD.findall(text.casefold())


@dataclass(frozen=True)
class HeldOut:
    """Texts that must not be in a pretraining.

    :param pmids: documents of dev and test
    :param windows: hashes of word sequences of their texts
    :param version: of pretraining
    :param tasks: the datasets that were read; of one that lacks a split also which was, as `hoc (dev)`
    """

    pmids: frozenset[str] = frozenset()
    windows: frozenset[int] = frozenset()
    lengths: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    version: int = VERSION

    def reason(self, document: TextDocument) -> str:
        """`pmid`, `text`, or "" for a document that may be used."""
        if document.pmid in self.pmids:
            return "pmid"
        sequence = words(document.text, self.version)
        is_held_out = any(
            hash(tuple(sequence[at : at + length])) in self.windows
            for length in self.lengths
            for at in range(len(sequence) - length + 1)
        )
        return "text" if is_held_out else ""


def read_held_out(folder: Path, version: int = VERSION) -> HeldOut:
    """The dev and test sets of a data folder; sets that it lacks are left out.

    :param version: of pretraining; the first kept every twelfth window of a sentence
    :raises DataError: if it has none, or for a file that cannot be read: what it holds could not be kept out
    """
    pmids: set[str] = set()
    windows: dict[int, int] = {}  # hash -> words
    names = []
    for task in tasks.all():
        if there := [split for split in SCORED if path_of(task, folder, split).exists()]:
            names.append(
                task.name if len(there) == len(SCORED) else f"{task.name} ({', '.join(there)})"
            )
        for split in there:
            rows = read_split(task, folder, split)
            pmids |= {row["doc_id"] for row in rows if PMID.fullmatch(str(row.get("doc_id") or ""))}
            windows |= {hash(window): len(window) for window in _windows(rows, version)}
    if not names:
        raise DataError(
            "has no dev or test set, so nothing can be kept out of the text",
            folder,
            fix=f"check {opt('data')}.",
        )
    lengths = tuple(sorted(set(windows.values())))
    return HeldOut(frozenset(pmids), frozenset(windows), lengths, tuple(names), version)


def _windows(rows: Iterable[Example], version: int) -> Iterator[tuple[str, ...]]:
    """Pieces of each sentence, or the sentence if it is shorter; of masked text what stands between the dummies.

    A document is looked at from every word on, and so is a sentence.
    """
    for row in rows:
        for text in input_texts(row):
            # Where all sentences are short, what they are together tells.
            pieces = [
                piece
                for sentence in SENTENCE_END.split(text)
                for part in DUMMY.split(sentence)
                for piece in _pieces(part, version)
            ]
            yield from pieces or _pieces(DUMMY.sub(" ", text), version)


def _pieces(text: str, version: int) -> Iterator[tuple[str, ...]]:
    sequence = words(text, version)
    if LONG < len(sequence) < WINDOW:
        yield tuple(sequence)
    if len(sequence) >= WINDOW:
        step = WINDOW if version == FIRST else 1
        starts = {*range(0, len(sequence) - WINDOW + 1, step), len(sequence) - WINDOW}
        yield from (tuple(sequence[at : at + WINDOW]) for at in starts)

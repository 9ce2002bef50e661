"""What `blurb pretrain` is asked for: texts by name, with the data folder that they must not overlap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from blurb.extensions.lab.pretraining.corpus import PretrainingCorpus, collect, mixed
from blurb.extensions.lab.pretraining.recipe import VERSION, Recipe
from blurb.extensions.lab.text import documents, held_out, train_texts
from blurb.extensions.lab.text.documents import TextDocument
from blurb.extensions.lab.text.train_texts import TrainTexts
from blurb.messages.errors import SettingsError, UnknownName
from blurb.messages.spelling import opt

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
    if match is None or not float(match[1]):
        raise SettingsError(f"'{text}' is no number of words", fix="write 300000, 300k or 20M.")
    return round(float(match[1]) * UNITS[match[2].lower()])


def recipe(settings: Mapping[str, Any]) -> Recipe:
    """The recipe with some settings, checked; a checkpoint to start from brings its vocabulary.

    :raises UnknownName: for a setting that is none
    :raises SettingsError: for what no pretraining can do
    """
    names = [field.name for field in fields(Recipe) if field.name != "version"]
    for name in settings:
        if name not in names:
            raise UnknownName("setting of a pretraining", name, names)
    asked = Recipe(**settings)
    if asked.start:
        for name in OF_START:
            if getattr(asked, name) != getattr(Recipe(), name):
                fix = f"remove {name} or start."
                raise SettingsError(f"{name} is of a new encoder; {asked.start} has its own", fix=fix)
        asked = replace(asked, size="", vocabulary=0)
    asked.check()
    return asked


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
    if not text:
        raise SettingsError(
            "There is no text", fix=f"add {opt('text', 'FILE')}, or {opt('text', 'train')} with {opt('data')}."
        )
    if TRAIN in (*text, *mix) and data is None:
        raise SettingsError(f"{opt('text', 'train')} reads the train sets", fix=f"add {opt('data')}.")
    known = None if data is None else held_out.read(data, version)
    train = train_texts.read(data, raw) if data is not None and TRAIN in (*text, *mix) else None
    first = collect(_documents(text, train), known)
    sizes = [first.words]
    if mix:
        second = collect(_documents(mix, train), known)
        sizes.append(second.words)
        first = replace(
            first,
            texts=mixed(first.texts, second.texts),
            left_out={
                key: first.left_out.get(key, 0) + second.left_out.get(key, 0)
                for key in (*first.left_out, *second.left_out)
            },
            hash=f"{first.hash} {second.hash}",
        )
    without = {} if train is None else dict(train.missing)
    compared = [] if known is None else list(known.tasks)
    return first, {
        "source": source(text, mix),
        "words of each corpus": sizes,
        "compared with": compared,
        "datasets without original text": without,
    }


def source(text: Sequence[str], mix: Sequence[str] = ()) -> str:
    """What the card calls the text."""
    return f"{_named(text)}, mixed with {_named(mix)}" if mix else _named(text)


def _named(text: Sequence[str]) -> str:
    return ", ".join("the tasks' own train text" if each == TRAIN else Path(each).name for each in text)


def _documents(text: Sequence[str], train: TrainTexts | None) -> Iterator[TextDocument]:
    for each in text:
        if each == TRAIN and train is not None:
            yield from train.documents
        else:
            yield from documents.read(Path(each))

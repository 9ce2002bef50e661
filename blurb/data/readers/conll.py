"""Word-per-line files: NER (`token TAB B|I|O`) and PICO (`token TAB I-PAR|I-INT|I-OUT|O`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from blurb.data.readers._examples import check_labels, make_examples
from blurb.data.schema import Example
from blurb.messages import FIRST, ErrorCollector
from blurb.table_files import FileLine, Sentence, read_conll
from blurb.tasks import Split, Task

Place = Callable[[int], FileLine]
"""Gives the line of the word at a place."""


def read_ner(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """Reads sentences of an NER file; adds the dataset's single entity type to BLURB's bare `B` and `I`."""
    return _examples_of_sentences(
        path, split, errors, lambda tags, line: bio_tags(tags, task, line)
    )


def read_pico(
    path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST
) -> Iterator[Example]:
    """Reads sentences of a PICO file; in BLURB's kit every token `.` ends a sentence."""
    allowed = (*(f"I-{label}" for label in task.labels), "O")
    return _examples_of_sentences(
        path, split, errors, lambda tags, line: check_labels(tags, allowed, line)
    )


def bio_tags(tags: Sequence[str], task: Task, line: Place) -> list[str]:
    """The tags of a sentence with the type of the task.

    An `I` without an entity before it does not occur in BLURB's files, so it is an error here.
    """
    tags = check_labels(tags, ("B", "I", "O"), line)
    orphan = ("O" + "".join(tags)).find("OI")
    if orphan >= 0:
        raise line(orphan).error("tag I does not follow a B or I.")
    named = {tag: f"{tag}-{task.labels[0]}" for tag in "BI"} | {"O": "O"}
    return [named[tag] for tag in tags]


def check_words(words: Sequence[str], line: FileLine) -> None:
    """Raises a DataError for a word that is blank.

    :param line: of the first word
    """
    stripped = list(map(str.strip, words))
    if not all(stripped):
        raise line.below(stripped.index("")).error("the token is blank.")


def _examples_of_sentences(
    path: Path,
    split: Split,
    errors: ErrorCollector,
    tagged: Callable[[list[str], Place], list[str]],
) -> Iterator[Example]:
    """The sentences of a file, numbered from 0 in file order: that number is the key of a BLURB submission."""
    number = count()

    def example(line: FileLine, sentence: Sentence) -> Example:
        tokens, tags = map(list, zip(*sentence.rows, strict=True))
        check_words(tokens, line)
        return {
            "id": f"{split}.{next(number)}",
            "doc_id": sentence.document,
            "tokens": tokens,
            "tags": tagged(tags, line.below),
        }

    return make_examples(read_conll(path, errors, kit=True), example, errors)

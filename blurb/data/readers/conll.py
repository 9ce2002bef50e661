"""Word-per-line files: NER (`token TAB B|I|O`) and PICO (`token TAB I-PAR|I-INT|I-OUT|O`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from blurb.data.readers._examples import check_label, examples
from blurb.data.schema import Example
from blurb.lines import FileLine, Sentence, conll
from blurb.messages.errors import FIRST, ErrorCollector
from blurb.tasks import Split, Task


def read_ner(path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST) -> Iterator[Example]:
    """Reads sentences of an NER file; adds the dataset's single entity type to BLURB's bare `B` and `I`."""
    return _sentences(path, split, errors, lambda tags, lines: bio(tags, task, lines))


def read_pico(path: Path, task: Task, split: Split, errors: ErrorCollector = FIRST) -> Iterator[Example]:
    """Reads sentences of a PICO file; in BLURB's kit every token `.` ends a sentence."""
    allowed = (*(f"I-{label}" for label in task.labels), "O")

    def checked(tags: list[str], lines: list[FileLine]) -> list[str]:
        return [check_label(tag, allowed, line) for tag, line in zip(tags, lines, strict=True)]

    return _sentences(path, split, errors, checked)


def bio(tags: list[str], task: Task, lines: list[FileLine]) -> list[str]:
    """The tags of a sentence with the type of the task.

    An `I` without an entity before it does not occur in BLURB's files, so it is an error here.
    """
    named, before = [], "O"
    for tag, line in zip(tags, lines, strict=True):
        tag = check_label(tag, ("B", "I", "O"), line)
        if tag == "I" and before == "O":
            raise line.error("tag I does not follow a B or I.")
        named.append(tag if tag == "O" else f"{tag}-{task.labels[0]}")
        before = tag
    return named


def check_words(words: list[str], lines: list[FileLine]) -> None:
    """Raises a DataError for a word that is blank."""
    blank = next((line for word, line in zip(words, lines, strict=True) if not word.strip()), None)
    if blank is not None:
        raise blank.error("the token is blank.")


def _sentences(
    path: Path, split: Split, errors: ErrorCollector, tagged: Callable[[list[str], list[FileLine]], list[str]]
) -> Iterator[Example]:
    """The sentences of a file, numbered from 0 in file order: that number is the key of a BLURB submission."""
    number = count()

    def example(line: FileLine, sentence: Sentence) -> Example:
        tokens, tags = map(list, zip(*sentence.rows, strict=True))
        check_words(tokens, sentence.lines)
        names = tagged(tags, sentence.lines)
        return {"id": f"{split}.{next(number)}", "doc_id": sentence.document, "tokens": tokens, "tags": names}

    return examples(conll(path, errors, kit=True), example, errors)

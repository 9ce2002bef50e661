"""Word-per-line files: NER (`token TAB B|I|O`) and PICO (`token TAB I-PAR|I-INT|I-OUT|O`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from blurb.data.readers._files import DOCUMENT, check_label, document_of, lines
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task


def read_ner(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Reads sentences of an NER file; adds the dataset's single entity type to BLURB's bare `B` and `I`.

    An `I` without an entity before it does not occur in BLURB's files, so it is an error here.
    """
    kind = task.labels[0]

    def tag(label: str, before: str, number: int) -> str:
        label = check_label(label, ("B", "I", "O"), path, number)
        if label == "I" and before == "O":
            raise DataError("tag I does not follow a B or I.", path, number)
        return label if label == "O" else f"{label}-{kind}"

    return _sentences(path, split, tag)


def read_pico(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Reads sentences of a PICO file; in BLURB's kit every token `.` ends a sentence."""
    allowed = (*(f"I-{label}" for label in task.labels), "O")
    return _sentences(path, split, lambda label, before, number: check_label(label, allowed, path, number))


def _sentences(path: Path, split: Split, tag: Callable[[str, str, int], str]) -> Iterator[Example]:
    """Reads the sentences of one file. A blank line or a document header ends a sentence.

    `tag(label, tag before, line number)` checks and names a label. Sentences are numbered from 0 in file order:
    that number is the key of a BLURB submission.
    """
    doc_id: str | None = None
    tokens: list[str] = []
    tags: list[str] = []
    count = 0
    for number, line in lines(path):
        if line == "" or line.startswith(DOCUMENT):
            if tokens:
                yield {"id": f"{split}.{count}", "doc_id": doc_id, "tokens": tokens, "tags": tags}
                count += 1
                tokens, tags = [], []
            if line:
                doc_id = document_of(line)
            continue
        cells = line.split("\t")
        if len(cells) != 2:
            raise DataError(f"expected a token, a TAB and a tag; found {len(cells)} columns.", path, number)
        if not cells[0].strip():
            raise DataError("the token is blank.", path, number)
        tags.append(tag(cells[1], tags[-1] if tags else "O", number))
        tokens.append(cells[0])
    if tokens:
        yield {"id": f"{split}.{count}", "doc_id": doc_id, "tokens": tokens, "tags": tags}

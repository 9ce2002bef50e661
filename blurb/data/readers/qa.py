"""Question answering: PubMedQA's own JSON files, and BioASQ as `id TAB question TAB passage TAB label`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from blurb.data.readers._files import check_label, has_half_pair, json_object, line_of, read_text, table, trimmed
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task


def read_pubmedqa(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """The reasoning-required setting: question and CONTEXTS joined by blanks; never the LONG_ANSWER."""
    text = read_text(path)
    for pmid, entry in json_object(text, path).items():

        def error(message: str, pmid: str = pmid) -> DataError:
            return DataError(f"question {pmid!r}: {message}", path, line_of(text, text.find(json.dumps(pmid))))

        try:
            question, contexts, label = entry["QUESTION"], entry["CONTEXTS"], entry["final_decision"]
        except (KeyError, TypeError):
            raise error("expected an object with QUESTION, CONTEXTS and final_decision.") from None
        if not (isinstance(question, str) and isinstance(contexts, list) and all(isinstance(c, str) for c in contexts)):
            raise error("QUESTION must be a string and CONTEXTS a list of strings.")
        label = trimmed(label) if isinstance(label, str) else label
        if label not in task.labels:
            raise error(f"final_decision must be {', '.join(task.labels)} (got {str(label)[:20]!r}).")
        context = " ".join(contexts)
        if has_half_pair(pmid + question + context):
            raise error("half of a surrogate pair is not a character.")
        yield {"id": pmid, "question": question, "context": context, "label": label}


def read_bioasq(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Yes/no questions; the passage is all snippets joined by blanks."""
    for number, (id_, question, passage, label) in table(path, 4):
        label = check_label(label, task.labels, path, number)
        yield {"id": id_, "question": question, "context": passage, "label": label}

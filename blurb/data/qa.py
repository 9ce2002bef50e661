"""Question answering: PubMedQA's own JSON files, and BioASQ as `id TAB question TAB passage TAB label`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blurb.data._text import check_label, read_text, table
from blurb.data.schema import Row
from blurb.errors import DataError
from blurb.tasks import Split, Task


def read_pubmedqa(path: Path, task: Task, split: Split) -> Iterator[Row]:
    """The reasoning-required setting: question and CONTEXTS joined by blanks; never the LONG_ANSWER."""
    text = read_text(path)
    try:
        questions: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg}.", path, error.lineno) from None
    if not isinstance(questions, dict):
        raise DataError("expected one JSON object with a question per PMID.", path)
    for pmid, entry in questions.items():
        try:
            question, contexts, label = entry["QUESTION"], entry["CONTEXTS"], entry["final_decision"]
        except (KeyError, TypeError):
            number = text.count("\n", 0, text.find(json.dumps(pmid))) + 1
            raise DataError(
                f"question {pmid}: expected an object with QUESTION, CONTEXTS and final_decision.", path, number
            ) from None
        if not (isinstance(question, str) and isinstance(contexts, list) and all(isinstance(c, str) for c in contexts)):
            raise DataError(f"question {pmid}: QUESTION must be text and CONTEXTS a list of texts.", path)
        if label not in task.labels:
            raise DataError(
                f"question {pmid}: final_decision is {str(label)[:20]!r}, not {'/'.join(task.labels)}.", path
            )
        yield {"id": pmid, "question": question, "context": " ".join(contexts), "label": label}


def read_bioasq(path: Path, task: Task, split: Split) -> Iterator[Row]:
    """Yes/no questions; the passage is all snippets joined by blanks."""
    for number, (id_, question, passage, label) in table(path, 4):
        check_label(label, task.labels, path, number)
        yield {"id": id_, "question": question, "context": passage, "label": label}

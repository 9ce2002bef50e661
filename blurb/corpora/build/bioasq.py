"""BioASQ from the yes/no questions of task 7b with their snippets.

Test is the five golden batches; dev is 75 questions of the training file, and train its other questions
(docs/benchmark.md, "BioASQ"). The order is that of the files. BLURB's own order of train and dev is unknown, so there
are no hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from blurb.corpora.build._files import listed
from blurb.corpora.releases import MissingRelease, Release, SourceFile
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

TRAINING = ("trainining7b.json", "training7b.json", "BioASQ-trainingDataset7b.json")  # the first is the official name
BATCHES = tuple(f"7B{number}_golden.json" for number in range(1, 6))
MERGED = "7B_golden.json"
ARCHIVES = ("BioASQ-training*7b*", "Task7BGolden*", "BioASQ*")
BLANKS = str.maketrans("\r\n\t", "   ")


def build(release: Release, task: Task) -> dict[Split, str]:
    """`id TAB question TAB passage TAB label` without header; the passage is all snippets joined by blanks."""
    questions = dict(_questions(release.file(*TRAINING, archives=ARCHIVES), task))
    test = {number: line for file in _golden(release) for number, line in _questions(file, task)}
    dev = set(listed("bioasq")["dev"])
    return {
        "train": "".join(line for number, line in questions.items() if number not in dev),
        "dev": "".join(line for number, line in questions.items() if number in dev),
        "test": "".join(test.values()),
    }


def _golden(release: Release) -> Iterable[SourceFile]:
    try:
        return release.files(BATCHES, ARCHIVES).values()
    except MissingRelease as missing:
        try:
            return [release.file(MERGED, archives=ARCHIVES)]
        except MissingRelease:
            raise missing from None


def _questions(file: SourceFile, task: Task) -> Iterator[tuple[str, str]]:
    """Yields id and line of every yes/no question."""
    questions = file.json().get("questions")
    if not isinstance(questions, list):
        raise DataError('expected a list called "questions".', file.path)
    for place, question in enumerate(questions):
        if isinstance(question, dict) and question.get("type") != "yesno":
            continue
        cells = _cells(question, task)
        if cells is None:
            raise DataError(f"question {place} must have id, body, snippets, and exact_answer yes or no.", file.path)
        yield cells[0], "\t".join(cells) + "\n"


def _cells(question: Any, task: Task) -> list[str] | None:
    if not isinstance(question, dict) or not isinstance(question.get("snippets", []), list):
        return None
    answer = question.get("exact_answer")
    answer = answer[0] if isinstance(answer, list) and answer else answer  # some releases have a list of one answer
    answer = answer.strip().lower() if isinstance(answer, str) else answer
    snippets = [item.get("text") if isinstance(item, dict) else None for item in question.get("snippets", [])]
    texts = [text for text in (question.get("id"), question.get("body"), *snippets) if isinstance(text, str)]
    if answer not in task.labels or len(texts) < 2 + len(snippets) or not texts[0]:
        return None
    number, body, *passages = (text.translate(BLANKS) for text in texts)
    return [number, body, " ".join(passages), answer]

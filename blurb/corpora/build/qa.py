"""BioASQ and PubMedQA: questions with texts that answer them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from blurb.corpora.releases import BLANKS, MissingRelease, Release, SourceFile, load_split_lists
from blurb.messages import DataError
from blurb.tasks import Split, Task

# The first is the official name, typing error included.
TRAINING = ("trainining7b.json", "training7b.json", "BioASQ-trainingDataset7b.json")
BATCHES = tuple(f"7B{number}_golden.json" for number in range(1, 6))
ARCHIVES = ("BioASQ-training*7b*", "Task7BGolden*", "BioASQ*")


def build_bioasq(release: Release, task: Task) -> dict[Split, str]:
    """`id TAB question TAB passage TAB label` without header; the passage is all snippets joined by blanks.

    From the yes/no questions of task 7b with their snippets: test is the five golden batches, dev 75 questions of the
    training file, train its other questions (docs/benchmark.md, "BioASQ"). The order is that of the files. BLURB's own
    order of train and dev is unknown, so there are no hashes.
    """
    questions = dict(_yes_no_questions(release.file(*TRAINING, archives=ARCHIVES), task))
    test = {
        number: line
        for file in _golden_files(release)
        for number, line in _yes_no_questions(file, task)
    }
    dev = set(load_split_lists("bioasq")["dev"])
    return {
        "train": "".join(line for number, line in questions.items() if number not in dev),
        "dev": "".join(line for number, line in questions.items() if number in dev),
        "test": "".join(test.values()),
    }


def _golden_files(release: Release) -> Iterable[SourceFile]:
    try:
        return release.files(BATCHES, ARCHIVES).values()
    except MissingRelease as missing:
        try:
            return [release.file("7B_golden.json", archives=ARCHIVES)]
        except MissingRelease:
            raise missing from None


def _yes_no_questions(file: SourceFile, task: Task) -> Iterator[tuple[str, str]]:
    """Yields id and line of every yes/no question."""
    questions = file.json().get("questions")
    if not isinstance(questions, list):
        raise DataError('expected a list called "questions".', file.path)
    for place, question in enumerate(questions):
        if isinstance(question, dict) and question.get("type") != "yesno":
            continue
        cells = _cells_of_question(question, task)
        if cells is None:
            raise DataError(
                f"question {place} must have id, body, snippets, and exact_answer yes or no.",
                file.path,
            )
        yield cells[0], "\t".join(cells) + "\n"


def _cells_of_question(question: Any, task: Task) -> list[str] | None:
    if not isinstance(question, dict) or not isinstance(question.get("snippets", []), list):
        return None
    answer = question.get("exact_answer")
    # Some releases have a list of one answer.
    answer = answer[0] if isinstance(answer, list) and answer else answer
    answer = answer.strip().lower() if isinstance(answer, str) else answer
    snippets = [
        item.get("text") if isinstance(item, dict) else None
        for item in question.get("snippets", [])
    ]
    texts = [
        text
        for text in (question.get("id"), question.get("body"), *snippets)
        if isinstance(text, str)
    ]
    if answer not in task.labels or len(texts) < 2 + len(snippets) or not texts[0]:
        return None
    number, body, *passages = (text.translate(BLANKS) for text in texts)
    return [number, body, " ".join(passages), answer]


QUESTIONS, TEST = "ori_pqal.json", "test_ground_truth.json"
FOLDS = 10


def build_pubmedqa(release: Release, task: Task) -> dict[Split, str]:
    """JSON by PMID, as the authors write it, for each split of the 1,000 labelled questions.

    The questions of each answer are shuffled and divided into two halves, for cross-validation and test. The first half
    is divided in the same way into ten folds; BLURB's dev is the first fold and train the others. The result is checked
    against the official ids of the test set (`pubmedqa/pubmedqa`, seed 0).
    """
    sources = release.files([QUESTIONS, TEST], ["pubmedqa*"])
    questions, truth = (sources[name].json() for name in (QUESTIONS, TEST))
    for pmid, entry in questions.items():
        if not isinstance(entry, dict) or entry.get("final_decision") not in task.labels:
            raise DataError(
                f"question {pmid[:20]!r} must have a final_decision of {', '.join(task.labels)}.",
                sources[QUESTIONS].path,
            )
    dice = random.Random(0)
    training, test = _stratified_parts(list(questions), 2, questions, task.labels, dice)
    dev, *others = _stratified_parts(training, FOLDS, questions, task.labels, dice)
    if set(test) != set(truth):
        raise DataError(
            f"the test questions differ from the test split of {QUESTIONS}.", sources[TEST].path
        )
    splits: dict[Split, list[str]] = {
        "train": [pmid for fold in others for pmid in fold],
        "dev": dev,
        "test": test,
    }
    return {
        split: json.dumps({pmid: questions[pmid] for pmid in ids}, indent=4)
        for split, ids in splits.items()
    }


def _stratified_parts(
    ids: list[str],
    parts: int,
    questions: dict[str, Any],
    labels: tuple[str, ...],
    dice: random.Random,
) -> list[list[str]]:
    """Stratified parts: each gets `ceil(n / parts)` questions of every answer, the last part the remainder.

    If the last part is then smaller than the first, every other part gives it one random question.
    """
    result: list[list[str]] = [[] for _ in range(parts)]
    for label in labels:
        same = [pmid for pmid in ids if questions[pmid]["final_decision"] == label]
        dice.shuffle(same)
        size = -(-len(same) // parts)
        for place in range(parts):
            result[place] += same[place * size : (place + 1) * size]
    if len(result[-1]) != len(result[0]):
        for part in result[:-1]:
            if part:
                drawn = dice.choice(part)
                part.remove(drawn)
                result[-1].append(drawn)
    return result

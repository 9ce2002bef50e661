"""PubMedQA from its 1,000 labelled questions, split as by its authors (`pubmedqa/pubmedqa`, seed 0).

The questions of each answer are shuffled and divided into two halves, for cross-validation and test. The first half is
divided in the same way into ten folds; BLURB's dev is the first fold and train the others. The result is checked
against the official ids of the test set.
"""

from __future__ import annotations

import json
import random
from typing import Any

from blurb.corpora.releases import Release
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

QUESTIONS, TEST = "ori_pqal.json", "test_ground_truth.json"
FOLDS = 10
ARCHIVES = ("pubmedqa*",)


def build(release: Release, task: Task) -> dict[Split, str]:
    """JSON by PMID, as the authors write it, for each split."""
    sources = release.files([QUESTIONS, TEST], ARCHIVES)
    questions, truth = (sources[name].json() for name in (QUESTIONS, TEST))
    for pmid, entry in questions.items():
        if not isinstance(entry, dict) or entry.get("final_decision") not in task.labels:
            raise DataError(
                f"question {pmid[:20]!r} must have a final_decision of {', '.join(task.labels)}.",
                sources[QUESTIONS].path,
            )
    dice = random.Random(0)
    training, test = _cut(list(questions), 2, questions, task.labels, dice)
    dev, *others = _cut(training, FOLDS, questions, task.labels, dice)
    if set(test) != set(truth):
        raise DataError(f"the test questions differ from the test split of {QUESTIONS}.", sources[TEST].path)
    splits: dict[Split, list[str]] = {"train": [pmid for fold in others for pmid in fold], "dev": dev, "test": test}
    return {split: json.dumps({pmid: questions[pmid] for pmid in ids}, indent=4) for split, ids in splits.items()}


def _cut(
    ids: list[str], parts: int, questions: dict[str, Any], labels: tuple[str, ...], dice: random.Random
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

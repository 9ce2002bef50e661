"""PubMedQA from its 1,000 labelled questions, cut as its authors cut them (`pubmedqa/pubmedqa`, seed 0).

The questions of each answer are shuffled and cut into two halves, for cross-validation and test; the first half is cut
in the same way into ten folds, of which BLURB's dev is the first and its train all others. The official ids of test are
the check: if they come out otherwise, it is not their file.
"""

from __future__ import annotations

import json
import random
from typing import Any

from blurb.data.readers._files import json_object
from blurb.corpora.releases import Release
from blurb.errors import DataError
from blurb.tasks import Split, Task

QUESTIONS, TEST = "ori_pqal.json", "test_ground_truth.json"
FOLDS = 10
ARCHIVES = ("pubmedqa*",)


def build(release: Release, task: Task) -> dict[Split, str]:
    """The authors' JSON, by PMID, of each of the three splits."""
    found = release.files([QUESTIONS, TEST], ARCHIVES)
    questions, truth = (json_object(found[name].text(), found[name].path) for name in (QUESTIONS, TEST))
    for pmid, entry in questions.items():
        if not isinstance(entry, dict) or entry.get("final_decision") not in task.labels:
            raise DataError(
                f"question {pmid[:20]!r} has no final_decision {'/'.join(task.labels)}.", found[QUESTIONS].path
            )
    dice = random.Random(0)
    training, test = _cut(list(questions), 2, questions, task.labels, dice)
    dev, *others = _cut(training, FOLDS, questions, task.labels, dice)
    if set(test) != set(truth):
        raise DataError("the test questions of the authors are others than the split of these.", found[TEST].path)
    splits: dict[Split, list[str]] = {"train": [pmid for fold in others for pmid in fold], "dev": dev, "test": test}
    return {split: json.dumps({pmid: questions[pmid] for pmid in ids}, indent=4) for split, ids in splits.items()}


def _cut(
    ids: list[str], parts: int, questions: dict[str, Any], labels: tuple[str, ...], dice: random.Random
) -> list[list[str]]:
    """Parts with the answers in proportion: of each answer `ceil(n / parts)`, the last part what is left.

    If the last is then smaller than the first, every other part gives it one question, drawn at random.
    """
    found: list[list[str]] = [[] for _ in range(parts)]
    for label in labels:
        same = [pmid for pmid in ids if questions[pmid]["final_decision"] == label]
        dice.shuffle(same)
        size = -(-len(same) // parts)
        for place in range(parts):
            found[place] += same[place * size : (place + 1) * size]
    if len(found[-1]) != len(found[0]):
        for part in found[:-1]:
            if part:
                drawn = dice.choice(part)
                part.remove(drawn)
                found[-1].append(drawn)
    return found

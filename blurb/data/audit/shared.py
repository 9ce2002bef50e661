"""Text that is in the test set of one task and in the train set of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from blurb.data.audit._base import LONG, Corpus, Finding
from blurb.data.examples import texts
from blurb.data.schema import Example

SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
EFFECT = "harmless for one model a task; matters when tasks are trained together or one after the other"


def shared(corpora: Sequence[Corpus]) -> Iterator[Finding]:
    """Test inputs with a sentence of at least six words that another task has in train.

    Corpora cut words differently, so blanks and capitals do not count. Contexts of questions are cut into sentences by
    a plain rule. Text with dummies is compared as it was before, where the original release is at hand.
    """
    trains = {corpus.task.name: _sentences(_rows(corpus, "train")) for corpus in corpora}
    for corpus in corpora:
        tests = _sentences(_rows(corpus, "test"))
        for other, train in trains.items():
            common = tests.keys() & train.keys() if other != corpus.task.name else set()
            if common:
                # In the order of the file, each test input with the first train input that has the sentence.
                found: dict[str, str] = {}
                for key, ids in tests.items():
                    if key in common:
                        for id_ in ids:
                            found.setdefault(id_, train[key][0])
                yield Finding("between tasks", corpus.task.name, f"test in train of {other}", len(found), EFFECT,
                              distinct=len(common), ids=tuple(found), others=tuple(found.values()))  # fmt: skip


def _rows(corpus: Corpus, split: str) -> Iterable[Example]:
    return corpus.originals.get(split) or corpus.splits.get(split, ())  # type: ignore[call-overload, no-any-return]


def _sentences(rows: Iterable[Example]) -> dict[str, list[str]]:
    """Sentence without blanks and capitals -> ids of the inputs that have it."""
    found: dict[str, list[str]] = {}
    for row in rows:
        parts = texts(row)
        if "context" in row:
            parts = (row["question"], *SENTENCE_END.split(row["context"]))
        for part in parts:
            words = part.split()
            if len(words) >= LONG:
                found.setdefault("".join(words).casefold(), []).append(str(row["id"]))
    return found

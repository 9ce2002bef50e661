"""Text that occurs in the test set of one task and in the train set of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from blurb.data.examples import texts
from blurb.data.schema import Example
from blurb.extensions.reports.audit._base import LONG, Corpus, Finding

SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
EFFECT = "harmless for one model per task; matters if tasks are trained together or one after the other"


def shared(corpora: Sequence[Corpus]) -> Iterator[Finding]:
    """Test inputs with a sentence of at least six words that also occurs in another task's train split.

    Blanks and case are ignored, as corpora tokenize differently. Contexts of questions are split into sentences by a
    simple rule. For text with dummies the original text is compared if the original release is available.
    """
    trains = {corpus.task.name: _sentences(_rows(corpus, "train")) for corpus in corpora}
    for corpus in corpora:
        tests = _sentences(_rows(corpus, "test"))
        for other, train in trains.items():
            common = tests.keys() & train.keys() if other != corpus.task.name else set()
            if common:
                # test input -> first train input with the sentence, in file order
                matches: dict[str, str] = {}
                for key, ids in tests.items():
                    if key in common:
                        for id_ in ids:
                            matches.setdefault(id_, train[key][0])
                yield Finding(
                    "between tasks",
                    corpus.task.name,
                    f"test in train of {other}",
                    len(matches),
                    EFFECT,
                    distinct=len(common),
                    ids=tuple(matches),
                    others=tuple(matches.values()),
                )


def _rows(corpus: Corpus, split: str) -> Iterable[Example]:
    return corpus.originals.get(split) or corpus.splits.get(split, ())  # type: ignore[call-overload, no-any-return]


def _sentences(rows: Iterable[Example]) -> dict[str, list[str]]:
    """Sentence in lower case without blanks -> ids of the inputs that contain it."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        parts = texts(row)
        if "context" in row:
            parts = (row["question"], *SENTENCE_END.split(row["context"]))
        for part in parts:
            words = part.split()
            if len(words) >= LONG:
                ids.setdefault("".join(words).casefold(), []).append(str(row["id"]))
    return ids

"""Inputs and documents that occur more than once in a corpus, and equal inputs with different answers.

Text that occurs in the test set of one task and in the train set of another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from blurb.data.schema import Example, answer, group, texts
from blurb.extensions.reports.audit._base import LONG, AuditedTask, AuditFinding, ids, long
from blurb.tasks import Split

PAIRS: tuple[tuple[Split, Split, str], ...] = (
    ("test", "train", "a leak: answers can be remembered"),
    ("test", "dev", "small: dev only chooses the epoch"),
    ("dev", "train", "dev favours epochs that remember"),
)


def repeated(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Inputs repeated within a split; counts every copy after the first."""
    for split, groups in corpus.by_identity.items():
        copies = [row for rows in groups.values() for row in rows[1:]]
        if copies:
            first = tuple(str(rows[0]["id"]) for rows in groups.values() for _ in rows[1:])
            distinct = sum(len(rows) > 1 for rows in groups.values())
            effect = "learnt more often" if split == "train" else "counted more than once"
            yield AuditFinding(
                "repeated",
                corpus.task.name,
                split,
                len(copies),
                effect,
                distinct=distinct,
                long=long(copies),
                ids=ids(copies),
                others=first,
            )


def between(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Inputs of one split that also occur in another; counts every example of the first."""
    for later, earlier, effect in PAIRS:
        if later not in corpus.splits or earlier not in corpus.splits:
            continue
        known = corpus.by_identity[earlier]
        pairs = [
            (row, known[key][0]) for key, rows in corpus.by_identity[later].items() if key in known for row in rows
        ]
        if pairs:
            rows = [row for row, _ in pairs]
            yield AuditFinding(
                "between splits",
                corpus.task.name,
                f"{later} in {earlier}",
                len(pairs),
                effect,
                distinct=len(group(rows)),
                long=long(rows),
                ids=ids(rows),
                others=ids(twin for _, twin in pairs),
            )


def conflicts(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Equal inputs with different answers, over all splits.

    No model can get all of these right in dev and test: it loses all but the most frequent answer of each group.
    """
    everywhere = group(row for rows in corpus.splits.values() for row in rows)
    answers = {key for key, rows in everywhere.items() if len(rows) > 1 and len(set(map(answer, rows))) > 1}
    for split, groups in corpus.by_identity.items():
        conflicting = [row for key, rows in groups.items() if key in answers for row in rows]
        if not conflicting:
            continue
        lost = sum(len(rows) - max(Counter(map(answer, rows)).values()) for rows in groups.values())
        effect = f"{lost} are wrong for any model" if lost else "another answer in another split"
        if split == "train":
            effect = "learnt with several answers"
        yield AuditFinding(
            "conflicting labels",
            corpus.task.name,
            split,
            len(conflicting),
            effect,
            distinct=len(group(conflicting)),
            long=long(conflicting),
            ids=ids(conflicting),
        )


def documents(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Documents that occur twice in a split (with other examples between the copies), or in two splits."""
    in_split: dict[Split, list[str]] = {}
    for split, rows in corpus.splits.items():
        # Examples without a document are not compared.
        in_split[split] = [name for name, _ in groupby(row.get("doc_id") for row in rows) if name is not None]
    places: dict[str, Sequence[str]] = {**dict(in_split.items()), **corpus.headers}
    for where, names in places.items():
        again = sorted(name for name, times in Counter(names).items() if times > 1)
        if again:
            count = sum(Counter(names)[name] - 1 for name in again)
            yield AuditFinding(
                "documents",
                corpus.task.name,
                where,
                count,
                "its sentences count twice",
                kind="twice",
                distinct=len(again),
                ids=tuple(again),
            )
    for later, earlier, _ in PAIRS:
        both = sorted(set(in_split.get(later, ())) & set(in_split.get(earlier, ())))
        if both:
            yield AuditFinding(
                "documents",
                corpus.task.name,
                f"{later} in {earlier}",
                len(both),
                "one document on both sides",
                kind="in both",
                ids=tuple(both),
            )


SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
EFFECT = "harmless for one model per task; matters if tasks are trained together or one after the other"


def shared(corpora: Sequence[AuditedTask]) -> Iterator[AuditFinding]:
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
                yield AuditFinding(
                    "between tasks",
                    corpus.task.name,
                    f"test in train of {other}",
                    len(matches),
                    EFFECT,
                    distinct=len(common),
                    ids=tuple(matches),
                    others=tuple(matches.values()),
                )


def _rows(corpus: AuditedTask, split: str) -> Iterable[Example]:
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

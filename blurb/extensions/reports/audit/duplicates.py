"""Inputs and documents that occur more than once in a corpus, and equal inputs with different answers.

Text that occurs in the test set of one task and in the train set of another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from blurb.data.schema import Example, count_words, gold_answer, group_by_input, input_texts
from blurb.extensions.reports.audit.audited import LONG, AuditedTask, AuditFinding
from blurb.tasks import Split

PAIRS: tuple[tuple[Split, Split, str], ...] = (
    ("test", "train", "a leak: answers can be remembered"),
    ("test", "dev", "small: dev only chooses the epoch"),
    ("dev", "train", "dev favours epochs that remember"),
)


def _copies(
    check: str,
    corpus: AuditedTask,
    where: str,
    rows: Sequence[Example],
    effect: str,
    twins: Iterable[Example] = (),
) -> Iterator[AuditFinding]:
    """The finding of a check about examples, if there are any; `twins` are those that they duplicate."""
    if rows:
        yield AuditFinding(
            check,
            corpus.task.name,
            where,
            len(rows),
            effect,
            tuple(str(row["id"]) for row in rows),
            tuple(str(row["id"]) for row in twins),
            distinct=len(group_by_input(rows)),
            long=sum(count_words(row) >= LONG for row in rows),
        )


def repeated(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Inputs repeated within a split; counts every copy after the first."""
    for split, groups in corpus.by_identity.items():
        copies = [row for rows in groups.values() for row in rows[1:]]
        twins = (rows[0] for rows in groups.values() for _ in rows[1:])
        effect = "learnt more often" if split == "train" else "counted more than once"
        yield from _copies("repeated", corpus, split, copies, effect, twins)


def between(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Inputs of one split that also occur in another; counts every example of the first."""
    for later, earlier, effect in PAIRS:
        known = corpus.by_identity.get(earlier, {})
        pairs = [
            (row, known[key][0])
            for key, rows in corpus.by_identity.get(later, {}).items()
            if key in known
            for row in rows
        ]
        rows, twins = [row for row, _ in pairs], [twin for _, twin in pairs]
        yield from _copies("between splits", corpus, f"{later} in {earlier}", rows, effect, twins)


def conflicts(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Equal inputs with different answers, over all splits.

    No model can get all of these right in dev and test: it loses all but the most frequent answer of each group.
    """
    everywhere = group_by_input(row for rows in corpus.splits.values() for row in rows)
    answers = {key for key, rows in everywhere.items() if len(set(map(gold_answer, rows))) > 1}
    for split, groups in corpus.by_identity.items():
        conflicting = [row for key, rows in groups.items() if key in answers for row in rows]
        lost = sum(
            len(rows) - max(Counter(map(gold_answer, rows)).values()) for rows in groups.values()
        )
        effect = f"{lost} are wrong for any model" if lost else "another answer in another split"
        if split == "train":
            effect = "learnt with several answers"
        yield from _copies("conflicting labels", corpus, split, conflicting, effect)


def documents(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Documents that occur twice in a split (with other examples between the copies), or in two splits."""
    # Examples without a document are not compared.
    in_split = {
        split: [name for name, _ in groupby(row.get("doc_id") for row in rows) if name is not None]
        for split, rows in corpus.splits.items()
    }
    task = corpus.task.name
    for where, names in (*in_split.items(), *corpus.headers.items()):
        if again := tuple(sorted(name for name, times in Counter(names).items() if times > 1)):
            yield AuditFinding(
                "documents",
                task,
                where,
                len(names) - len(set(names)),
                "its sentences count twice",
                again,
                kind="twice",
                distinct=len(again),
            )
    for later, earlier, _ in PAIRS:
        if both := tuple(sorted(set(in_split.get(later, ())) & set(in_split.get(earlier, ())))):
            yield AuditFinding(
                "documents",
                task,
                f"{later} in {earlier}",
                len(both),
                "one document on both sides",
                both,
                kind="in both",
            )


SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
EFFECT = (
    "harmless for one model per task; matters if tasks are trained together or one after the other"
)


def shared(corpora: Sequence[AuditedTask]) -> Iterator[AuditFinding]:
    """Test inputs with a sentence of at least six words that also occurs in another task's train split.

    Blanks and case are ignored, as corpora tokenize differently. Contexts of questions are split into sentences by a
    simple rule. For text with dummies the original text is compared if the original release is available.
    """
    trains = {corpus.task.name: sentence_keys(_rows(corpus, "train")) for corpus in corpora}
    for corpus in corpora:
        tests = sentence_keys(_rows(corpus, "test"))
        for other, train in trains.items():
            common = tests.keys() & train.keys()
            if common and other != corpus.task.name:
                # test input -> first train input with the sentence, in file order
                matches: dict[str, str] = {}
                for key, ids in tests.items():
                    for id_ in ids if key in common else ():
                        matches.setdefault(id_, train[key][0])
                yield AuditFinding(
                    "between tasks",
                    corpus.task.name,
                    f"test in train of {other}",
                    len(matches),
                    EFFECT,
                    tuple(matches),
                    tuple(matches.values()),
                    distinct=len(common),
                )


def _rows(corpus: AuditedTask, split: Split) -> Iterable[Example]:
    return corpus.originals.get(split) or corpus.splits.get(split, ())


def sentence_keys(rows: Iterable[Example]) -> dict[str, list[str]]:
    """Sentence in lower case without blanks -> ids of the inputs that contain it."""
    ids: dict[str, list[str]] = {}
    for row in rows:
        parts = input_texts(row)
        if "context" in row:
            parts = (row["question"], *SENTENCE_END.split(row["context"]))
        for part in parts:
            words = part.split()
            if len(words) >= LONG:
                ids.setdefault("".join(words).casefold(), []).append(str(row["id"]))
    return ids

"""Inputs and documents that stand in a corpus more than once, and equal inputs with different answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from blurb.data.audit._base import Corpus, Finding, group, ids, long
from blurb.data.examples import answer
from blurb.data.schema import Example
from blurb.tasks import Split

PAIRS: tuple[tuple[Split, Split, str], ...] = (
    ("test", "train", "a leak: answers can be remembered"),
    ("test", "dev", "small: dev only chooses the epoch"),
    ("dev", "train", "dev favours epochs that remember"),
)


def repeated(corpus: Corpus) -> Iterator[Finding]:
    """Inputs that stand in their split already: every copy after the first counts."""
    for split, groups in corpus.by_identity.items():
        copies = [row for rows in groups.values() for row in rows[1:]]
        if copies:
            first = tuple(str(rows[0]["id"]) for rows in groups.values() for _ in rows[1:])
            distinct = sum(len(rows) > 1 for rows in groups.values())
            effect = "learnt more often" if split == "train" else "counted more than once"
            yield Finding("repeated", corpus.task.name, split, len(copies), effect, distinct=distinct,
                          long=long(copies), ids=ids(copies), others=first)  # fmt: skip


def between(corpus: Corpus) -> Iterator[Finding]:
    """Inputs of one split that stand in another as well: every row of the first counts."""
    for later, earlier, effect in PAIRS:
        if later not in corpus.splits or earlier not in corpus.splits:
            continue
        known = corpus.by_identity[earlier]
        pairs = [
            (row, known[key][0]) for key, rows in corpus.by_identity[later].items() if key in known for row in rows
        ]
        if pairs:
            rows = [row for row, _ in pairs]
            yield Finding("between splits", corpus.task.name, f"{later} in {earlier}", len(pairs), effect,
                          distinct=len(group(rows)), long=long(rows), ids=ids(rows),
                          others=ids(twin for _, twin in pairs))  # fmt: skip


def leaks(splits: Mapping[Split, Iterable[Example]]) -> set[str]:
    """Ids of the test units whose input is in train, however short it is."""
    known = group(splits.get("train", ())).keys()
    return {str(row["id"]) for key, rows in group(splits.get("test", ())).items() if key in known for row in rows}


def conflicts(corpus: Corpus) -> Iterator[Finding]:
    """Equal inputs with different answers, in all splits together.

    Within dev and test, what no model can get right: of each group of equal inputs all but the most frequent answer.
    """
    everywhere = group(row for rows in corpus.splits.values() for row in rows)
    answers = {key for key, rows in everywhere.items() if len(rows) > 1 and len(set(map(answer, rows))) > 1}
    for split, groups in corpus.by_identity.items():
        found = [row for key, rows in groups.items() if key in answers for row in rows]
        if not found:
            continue
        lost = sum(len(rows) - max(Counter(map(answer, rows)).values()) for rows in groups.values())
        effect = f"{lost} are wrong for any model" if lost else "another answer in another split"
        if split == "train":
            effect = "learnt with several answers"
        yield Finding("conflicting labels", corpus.task.name, split, len(found), effect, distinct=len(group(found)),
                      long=long(found), ids=ids(found))  # fmt: skip


def documents(corpus: Corpus) -> Iterator[Finding]:
    """Documents that stand in a split twice (with other rows between the copies), or in two splits."""
    found: dict[Split, list[str]] = {}
    for split, rows in corpus.splits.items():
        # Unnamed documents are not compared.
        found[split] = [name for name, _ in groupby(row.get("doc_id") for row in rows) if name is not None]
    places: dict[str, Sequence[str]] = {**dict(found.items()), **corpus.headers}
    for where, names in places.items():
        again = sorted(name for name, times in Counter(names).items() if times > 1)
        if again:
            count = sum(Counter(names)[name] - 1 for name in again)
            yield Finding("documents", corpus.task.name, where, count, "its sentences count twice",
                          kind="twice", distinct=len(again), ids=tuple(again))  # fmt: skip
    for later, earlier, _ in PAIRS:
        both = sorted(set(found.get(later, ())) & set(found.get(earlier, ())))
        if both:
            yield Finding("documents", corpus.task.name, f"{later} in {earlier}", len(both),
                          "one document on both sides", kind="in both", ids=tuple(both))  # fmt: skip

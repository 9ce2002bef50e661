"""Input and output of checks. Findings contain ids, counts and labels, never text of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from blurb.data.schema import Example, group, words
from blurb.inputs.tokenized_split import TokenizedSplit
from blurb.tasks import Split, Task

LONG = 6
"""Minimum number of words of a duplicate that counts as `long`: shorter inputs, such as headings, repeat by chance."""
Ids = tuple[str, ...]


@dataclass(frozen=True)
class AuditFinding:
    """What one check found in one split or pair of splits.

    :param check: name of the check
    :param where: the split, or the two splits compared
    :param kind: kind of finding, if the check has several
    :param count: number of cases
    :param distinct: number of distinct inputs among them, for checks of duplicates
    :param long: number of cases with at least `LONG` words, for checks of duplicates
    :param ids: ids of all affected examples (or documents)
    :param others: for each of `ids` the example that it duplicates
    :param effect: effect on training or scores
    """

    check: str
    task: str
    where: str
    count: int
    effect: str
    kind: str = ""
    distinct: int | None = None
    long: int | None = None
    ids: Ids = ()
    others: Ids = ()


@dataclass(frozen=True)
class AuditedTask:
    """A task with the examples of the splits present.

    :param originals: examples with the original text, for a task whose files have dummies
    :param readings: each split as tokenized for an encoder
    :param headers: PubMed ids by file of the original release, in order, for a task that does not name documents
    :param files: bytes of each split's file, for what readers discard
    """

    task: Task
    splits: Mapping[Split, Sequence[Example]]
    originals: Mapping[Split, Sequence[Example]] = field(default_factory=dict)
    readings: Mapping[Split, TokenizedSplit] = field(default_factory=dict)
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[Split, bytes] = field(default_factory=dict)

    @cached_property
    def by_identity(self) -> dict[Split, dict[tuple[object, ...], list[Example]]]:
        """Examples of each split by input; cached, as several checks need it."""
        return {split: group(rows) for split, rows in self.splits.items()}


def ids(rows: Iterable[Example]) -> Ids:
    """Ids of examples."""
    return tuple(str(row["id"]) for row in rows)


def long(rows: Iterable[Example]) -> int:
    """Number of examples with at least `LONG` words."""
    return sum(words(row) >= LONG for row in rows)

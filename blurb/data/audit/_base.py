"""What a check is given, and what it finds. Findings hold ids, counts and labels; never text of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from blurb.data.examples import identity, words
from blurb.data.schema import Example
from blurb.inputs.tokenized_split import TokenizedSplit
from blurb.tasks import Split, Task

LONG = 6
"""Words from which an input that comes twice is no accident, as a heading of one or two words is."""
Ids = tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What one check found in one place.

    :param check: name of the check
    :param where: the split, or the two that are compared
    :param kind: what was found, where the check tells kinds apart
    :param count: how many
    :param distinct: different inputs among them, where they repeat each other
    :param long: those of at least `LONG` words, where inputs are compared
    :param ids: all of them (for something countable within an input: the inputs)
    :param others: what each of `ids` is the same as, in its order
    :param effect: what it does to a score
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
class Corpus:
    """A task with the rows of the splits that are there.

    :param originals: rows with the text as it was, of a task whose files hold dummies
    :param readings: how an encoder reads each split
    :param headers: PubMed ids in the order of the original release, by file, of a task that names no documents
    :param files: the bytes of each split, for what reading leaves out
    """

    task: Task
    splits: Mapping[Split, Sequence[Example]]
    originals: Mapping[Split, Sequence[Example]] = field(default_factory=dict)
    readings: Mapping[Split, TokenizedSplit] = field(default_factory=dict)
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[Split, bytes] = field(default_factory=dict)

    @cached_property
    def by_identity(self) -> dict[Split, dict[tuple[object, ...], list[Example]]]:
        """The rows of each split by what a model can know of them; several checks ask."""
        return {split: group(rows) for split, rows in self.splits.items()}


def group(rows: Iterable[Example]) -> dict[tuple[object, ...], list[Example]]:
    """Rows by their input, in file order."""
    found: dict[tuple[object, ...], list[Example]] = {}
    for row in rows:
        found.setdefault(identity(row), []).append(row)
    return found


def ids(rows: Iterable[Example]) -> Ids:
    """Their ids."""
    return tuple(str(row["id"]) for row in rows)


def long(rows: Iterable[Example]) -> int:
    """How many of them have at least `LONG` words."""
    return sum(words(row) >= LONG for row in rows)

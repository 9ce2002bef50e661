"""What is wrong with a corpus, however right the copy is: one check a function, each yields findings.

A check is a function of a `Corpus` in `CHECKS`, or of all of them in `ACROSS`; that is all there is to adding one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from blurb.data.audit import duplicates
from blurb.data.audit._base import LONG, Corpus, Finding
from blurb.data.audit.alignment import entities, windows
from blurb.data.audit.characters import characters
from blurb.data.audit.duplicates import between, conflicts, documents, repeated
from blurb.data.audit.shared import shared
from blurb.data.audit.tags import illegal
from blurb.data.schema import Example
from blurb.tasks import Split, Task

__all__ = ["ACROSS", "CHECKS", "LONG", "Corpus", "Finding", "audit", "leaks"]

CHECKS: tuple[Callable[[Corpus], Iterator[Finding]], ...] = (
    between, repeated, conflicts, documents, illegal, characters, entities, windows,
)  # fmt: skip
"""Checks of one corpus, in the order in which they are shown."""
ACROSS: tuple[Callable[[Sequence[Corpus]], Iterator[Finding]], ...] = (shared,)
"""Checks of several corpora together."""


def audit(corpora: Sequence[Corpus]) -> list[Finding]:
    """All findings, check by check, within a check in the order of the tasks."""
    found = [finding for check in CHECKS for corpus in corpora for finding in check(corpus)]
    return found + [finding for across in ACROSS for finding in across(corpora)]


def leaks(task: Task, splits: Mapping[Split, Iterable[Example]]) -> set[str]:
    """Ids of the test examples of a task whose input is in train, letter by letter and however short it is.

    :param splits: train and test, as rows or as the datasets of `blurb.data.loading`

    >>> train = [{"id": "train.0", "tokens": ["kalo", "mi"], "tags": ["O", "O"]}]
    >>> test = [{"id": "test.0", "tokens": ["kalo", "mi"], "tags": ["O", "O"]},
    ...         {"id": "test.1", "tokens": ["kalo"], "tags": ["O"]}]
    >>> from blurb import tasks
    >>> leaks(tasks.get("bc2gm"), {"train": train, "test": test})
    {'test.0'}
    """
    return duplicates.leaks(splits)

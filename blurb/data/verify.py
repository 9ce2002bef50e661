"""Is this BLURB's data? Counts in the paper's unit, and hashes of the canonical examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from blurb.data.schema import Row
from blurb.tasks import SPLITS, Split, Task

Verdict = Literal["identical", "counts only", "differs"]


def count(task: Task, rows: list[Row]) -> int:
    """Size of a split in the unit of the paper's Table 3.

    Entities for NER (every `B`), labelled words for PICO, abstracts for HoC, examples otherwise.
    """
    if task.type == "ner":
        return sum(tag.startswith("B") for row in rows for tag in row["tags"])
    if task.type == "pico":
        return sum(tag != "O" for row in rows for tag in row["tags"])
    if task.type == "document":
        return len({row["doc_id"] for row in rows})
    return len(rows)


def verdict(task: Task, counts: Mapping[Split, int], hashes: Mapping[Split, str]) -> Verdict:
    """Compares the splits given with the declaration of their task.

    "identical": every hash equals the one shipped. "counts only": no shipped hash is contradicted where the data is
    a known release, but not all are known, or the counts alone agree. The counts agree if they are those of Table 3, or
    all those of the released files (a mixture of both is no known release).
    """
    if hashes and all(task.hashes.get(split) == value for split, value in hashes.items()):
        return "identical"
    printed = {split: task.sizes.get(split) for split in counts}
    released = {split: task.expected(split) for split in counts}
    return "counts only" if counts and dict(counts) in (printed, released) else "differs"


def missing_splits(counts: Mapping[Split, int]) -> list[Split]:
    """The splits that could not be read."""
    return [split for split in SPLITS if split not in counts]

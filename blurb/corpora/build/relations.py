"""ChemProt and DDI: the examples of the original readers, with dummies in place of the two entities."""

from __future__ import annotations

from collections.abc import Iterable

from blurb.corpora.originals import chemprot, ddi
from blurb.corpora.releases import Release
from blurb.data.schema import Example
from blurb.inputs.relations import dummified
from blurb.tasks import SPLITS, Split, Task


def build_ddi(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`."""
    return {split: _table(ddi.rows(release, task, split)) for split in SPLITS}


def build_chemprot(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`."""
    return {split: _table(chemprot.rows(release, task, split)) for split in SPLITS}


def _table(rows: Iterable[Example]) -> str:
    return "".join(f"{row['id']}\t{dummified(row)['text']}\t{row['label']}\n" for row in rows)

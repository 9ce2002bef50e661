"""ChemProt and DDI: the examples of the original readers, with dummies in place of the two entities; and GAD."""

from __future__ import annotations

from collections.abc import Iterable

from blurb.corpora.original_readers import chemprot, ddi
from blurb.corpora.releases import Release
from blurb.data.schema import Example
from blurb.inputs.relations import dummify_entities
from blurb.messages import DataError
from blurb.tasks import SPLITS, Split, Task


def build_ddi(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`."""
    return {split: _write_table(ddi.rows(release, task, split)) for split in SPLITS}


def build_chemprot(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`."""
    return {split: _write_table(chemprot.rows(release, task, split)) for split in SPLITS}


def _write_table(rows: Iterable[Example]) -> str:
    return "".join(
        f"{row['id']}\t{dummify_entities(row)['text']}\t{row['label']}\n" for row in rows
    )


GAD_CUT = 4_261
"""Rows of the fold's train set that BLURB's kit uses for train; the others are dev."""
GAD_HEADER = ["index", "sentence", "label"]


def build_gad(release: Release, task: Task) -> dict[Split, str]:
    """`index TAB sentence TAB label` with a header; the index starts at 0 in every file.

    From the first of BioBERT's ten folds: its train set is split into train and dev.
    """
    sources = release.files(["GAD/1/train.tsv", "GAD/1/test.tsv"], ["REdata*", "GAD*"])
    training, test = sources["GAD/1/train.tsv"], sources["GAD/1/test.tsv"]
    rows = [cells for _, cells in training.rows(2)]
    if len(rows) <= GAD_CUT:
        raise DataError(f"expected more than {GAD_CUT:,} rows, found {len(rows):,}.", training.path)
    tested = [cells for _, cells in test.rows(3)]
    if tested[:1] != [GAD_HEADER]:
        raise DataError(f"expected the header {' | '.join(GAD_HEADER)}.", test.path, 1)
    parts = {
        "train": rows[:GAD_CUT],
        "dev": rows[GAD_CUT:],
        "test": [cells[1:] for cells in tested[1:]],
    }
    header = "\t".join(GAD_HEADER) + "\n"
    return {
        split: header
        + "".join(f"{index}\t{text}\t{label}\n" for index, (text, label) in enumerate(parts[split]))
        for split in SPLITS
    }

"""GAD from the first of BioBERT's ten folds: its train set is split into train and dev."""

from __future__ import annotations

from blurb.corpora.releases import Release
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

CUT = 4_261
"""Rows of the fold's train set that BLURB's kit uses for train; the others are dev."""
HEADER = ["index", "sentence", "label"]
ARCHIVES = ("REdata*", "GAD*")


def build(release: Release, task: Task) -> dict[Split, str]:
    """`index TAB sentence TAB label` with a header; the index starts at 0 in every file."""
    sources = release.files(["GAD/1/train.tsv", "GAD/1/test.tsv"], ARCHIVES)
    training, test = sources["GAD/1/train.tsv"], sources["GAD/1/test.tsv"]
    rows = [cells for _, cells in training.rows(2)]
    if len(rows) <= CUT:
        raise DataError(f"expected more than {CUT:,} rows, found {len(rows):,}.", training.path)
    tested = [cells for _, cells in test.rows(3)]
    if tested[:1] != [HEADER]:
        raise DataError(f"expected the header {' | '.join(HEADER)}.", test.path, 1)
    return {"train": _table(rows[:CUT]), "dev": _table(rows[CUT:]), "test": _table([cells[1:] for cells in tested[1:]])}


def _table(rows: list[list[str]]) -> str:
    lines = (f"{index}\t{sentence}\t{label}\n" for index, (sentence, label) in enumerate(rows))
    return "\t".join(HEADER) + "\n" + "".join(lines)

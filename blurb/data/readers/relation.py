"""Relation files with dummified entities: ChemProt, DDI and GAD as BLURB's kit writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from blurb.data.readers._files import check_label, table
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

FORMS = {
    "chemprot": (("@CHEMICAL$", "@GENE$"), "@CHEM-GENE$"),
    "ddi": (("@DRUG$", "@DRUG$"), "@DRUG-DRUG$"),
    "gad": (("@GENE$", "@DISEASE$"), None),
}
"""The dummies of the two entities, and the one that replaces both if they overlap."""


def read_pairs(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """ChemProt and DDI: `pair TAB sentence TAB label`; a pair is `pmid.Ta.Tb`, or an id of DDI."""
    for number, (pair, text, label) in table(path, 3):
        yield row_of(task, pair, text, label, path, number)


def read_gad(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """`index TAB sentence TAB label` with a header; the index starts at 0 in every file and names no document."""
    for number, (index, text, label) in table(path, 3, ("index", "sentence", "label")):
        yield row_of(task, f"{split}.{index}", text, label, path, number)


def row_of(task: Task, id_: str, text: str, label: str, path: Path, number: int) -> Example:
    """An example of ChemProt, DDI or GAD; its spans are those of the two dummies, or of the one that replaces both."""
    pair, overlap = FORMS[task.name]
    doc_id = {"chemprot": id_.split(".")[0], "ddi": ".".join(id_.split(".")[:2])}.get(task.name)
    dummies = sorted({*pair, *([overlap] if overlap else [])})
    spans = [(match.start(), match.end()) for match in re.finditer("|".join(map(re.escape, dummies)), text)]
    names = [text[start:end] for start, end in spans]
    if names == [overlap]:
        spans = spans * 2
    elif sorted(names) != sorted(pair):
        expected = " and ".join(pair) + (f", or {overlap}" if overlap else "")
        raise DataError(
            f"expected exactly {expected} in the sentence; found {', '.join(names) or 'none'}.", path, number
        )
    head, tail = ({"start": start, "end": end, "type": text[start + 1 : end - 1]} for start, end in spans)
    label = check_label(label, task.labels, path, number)
    return {"id": id_, "doc_id": doc_id, "text": text, "head": head, "tail": tail, "label": label}

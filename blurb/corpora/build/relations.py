"""ChemProt and DDI: the examples of the original readers, with dummies in place of the two entities."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from blurb.corpora.originals import chemprot, ddi
from blurb.corpora.releases import Release
from blurb.data.schema import Example
from blurb.inputs.relations import dummified
from blurb.system.files import file_hash
from blurb.tasks import SPLITS, Split, Task


def build_ddi(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`."""
    return {split: _table(ddi.rows(release, task, split))[0] for split in SPLITS}


def build_chemprot(release: Release, task: Task) -> dict[Split, str]:
    """`pair id TAB sentence TAB label`; records NLTK's version and sentence model, which determine the pairs."""
    tables = {split: _table(chemprot.rows(release, task, split)) for split in SPLITS}
    release.tools["nltk"] = version("nltk")
    release.read["(nltk_data) tokenizers/punkt_tab/english"] = _hash(Path(str(chemprot.model(release.nltk_data))))
    wrong = [
        f"{split}: {size:,} instead of {task.sizes[split]:,}"
        for split, (_, size) in tables.items()
        if size != task.sizes[split]
    ]
    if wrong:
        release.notes.append(
            f"ChemProt: the numbers of pairs differ from BLURB's ({', '.join(wrong)}). If the files are those of "
            "BioCreative, the cause is another version of NLTK's punkt model, which decides on sentence boundaries."
        )
    return {split: text for split, (text, _) in tables.items()}


def _table(rows: Iterable[Example]) -> tuple[str, int]:
    lines = [f"{row['id']}\t{dummified(row)['text']}\t{row['label']}\n" for row in rows]
    return "".join(lines), len(lines)


def _hash(model: Path) -> str:
    """Hash of the names and contents of the model's files; of no files if NLTK has the model in an archive."""
    digest = hashlib.sha256()
    for path in sorted(model.iterdir()) if model.is_dir() else []:
        digest.update(f"{file_hash(path)}  {path.name}\n".encode())
    return digest.hexdigest()

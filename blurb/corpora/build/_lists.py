"""Which document or pair belongs to which split: ids fixed by BLURB's kit, shipped as `lists/<name>.tsv`.

The lists contain only ids, no text. EBM PICO and HoC: the kit's index lists. BIOSSES: the order of the released files.
BioASQ: the 75 questions of dev, as BigBIO publishes them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from blurb.tasks import Split


@cache
def listed(name: str) -> dict[Split, list[str]]:
    """Ids by split, in BLURB's order."""
    ids: dict[Split, list[str]] = {}
    text = (files("blurb.corpora.build") / "lists" / f"{name}.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, number = line.split("\t")
        split: Split = "train" if name == "train" else "dev" if name == "dev" else "test"
        ids.setdefault(split, []).append(number)
    return ids

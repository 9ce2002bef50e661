"""ChemProt from the files of BioCreative VI: one row a chemical and a gene within one sentence.

Sentences are those of NLTK's English punkt model over `title TAB abstract`, cut again at the TAB; an entity that
crosses a sentence is lost, and so are relations of two sentences. The order of the two entities is BLURB's: the
chemical is first if it starts first, the gene in all other cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blurb.data._text import lines
from blurb.data.originals._files import find
from blurb.data.schema import Row
from blurb.errors import DataError
from blurb.tasks import Split, Task

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktTokenizer

FILES = {"train": ("training", ""), "dev": ("development", ""), "test": ("test", "_gs")}
BLANKS = str.maketrans("\r\n\t", "   ")


class Entity(NamedTuple):
    """A mention: code points into `title TAB abstract`, end exclusive."""

    id: str
    type: str
    start: int
    end: int


def read(folder: Path, task: Task, split: Split) -> Iterator[Row]:
    """All pairs of a split with their label; `false` where the relation is none of the five groups that count."""
    texts = {pmid: f"{title}\t{abstract}" for pmid, title, abstract in _rows(folder, split, "abstracts", 3)}
    entities: dict[str, list[Entity]] = {pmid: [] for pmid in texts}
    for pmid, name, kind, first, last, _ in _rows(folder, split, "entities", 6):
        entities[pmid].append(Entity(name, kind.split("-")[0], int(first), int(last)))
    labels = {}
    for pmid, group, _, _, one, other in _rows(folder, split, "relations", 6):
        labels[pmid, one.removeprefix("Arg1:"), other.removeprefix("Arg2:")] = group  # the last row counts
    tokenizer = _punkt()
    for pmid, text in texts.items():
        for start, end in _sentences(text, tokenizer):
            inside = [entity for entity in entities[pmid] if start <= entity.start and entity.end <= end]
            for chemical in (entity for entity in inside if entity.type == "CHEMICAL"):
                for gene in (entity for entity in inside if entity.type == "GENE"):
                    pair = (chemical, gene) if chemical.start < gene.start else (gene, chemical)
                    label = labels.get((pmid, chemical.id, gene.id), "false")
                    yield _row(pmid, text[start:end], start, pair, label if label in task.labels else "false")


def _row(pmid: str, sentence: str, offset: int, pair: tuple[Entity, Entity], label: str) -> Row:
    head, tail = ({"start": one.start - offset, "end": one.end - offset, "type": one.type} for one in pair)
    return {
        "id": f"{pmid}.{pair[0].id}.{pair[1].id}",
        "doc_id": pmid,
        "text": sentence.translate(BLANKS),
        "head": head,
        "tail": tail,
        "label": label,
    }


def _sentences(text: str, tokenizer: PunktTokenizer) -> Iterator[tuple[int, int]]:
    for start, end in tokenizer.span_tokenize(text + "\n"):
        for part in text[start:end].split("\t"):
            yield start, start + len(part)
            start += len(part) + 1


def _rows(folder: Path, split: Split, kind: str, columns: int) -> Iterator[list[str]]:
    name, suffix = FILES[split]
    # The official test files are called `..._entities_gs.tsv`; copies with the two words the other way round exist.
    names = dict.fromkeys([f"chemprot_{name}_{kind}{suffix}.tsv", f"chemprot_{name}{suffix}_{kind}.tsv"])
    path = find(folder, names, "ChemProt")
    for number, line in lines(path):
        cells = line.split("\t")
        if len(cells) != columns:
            raise DataError(f"expected {columns} TAB-separated columns, found {len(cells)}.", path, number)
        yield cells


def _punkt() -> PunktTokenizer:
    try:
        from nltk.tokenize.punkt import PunktTokenizer
    except ImportError:
        raise DataError("ChemProt's sentences need NLTK: pip install 'blurb-bench[raw]'.") from None
    from nltk import data

    for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep):  # NLTK looks at it once, when it is imported
        if folder and folder not in data.path:
            data.path.insert(0, folder)
    try:
        return PunktTokenizer("english")
    except LookupError:
        raise DataError(
            "NLTK's English sentence model is missing: set NLTK_DATA to a folder that holds tokenizers/punkt_tab, "
            "or run python -m nltk.downloader punkt_tab."
        ) from None

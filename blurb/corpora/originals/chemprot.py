"""ChemProt from the files of BioCreative VI: one example per pair of chemical and gene in a sentence.

Sentences come from NLTK's English punkt model on `title TAB abstract`, split again at the TAB. Entities that cross a
sentence boundary are lost, as are relations across sentences. The order of the two entities is BLURB's: the chemical is
first if it starts first, otherwise the gene.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from blurb.corpora.releases import MissingTool, Release
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktTokenizer

FILES = {"train": ("training", ""), "dev": ("development", ""), "test": ("test", "_gs")}
ARCHIVES = ("chemprot_*",)
BLANKS = str.maketrans("\r\n\t", "   ")


class Entity(NamedTuple):
    """A mention, in code points of `title TAB abstract`, end exclusive."""

    id: str
    type: str
    start: int
    end: int


def read(folder: Path, task: Task, split: Split) -> Iterator[Example]:
    """Reads all pairs of a split; the label is `false` unless the relation is in one of the five scored groups."""
    return rows(Release(folder), task, split)


def rows(release: Release, task: Task, split: Split) -> Iterator[Example]:
    """Like `read`, from an open release."""
    texts = {pmid: f"{title}\t{abstract}" for _, _, (pmid, title, abstract) in _table(release, split, "abstracts", 3)}
    entities: dict[str, list[Entity]] = {pmid: [] for pmid in texts}
    for path, number, (pmid, name, kind, first, last, _) in _table(release, split, "entities", 6):
        entity = _entity(name, kind, first, last, texts.get(pmid, ""))
        if entity is None:
            raise DataError(f"{pmid[:20]} {name[:20]}: not a valid span of an abstract of this split.", path, number)
        entities[pmid].append(entity)
    labels = {}
    for _, _, (pmid, group, _, _, first, second) in _table(release, split, "relations", 6):
        labels[pmid, first.removeprefix("Arg1:"), second.removeprefix("Arg2:")] = group  # of repeated pairs the last
    tokenizer = _punkt(release.nltk_data)
    for pmid, text in texts.items():
        for start, end in _sentences(text, tokenizer):
            inside = [entity for entity in entities[pmid] if start <= entity.start and entity.end <= end]
            for chemical in (entity for entity in inside if entity.type == "CHEMICAL"):
                for gene in (entity for entity in inside if entity.type == "GENE"):
                    pair = (chemical, gene) if chemical.start < gene.start else (gene, chemical)
                    label = labels.get((pmid, chemical.id, gene.id), "false")
                    yield _row(pmid, text[start:end], start, pair, label if label in task.labels else "false")


def _entity(name: str, kind: str, first: str, last: str, text: str) -> Entity | None:
    if not (first.isdecimal() and last.isdecimal() and len(first + last) < 20):
        return None
    start, end = int(first), int(last)
    return Entity(name, kind.split("-")[0], start, end) if start < end <= len(text) else None


def _row(pmid: str, sentence: str, offset: int, pair: tuple[Entity, Entity], label: str) -> Example:
    head, tail = ({"start": entity.start - offset, "end": entity.end - offset, "type": entity.type} for entity in pair)
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


def _table(release: Release, split: Split, kind: str, columns: int) -> Iterator[tuple[Path, int, list[str]]]:
    name, suffix = FILES[split]
    # The official test files are called `..._entities_gs.tsv`; some copies `..._gs_entities.tsv`.
    names = dict.fromkeys([f"chemprot_{name}_{kind}{suffix}.tsv", f"chemprot_{name}{suffix}_{kind}.tsv"])
    file = release.file(*names, archives=ARCHIVES)
    for number, cells in file.rows(columns):
        yield file.path, number, cells


def model(folder: Path | None = None) -> Any:
    """Finds NLTK's English sentence model (a path pointer of NLTK); MissingTool if it is missing.

    :param folder: searched first; then the folders in NLTK_DATA, then NLTK's default folders
    """
    try:
        from nltk import data
    except ImportError:
        raise MissingTool("Splitting ChemProt into sentences needs NLTK: pip install 'blurb-bench[raw]'.") from None
    named = [place for place in (str(folder or ""), *os.environ.get("NLTK_DATA", "").split(os.pathsep)) if place]
    data.path[:] = [
        *named,
        *(place for place in data.path if place not in named),
    ]  # NLTK reads the variable only on import
    try:
        return data.find("tokenizers/punkt_tab/english/", [str(folder)] if folder else None)
    except LookupError:
        raise MissingTool(
            "NLTK's English sentence model is missing: run python -m nltk.downloader punkt_tab, or give a folder with "
            "tokenizers/punkt_tab by --nltk-data or NLTK_DATA."
        ) from None


def _punkt(folder: Path | None) -> PunktTokenizer:
    where = model(folder)
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"NLTK cannot read its sentence model: {error}.", Path(str(where))) from error

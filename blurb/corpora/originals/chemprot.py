"""ChemProt from the files of BioCreative VI: one row a chemical and a gene within one sentence.

Sentences are those of NLTK's English punkt model over `title TAB abstract`, cut again at the TAB; an entity that
crosses a sentence is lost, and so are relations of two sentences. The order of the two entities is BLURB's: the
chemical is first if it starts first, the gene in all other cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from blurb.corpora.releases import MissingTool, Release
from blurb.data.schema import Example
from blurb.errors import DataError
from blurb.tasks import Split, Task

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktTokenizer

FILES = {"train": ("training", ""), "dev": ("development", ""), "test": ("test", "_gs")}
ARCHIVES = ("chemprot_*",)
BLANKS = str.maketrans("\r\n\t", "   ")


class Entity(NamedTuple):
    """A mention: code points into `title TAB abstract`, end exclusive."""

    id: str
    type: str
    start: int
    end: int


def read(folder: Path, task: Task, split: Split) -> Iterator[Example]:
    """All pairs of a split with their label; `false` where the relation is none of the five groups that count."""
    return rows(Release(folder), task, split)


def rows(release: Release, task: Task, split: Split) -> Iterator[Example]:
    """The same from a release that was opened already."""
    texts = {pmid: f"{title}\t{abstract}" for _, _, (pmid, title, abstract) in _table(release, split, "abstracts", 3)}
    entities: dict[str, list[Entity]] = {pmid: [] for pmid in texts}
    for path, number, (pmid, name, kind, first, last, _) in _table(release, split, "entities", 6):
        entity = _entity(name, kind, first, last, texts.get(pmid, ""))
        if entity is None:
            raise DataError(f"{pmid[:20]} {name[:20]}: no span of an abstract of this split.", path, number)
        entities[pmid].append(entity)
    labels = {}
    for _, _, (pmid, group, _, _, one, other) in _table(release, split, "relations", 6):
        labels[pmid, one.removeprefix("Arg1:"), other.removeprefix("Arg2:")] = group  # the last row counts
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


def _table(release: Release, split: Split, kind: str, columns: int) -> Iterator[tuple[Path, int, list[str]]]:
    name, suffix = FILES[split]
    # The official test files are called `..._entities_gs.tsv`; copies with the two words the other way round exist.
    names = dict.fromkeys([f"chemprot_{name}_{kind}{suffix}.tsv", f"chemprot_{name}{suffix}_{kind}.tsv"])
    file = release.file(*names, archives=ARCHIVES)
    for number, cells in file.rows(columns):
        yield file.path, number, cells


def model(folder: Path | None = None) -> Any:
    """Where NLTK finds its English sentence model (a path pointer of NLTK); MissingTool if nowhere.

    :param folder: looked at first; then the folders in NLTK_DATA, then NLTK's own list
    """
    try:
        from nltk import data
    except ImportError:
        raise MissingTool("ChemProt's sentences need NLTK: pip install 'blurb-bench[raw]'.") from None
    named = [place for place in (str(folder or ""), *os.environ.get("NLTK_DATA", "").split(os.pathsep)) if place]
    data.path[:] = [*named, *(place for place in data.path if place not in named)]  # NLTK reads the variable only once
    try:
        return data.find("tokenizers/punkt_tab/english/", [str(folder)] if folder else None)
    except LookupError:
        raise MissingTool(
            "NLTK's English sentence model is missing: give a folder that holds tokenizers/punkt_tab with --nltk-data "
            "or in NLTK_DATA, or run python -m nltk.downloader punkt_tab."
        ) from None


def _punkt(folder: Path | None) -> PunktTokenizer:
    where = model(folder)
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"NLTK cannot read its sentence model: {error}.", Path(str(where))) from error

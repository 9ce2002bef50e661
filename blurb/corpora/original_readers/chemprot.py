"""ChemProt from the files of BioCreative VI: one example per pair of chemical and gene in a sentence.

Sentences are those of NLTK's English punkt model on `title TAB abstract`, split again at the TAB; their ends are
shipped, so that no other model can decide. Entities that cross a sentence boundary are lost, as are relations across
sentences. The order of the two entities is BLURB's: the chemical is first if it starts first, otherwise the gene.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from blurb.corpora.releases import BLANKS, Release
from blurb.data.schema import Example
from blurb.table_files import FileLine
from blurb.tasks import Split, Task

FILES = {"train": ("training", ""), "dev": ("development", ""), "test": ("test", "_gs")}
ARCHIVES = ("chemprot_*",)


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
    texts, ends = {}, _sentence_ends()
    for line, (pmid, title, abstract) in _read_columns(release, split, "abstracts", 3):
        texts[pmid] = f"{title}\t{abstract}"
        if pmid not in ends or ends[pmid][-1] > len(texts[pmid]):
            raise line.error(
                f"{pmid[:20]}: no abstract of ChemProt, so its sentences are not known."
            )
    entities: dict[str, list[Entity]] = {pmid: [] for pmid in texts}
    for line, (pmid, name, kind, first, last, _) in _read_columns(release, split, "entities", 6):
        entity = _make_entity(name, kind, first, last, texts.get(pmid, ""))
        if entity is None:
            raise line.error(
                f"{pmid[:20]} {name[:20]}: not a valid span of an abstract of this split."
            )
        entities[pmid].append(entity)
    labels = {  # of repeated pairs the last
        (pmid, first.removeprefix("Arg1:"), second.removeprefix("Arg2:")): group
        for _, (pmid, group, _, _, first, second) in _read_columns(release, split, "relations", 6)
    }
    for pmid, text in texts.items():
        for start, end in _sentence_places(text, ends[pmid]):
            inside = [
                entity for entity in entities[pmid] if start <= entity.start and entity.end <= end
            ]
            for chemical in (entity for entity in inside if entity.type == "CHEMICAL"):
                for gene in (entity for entity in inside if entity.type == "GENE"):
                    pair = (chemical, gene) if chemical.start < gene.start else (gene, chemical)
                    label = labels.get((pmid, chemical.id, gene.id), "false")
                    yield _make_row(
                        pmid,
                        text[start:end],
                        start,
                        pair,
                        label if label in task.labels else "false",
                    )


def _make_entity(name: str, kind: str, first: str, last: str, text: str) -> Entity | None:
    if not (first.isdecimal() and last.isdecimal() and len(first + last) < 20):
        return None
    start, end = int(first), int(last)
    return Entity(name, kind.split("-")[0], start, end) if start < end <= len(text) else None


def _make_row(
    pmid: str, sentence: str, offset: int, pair: tuple[Entity, Entity], label: str
) -> Example:
    head, tail = (
        {"start": entity.start - offset, "end": entity.end - offset, "type": entity.type}
        for entity in pair
    )
    return {
        "id": f"{pmid}.{pair[0].id}.{pair[1].id}",
        "doc_id": pmid,
        "text": sentence.translate(BLANKS),
        "head": head,
        "tail": tail,
        "label": label,
    }


def _sentence_places(text: str, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence; blanks between two belong to none."""
    before = 0
    for end in ends:
        yield before + len(text[before:end]) - len(text[before:end].lstrip()), end
        before = end


def _read_columns(
    release: Release, split: Split, kind: str, columns: int
) -> Iterator[tuple[FileLine, list[str]]]:
    name, suffix = FILES[split]
    # The official test files are called `..._entities_gs.tsv`; some copies `..._gs_entities.tsv`.
    names = dict.fromkeys(
        [f"chemprot_{name}_{kind}{suffix}.tsv", f"chemprot_{name}{suffix}_{kind}.tsv"]
    )
    return release.file(*names, archives=ARCHIVES).rows(columns)


@cache
def _sentence_ends() -> Mapping[str, Sequence[int]]:
    """PMID -> end of each sentence, in code points of `title TAB abstract`: those of NLTK's English punkt model."""
    lines = (
        Path(__file__).with_name("chemprot_sentences.tsv").read_text(encoding="utf-8").splitlines()
    )
    return {
        pmid: [int(end) for end in ends.split()]
        for pmid, _, ends in (line.partition("\t") for line in lines)
    }

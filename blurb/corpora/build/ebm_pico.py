"""EBM PICO from ebm_nlp_2_00: tokens of a document and, one integer a token, where spans of each element are.

The annotations are the aggregated starting spans, the experts' (`test/gold`) for test. Where elements overlap, BLURB's
kit keeps the last of participants, interventions, outcomes: OUT over INT over PAR.
"""

from __future__ import annotations

from blurb.corpora.build._lists import listed
from blurb.corpora.releases import Release, SourceFile
from blurb.errors import DataError
from blurb.tasks import SPLITS, Split, Task

ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
ARCHIVES = ("ebm_nlp_2_00*", "EBM-NLP*")


def build(release: Release, task: Task) -> dict[Split, str]:
    """One text a split, its documents in the order of BLURB's lists."""
    names = {pmid: _names(pmid, split) for split in SPLITS for pmid in listed("ebm_pico").get(split, [])}
    found = release.files([name for four in names.values() for name in four], ARCHIVES)
    return {
        split: "".join(
            _document(pmid, *(found[name] for name in names[pmid])) for pmid in listed("ebm_pico").get(split, [])
        )
        for split in SPLITS
    }


def _names(pmid: str, split: Split) -> tuple[str, ...]:
    level = "test/gold" if split == "test" else "train"
    spans = (f"aggregated/starting_spans/{element}/{level}/{pmid}.AGGREGATED.ann" for element in ELEMENTS)
    return (f"documents/{pmid}.tokens", *spans)


def _document(pmid: str, tokens: SourceFile, *spans: SourceFile) -> str:
    """A header, the words with their labels, and a blank line after each word that is a full stop."""
    words = _words(tokens)
    labels = ["O"] * len(words)
    for file, label in zip(spans, ELEMENTS.values(), strict=True):
        marks = _words(file)
        if len(marks) != len(words):
            raise DataError(f"{len(marks)} marks for the {len(words)} tokens of {tokens.path.name}.", file.path)
        for place, mark in enumerate(marks):
            if not mark.isdecimal():
                raise DataError(f"expected a whole number, found {mark[:20]!r}.", file.path, place + 1)
            if mark.strip("0"):
                labels[place] = f"I-{label}"
    lines = (f"{word}\t{label}\n" + "\n" * (word == ".") for word, label in zip(words, labels, strict=True))
    return f"-DOCSTART- ({pmid})\n\n" + "".join(lines)


def _words(file: SourceFile) -> list[str]:
    found = []
    for number, line in file.lines():
        if not line.strip() or "\t" in line:
            raise DataError("expected one token or mark in every line.", file.path, number)
        found.append(line)
    return found

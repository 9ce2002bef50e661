"""EBM PICO from ebm_nlp_2_00: the tokens of a document, and for each element one integer per token.

The annotations are the aggregated starting spans, for test those of experts (`test/gold`). If elements overlap, BLURB's
kit prefers OUT over INT over PAR.
"""

from __future__ import annotations

from blurb.corpora.build._files import listed
from blurb.corpora.releases import Release, SourceFile
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS, Split, Task

ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
ARCHIVES = ("ebm_nlp_2_00*", "EBM-NLP*")


def build(release: Release, task: Task) -> dict[Split, str]:
    """Documents of a split are in the order of BLURB's lists."""
    names = {pmid: _names(pmid, split) for split in SPLITS for pmid in listed("ebm_pico").get(split, [])}
    sources = release.files([name for four in names.values() for name in four], ARCHIVES)
    return {
        split: "".join(
            _document(pmid, *(sources[name] for name in names[pmid])) for pmid in listed("ebm_pico").get(split, [])
        )
        for split in SPLITS
    }


def _names(pmid: str, split: Split) -> tuple[str, ...]:
    level = "test/gold" if split == "test" else "train"
    spans = (f"aggregated/starting_spans/{element}/{level}/{pmid}.AGGREGATED.ann" for element in ELEMENTS)
    return (f"documents/{pmid}.tokens", *spans)


def _document(pmid: str, tokens: SourceFile, *spans: SourceFile) -> str:
    """A header, the words with their labels, and a blank line after every word `.`."""
    words = _words(tokens)
    labels = ["O"] * len(words)
    for file, label in zip(spans, ELEMENTS.values(), strict=True):
        marks = _words(file)
        if len(marks) != len(words):
            raise DataError(
                f"expected one mark per token of {tokens.path.name} ({len(words)}), found {len(marks)}.", file.path
            )
        for place, mark in enumerate(marks):
            if not mark.isdecimal():
                raise DataError(f"expected a whole number, found {mark[:20]!r}.", file.path, place + 1)
            if mark.strip("0"):
                labels[place] = f"I-{label}"
    lines = (f"{word}\t{label}\n" + "\n" * (word == ".") for word, label in zip(words, labels, strict=True))
    return f"-DOCSTART- ({pmid})\n\n" + "".join(lines)


def _words(file: SourceFile) -> list[str]:
    words = []
    for line, text in file.lines():
        if not text.strip() or "\t" in text:
            raise line.error("expected one token or mark per line.")
        words.append(text)
    return words

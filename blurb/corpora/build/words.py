"""Words with tags: the files of Crichton et al. (MTL-Bioinformatics-2016), JNLPBA and EBM PICO."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from blurb.corpora.releases import Release, SourceFile, load_split_lists
from blurb.messages import DataError
from blurb.table_files import Lines
from blurb.tasks import SPLITS, Split, Task

MTL_FILES: dict[Split, str] = {"train": "train", "dev": "devel", "test": "test"}


def build_mtl(release: Release, task: Task) -> dict[Split, str]:
    """BC5-chem, BC5-disease, NCBI-disease and BC2GM.

    BLURB's folder is named like the MTL folder, without `-IOB`; the splits are the same.
    """
    names = {
        split: f"{task.files[split].split('/')[0]}-IOB/{name}.tsv"
        for split, name in MTL_FILES.items()
    }
    sources = release.files(names.values(), ["MTL-Bioinformatics-2016*"])
    return {split: "".join(untyped(sources[name].lines())) for split, name in names.items()}


JNLPBA_CUT = 465_497
"""Lines of Genia4ERtask2 that BLURB's kit uses for train; the others are dev."""
HEADER = "###MEDLINE:"
GENIA = ("Genia4ER*", "jnlpba*")


def build_jnlpba(release: Release, task: Task) -> dict[Split, str]:
    """JNLPBA from Genia4ERtask2.iob2 (train and dev) and Genia4EReval2.iob2 (test).

    Headers `###MEDLINE:<id>` become `-DOCSTART- <id>`; the five types are dropped.
    """
    training, test = (
        release.file(f"Genia4ER{name}2.iob2", archives=GENIA) for name in ("task", "eval")
    )
    lines = _lines_of_file(training)
    train, dev = "".join(islice(lines, JNLPBA_CUT)), "".join(lines)
    if not dev:
        raise DataError(
            f"the file ends before line {JNLPBA_CUT:,}, where dev starts.", training.path
        )
    return {"train": train, "dev": dev, "test": "".join(_lines_of_file(test))}


def _lines_of_file(file: SourceFile) -> Iterator[str]:
    for line, text in file.lines():
        if text.startswith(HEADER):
            yield f"-DOCSTART- {text.removeprefix(HEADER)}\n"
        else:
            yield from untyped([(line, text)])


def untyped(lines: Lines) -> Iterator[str]:
    """Reduces every tag to its first letter, as BLURB's kit does (`label[0]`); keeps blank lines."""
    for line, text in lines:
        if not text:
            yield "\n"
            continue
        cells = text.split("\t")
        if len(cells) != 2 or cells[1][:1] not in ("B", "I", "O"):
            raise line.error("expected a token, a TAB and a tag that starts with B, I or O.")
        yield f"{cells[0]}\t{cells[1][0]}\n"


ELEMENTS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
EBM_NLP = ("ebm_nlp_2_00*", "EBM-NLP*")


def build_pico(release: Release, task: Task) -> dict[Split, str]:
    """EBM PICO from ebm_nlp_2_00: the tokens of a document, and for each element one integer per token.

    The annotations are the aggregated starting spans, for test those of experts (`test/gold`). If elements overlap,
    BLURB's kit prefers OUT over INT over PAR. Documents of a split are in the order of BLURB's lists.
    """
    names = {
        pmid: pico_names(pmid, split)
        for split in SPLITS
        for pmid in load_split_lists("ebm_pico").get(split, [])
    }
    sources = release.files([name for four in names.values() for name in four], EBM_NLP)
    return {
        split: "".join(
            _write_document(pmid, *(sources[name] for name in names[pmid]))
            for pmid in load_split_lists("ebm_pico").get(split, [])
        )
        for split in SPLITS
    }


def pico_names(pmid: str, split: Split) -> tuple[str, ...]:
    level = "test/gold" if split == "test" else "train"
    spans = (
        f"aggregated/starting_spans/{element}/{level}/{pmid}.AGGREGATED.ann" for element in ELEMENTS
    )
    return (f"documents/{pmid}.tokens", *spans)


def _write_document(pmid: str, tokens: SourceFile, *spans: SourceFile) -> str:
    """A header, the words with their labels, and a blank line after every word `.`."""
    words = _words_of_file(tokens)
    labels = ["O"] * len(words)
    for file, label in zip(spans, ELEMENTS.values(), strict=True):
        marks = _words_of_file(file)
        if len(marks) != len(words):
            raise DataError(
                f"expected one mark per token of {tokens.path.name} ({len(words)}), found {len(marks)}.",
                file.path,
            )
        for place, mark in enumerate(marks):
            if not mark.isdecimal():
                raise DataError(
                    f"expected a whole number, found {mark[:20]!r}.", file.path, place + 1
                )
            if mark.strip("0"):
                labels[place] = f"I-{label}"
    lines = (
        f"{word}\t{label}\n" + "\n" * (word == ".")
        for word, label in zip(words, labels, strict=True)
    )
    return f"-DOCSTART- ({pmid})\n\n" + "".join(lines)


def _words_of_file(file: SourceFile) -> list[str]:
    words = []
    for line, text in file.lines():
        if not text.strip() or "\t" in text:
            raise line.error("expected one token or mark per line.")
        words.append(text)
    return words

"""HoC: `text/PMID.txt` has a sentence per line; `labels/PMID.txt` is one line, with `<` before each sentence's labels.

The labels of a sentence are joined by `AND`; the hallmark is the part before the first `--`, in lower case. Blank parts
and `NULL` mean no label.
"""

from __future__ import annotations

from blurb.corpora.releases import Release, SourceFile, load_split_lists
from blurb.messages import DataError
from blurb.tasks import SPLITS, Split, Task

ARCHIVES = ("Hallmarks-of-Cancer*", "HoC*", "text*", "labels*")


def build(release: Release, task: Task) -> dict[Split, str]:
    """`labels TAB sentence TAB PMID_s<i>` with a header, labels as `0_0,1_1,...` in the order of the task."""
    pmids = [pmid for split in SPLITS for pmid in load_split_lists("hoc").get(split, [])]
    sources = release.files(
        [f"{kind}/{pmid}.txt" for kind in ("text", "labels") for pmid in pmids], ARCHIVES
    )
    header = "labels\tsentence\tindex\n"
    return {
        split: header
        + "".join(
            line
            for pmid in load_split_lists("hoc").get(split, [])
            for line in _document_lines(
                pmid, sources[f"text/{pmid}.txt"], sources[f"labels/{pmid}.txt"], task
            )
        )
        for split in SPLITS
    }


def _document_lines(pmid: str, text: SourceFile, labels: SourceFile, task: Task) -> list[str]:
    sentences = [line for _, line in text.lines()]
    _, *marked = labels.text().split("<")
    if len(marked) != len(sentences):
        raise DataError(
            f"found labels for {len(marked)} sentences, but {text.path.name} has {len(sentences)}.",
            labels.path,
        )
    lines = []
    for index, (sentence, piece) in enumerate(zip(sentences, marked, strict=True)):
        names = {label.split("--")[0].strip().lower() for label in piece.split("AND")} - {
            "",
            "null",
        }
        if unknown := names - set(task.labels):
            raise DataError(
                f"sentence {index}: unknown hallmark {min(unknown)[:40]!r}.", labels.path
            )
        if "\t" in sentence:
            raise DataError("a sentence must not contain a TAB.", text.path, index + 1)
        flags = ",".join(
            f"{place}_{int(label in names)}" for place, label in enumerate(task.labels)
        )
        lines.append(f"{flags}\t{sentence}\t{pmid}_s{index}\n")
    return lines

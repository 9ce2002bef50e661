"""BIOSSES from its two Word documents: pairs of sentences, and the scores of five annotators.

A .docx is XML in a zip archive, which needs no library.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from blurb.corpora.releases import Release, SourceFile, load_split_lists, parse_xml
from blurb.corpora.releases.archives import content_of
from blurb.messages import DataError
from blurb.tasks import SPLITS, Split, Task

PAIRS, SCORES = "Annotation-Pairs.docx", "Annotator-Scores.docx"
ARCHIVES = ("BIOSSES*",)


def build(release: Release, task: Task) -> dict[Split, str]:
    """`pair_id TAB sent1 TAB sent2 TAB score` with a header; the score is the mean of five annotators."""
    sources = release.files([PAIRS, SCORES], ARCHIVES)
    pairs, scores = sources[PAIRS], sources[SCORES]
    sentences = {pair: texts for pair, *texts in table(pairs, 3, r" \| Sentence 1 \| Sentence 2")}
    means = {
        pair: _mean_of_marks(pair, marks, scores.path)
        for pair, *marks in table(scores, 6, r"Sentence No( \| Annotator [A-E]){5}")
    }
    texts = {}
    for split in SPLITS:
        lines = ["pair_id\tsent1\tsent2\tscore\n"]
        for pair in load_split_lists("biosses")[split]:
            if pair not in sentences or pair not in means:
                raise DataError(
                    f"pair {pair} is missing in the table.",
                    (scores if pair in sentences else pairs).path,
                )
            lines.append("\t".join((pair, *sentences[pair], str(means[pair]))) + "\n")
        texts[split] = "".join(lines)
    return texts


def _mean_of_marks(pair: str, marks: list[str], path: Path) -> float:
    if not all(mark in ("0", "1", "2", "3", "4") for mark in marks):
        raise DataError(
            f"pair {pair[:20]!r}: the scores must be five whole numbers from 0 to 4.", path
        )
    return sum(map(int, marks)) / len(marks)


BODY = "word/document.xml"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BETWEEN = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": "\t"}


def table(file: SourceFile, columns: int, header: str) -> list[list[str]]:
    """The cells of the rows below the header, with whitespace normalized.

    :param header: pattern of the first row, with cells joined by ` | `
    :raises DataError: if it is not a Word document, not safe XML, or not the expected table
    """
    tables = list(
        parse_xml(content_of(file.content, BODY, file.path), file.path / BODY).iter(f"{W}tbl")
    )
    if len(tables) != 1:
        raise DataError(f"expected one table, found {len(tables)}.", file.path)
    rows = [
        [_text_of_cell(cell) for cell in row.findall(f"{W}tc")] for row in tables[0].iter(f"{W}tr")
    ]
    first = " | ".join(rows[0] if rows else [])
    if not re.fullmatch(header, first):
        raise DataError(f"not the expected table: its first row is {first[:80]!r}.", file.path)
    for number, row in enumerate(rows[1:], 1):
        if len(row) != columns:
            raise DataError(
                f"expected {columns} cells in row {number} of the table, found {len(row)}.",
                file.path,
            )
    return rows[1:]


def _text_of_cell(cell: Any) -> str:
    paragraphs = (
        "".join(
            (part.text or "") if part.tag == f"{W}t" else BETWEEN.get(part.tag, "")
            for part in paragraph.iter()
        )
        for paragraph in cell.iter(f"{W}p")
    )
    return re.sub(r"[\n\t]+", " ", "\n".join(paragraphs)).strip()

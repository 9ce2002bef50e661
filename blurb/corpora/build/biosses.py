"""BIOSSES from its two Word documents: pairs of sentences, and the scores of five annotators."""

from __future__ import annotations

from pathlib import Path

from blurb.corpora.build._files import listed, table
from blurb.corpora.releases import Release
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS, Split, Task

PAIRS, SCORES = "Annotation-Pairs.docx", "Annotator-Scores.docx"
ARCHIVES = ("BIOSSES*",)


def build(release: Release, task: Task) -> dict[Split, str]:
    """`pair_id TAB sent1 TAB sent2 TAB score` with a header; the score is the mean of five annotators."""
    sources = release.files([PAIRS, SCORES], ARCHIVES)
    pairs, scores = sources[PAIRS], sources[SCORES]
    sentences = {pair: texts for pair, *texts in table(pairs, 3, r" \| Sentence 1 \| Sentence 2")}
    means = {
        pair: _mean(pair, marks, scores.path)
        for pair, *marks in table(scores, 6, r"Sentence No( \| Annotator [A-E]){5}")
    }
    texts = {}
    for split in SPLITS:
        lines = ["pair_id\tsent1\tsent2\tscore\n"]
        for pair in listed("biosses")[split]:
            if pair not in sentences or pair not in means:
                raise DataError(f"pair {pair} is missing in the table.", (scores if pair in sentences else pairs).path)
            lines.append("\t".join((pair, *sentences[pair], str(means[pair]))) + "\n")
        texts[split] = "".join(lines)
    return texts


def _mean(pair: str, marks: list[str], path: Path) -> float:
    if not all(mark in ("0", "1", "2", "3", "4") for mark in marks):
        raise DataError(f"pair {pair[:20]!r}: the scores must be five whole numbers from 0 to 4.", path)
    return sum(map(int, marks)) / len(marks)

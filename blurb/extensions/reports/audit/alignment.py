"""What an encoder cannot see: entities without sub-tokens of their own, entity pairs separated by the length limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from blurb.data.schema import Example
from blurb.extensions.reports.audit._base import AuditedTask, AuditFinding, ids
from blurb.inputs import tagging
from blurb.inputs.tokenized_split import TokenizedSplit


def entities(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Entities with a word that has no sub-token, or that shares a sub-token with a neighbouring word."""
    for split, reading in corpus.readings.items():
        if reading.whole.word_ids is None:
            continue
        rows = corpus.splits[split]
        for kind, effect, sentences in (
            ("word without sub-token", "predicted O: the entity is missed", _touched(rows, reading, _dropped)),
            ("border within a sub-token", "one feature for two tags", _touched(rows, reading, _glued)),
        ):
            if sentences:
                yield AuditFinding(
                    "alignment",
                    corpus.task.name,
                    split,
                    len(sentences),
                    effect,
                    kind=kind,
                    ids=tuple(dict.fromkeys(sentences)),
                )


def _touched(
    rows: Sequence[Example], reading: TokenizedSplit, marked: Callable[[TokenizedSplit, int, Sequence[str]], set[int]]
) -> list[str]:
    """Ids of sentences, once for every entity with a marked word."""
    sentences = []
    for number, row in enumerate(rows):
        words = marked(reading, number, row["tags"])
        if words:
            sentences += [
                str(row["id"]) for span in tagging.spans(row["tags"]) if words & {*range(span.start, span.end)}
            ]
    return sentences


def _dropped(reading: TokenizedSplit, number: int, tags: Sequence[str]) -> set[int]:
    """Words without any sub-token in the input."""
    assert reading.whole.word_ids is not None
    seen = reading.whole.word_ids[number]
    return set() if len(seen) == len(tags) else set(range(len(tags))) - set(seen.tolist())


def _glued(reading: TokenizedSplit, number: int, tags: Sequence[str]) -> set[int]:
    """Words that share a sub-token with a neighbour that has another tag."""
    assert reading.whole.word_ids is not None
    assert reading.whole.word_starts is not None
    places, words = reading.whole.word_starts[number], reading.whole.word_ids[number].tolist()
    same = np.flatnonzero(np.diff(places) == 0) + 1
    return {
        word
        for after in same.tolist()
        if tags[words[after]] != tags[words[after - 1]]
        for word in (words[after - 1], words[after])
    }


def windows(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Relation inputs over the limit: what the window around the pair loses, and what truncation would lose."""
    for split, reading in corpus.readings.items():
        if reading.whole.entities is None or not reading.long:
            continue
        before, _ = reading.special
        places = reading.whole.entities[list(reading.long)]  # (long, 2, 2)
        first, last = places.min(axis=(1, 2)), places.max(axis=(1, 2))  # (long,) start and end of the pair
        for kind, effect, which in (
            ("longer than the limit", "text around the pair is cut", np.ones(len(places), dtype=np.bool_)),
            ("wider than the limit", "text between the entities is cut", last - first > reading.room),
            ("lost by the window", "an entity is not in the input", _lost(reading)),
            ("beyond a cut at the end", "none: a window is around the pair", last > before + reading.room),
        ):
            if which.any():
                affected = ids(corpus.splits[split][reading.long[row]] for row in np.flatnonzero(which).tolist())
                yield AuditFinding("windows", corpus.task.name, split, len(affected), effect, kind=kind, ids=affected)


def _lost(reading: TokenizedSplit) -> npt.NDArray[np.bool_]:
    """(long,) whether an entity is missing from the input; its span is then the whole input."""
    assert reading.cut.entities is not None
    starts, ends = reading.cut.entities[:, :, 0], reading.cut.entities[:, :, 1]  # (long, 2)
    whole = reading.cut.ids.lengths - reading.special[1]  # (long,)
    return np.asarray(((starts == 0) & (ends >= whole[:, None])).any(axis=1))

"""Tags that their scheme does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from blurb.data.audit._base import Corpus, Finding

PICO = "the format: PICO has no B, and is scored by word; strict entity metrics fail here"
NER = "read as the beginning of an entity; strict metrics leave it out"


def illegal(corpus: Corpus) -> Iterator[Finding]:
    """`I` that continues nothing: at the start of a sentence, after O or after another type.

    The reader of NER refuses such a file, so there it is a message of `unreadable` instead.
    """
    for split, rows in corpus.splits.items():
        count, found = 0, []
        for row in rows:
            tags = row.get("tags", ())
            orphans = sum(
                tag[0] == "I" and before[2:] != tag[2:] for before, tag in zip(("O", *tags), tags, strict=False)
            )
            if orphans:
                count += orphans
                found.append(str(row["id"]))
        if count:
            effect = NER if corpus.task.task_type.borders else PICO
            yield Finding("illegal tags", corpus.task.name, split, count, effect, kind="I without B", ids=tuple(found))

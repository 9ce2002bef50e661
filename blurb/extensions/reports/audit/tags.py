"""Tags that are illegal in their scheme."""

from __future__ import annotations

from collections.abc import Iterator

from blurb.extensions.reports.audit._base import Corpus, Finding

PICO = "the format: PICO has no B, and is scored by word; strict entity metrics fail here"
NER = "read as the beginning of an entity; strict metrics leave it out"


def illegal(corpus: Corpus) -> Iterator[Finding]:
    """`I` without an entity to continue: at the start of a sentence, after O or after another type.

    For NER the reader already rejects such files, so the finding there is `unreadable`.
    """
    for split, rows in corpus.splits.items():
        count, ids = 0, []
        for row in rows:
            tags = row.get("tags", ())
            orphans = sum(
                tag[0] == "I" and before[2:] != tag[2:] for before, tag in zip(("O", *tags), tags, strict=False)
            )
            if orphans:
                count += orphans
                ids.append(str(row["id"]))
        if count:
            effect = NER if corpus.task.task_type.borders else PICO
            yield Finding("illegal tags", corpus.task.name, split, count, effect, kind="I without B", ids=tuple(ids))

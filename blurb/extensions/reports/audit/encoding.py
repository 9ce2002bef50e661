"""Inputs that an encoder reads differently: odd characters, forbidden tags, words without sub-tokens, windows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from blurb.data.schema import Example, input_texts
from blurb.extensions.reports.audit.audited import AuditedTask, AuditFinding
from blurb.grouping import by_key
from blurb.inputs import tagging
from blurb.tasks import Split

BLANKS = "may not be read as a blank"
UNSEEN = "no sub-token, or an unknown one"
OTHER = "other sub-tokens than usual"
NOTHING = "none if a tokenizer splits at blanks"
KINDS: dict[str, tuple[re.Pattern[str], str]] = {
    "blank that is no space": (
        re.compile(r"[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
        BLANKS,
    ),
    "several blanks": (re.compile(r"  "), NOTHING),
    "blank at an end": (re.compile(r"\A\s|\s\Z"), NOTHING),
    "control character": (re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"), UNSEEN),
    "invisible character": (
        re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"),
        UNSEEN,
    ),
    "replacement character": (re.compile("\ufffd"), "a character is lost"),
    "private or no character": (re.compile(r"[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff]"), UNSEEN),
    "UTF-8 read as Latin-1": (re.compile("[\u00c2-\u00f4][\u0080-\u00bf]|\u00e2\u20ac"), OTHER),
    "HTML entity": (re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[0-9a-fA-F]{1,6});"), OTHER),
}
"""Kind -> pattern and effect."""
SUSPECTS = re.compile("|".join(pattern.pattern for pattern, _ in KINDS.values()))
DECOMPOSED = "not in composed form"


def characters(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Inputs with each kind of unusual character, and unusual encodings of whole files."""
    for split, rows in corpus.splits.items():
        ids_by_kind = by_key((kind, str(row["id"])) for row in rows for kind in kinds(row))
        for kind, ids in ids_by_kind.items():
            effect = KINDS[kind][1] if kind in KINDS else OTHER
            yield from _report_cases("encoding", corpus, split, kind, effect, ids)
        raw = corpus.files.get(split, b"")
        for kind, count in (
            ("byte order mark", raw.startswith(b"\xef\xbb\xbf")),
            ("CR LF", raw.count(b"\r\n")),
        ):
            if count:
                yield AuditFinding(
                    "encoding",
                    corpus.task.name,
                    split,
                    int(count),
                    "none: left out in reading",
                    kind=f"file with {kind}",
                )


def _report_cases(
    check: str, corpus: AuditedTask, split: Split, kind: str, effect: str, ids: Sequence[str]
) -> Iterator[AuditFinding]:
    """The finding of one kind of cases, if there are any.

    :param ids: of the example of each case
    """
    if ids:
        distinct = tuple(dict.fromkeys(ids))
        yield AuditFinding(check, corpus.task.name, split, len(ids), effect, distinct, kind=kind)


def kinds(row: Example) -> list[str]:
    """The kinds of unusual characters in an example.

    >>> kinds({"text": "TNF\\u00a0alpha  &lt; 3"})
    ['blank that is no space', 'several blanks', 'HTML entity']
    """
    present: dict[str, None] = {}
    for text in input_texts(row):
        if SUSPECTS.search(text):
            present.update(
                dict.fromkeys(kind for kind, (pattern, _) in KINDS.items() if pattern.search(text))
            )
        if not text.isascii() and not unicodedata.is_normalized("NFC", text):
            present[DECOMPOSED] = None
    return list(present)


PICO = "the format: PICO has no B, and is scored by word; strict entity metrics fail here"
NER = "read as the beginning of an entity; strict metrics leave it out"


def illegal(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """`I` without an entity to continue: at the start of a sentence, after O or after another type.

    For NER the reader already rejects such files, so the finding there is `unreadable`.
    """
    for split, rows in corpus.splits.items():
        orphans = [
            str(row["id"])
            for row in rows
            for before, tag in pairwise(("O", *row.get("tags", ())))
            if tag[0] == "I" and before[2:] != tag[2:]
        ]
        effect = NER if corpus.task.task_type.borders else PICO
        yield from _report_cases("illegal tags", corpus, split, "I without B", effect, orphans)


def entities(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Entities with a word that has no sub-token, or that shares a sub-token with a neighbouring word."""
    for split, reading in corpus.readings.items():
        whole = reading.whole
        if whole.word_ids is None or whole.word_starts is None:
            continue
        dropped: list[str] = []
        glued: list[str] = []
        for number, row in enumerate(corpus.splits[split]):
            tags, words, places = (
                row["tags"],
                whole.word_ids[number].tolist(),
                whole.word_starts[number],
            )
            shared = {
                word
                for after in (np.flatnonzero(np.diff(places) == 0) + 1).tolist()
                if tags[words[after]] != tags[words[after - 1]]
                for word in (words[after - 1], words[after])
            }
            for span in tagging.decode_spans(tags):
                inside = {*range(span.start, span.end)}
                dropped += [str(row["id"])] * bool(inside.difference(words))
                glued += [str(row["id"])] * bool(inside & shared)
        for kind, effect, sentences in (
            ("word without sub-token", "predicted O: the entity is missed", dropped),
            ("border within a sub-token", "one feature for two tags", glued),
        ):
            yield from _report_cases("alignment", corpus, split, kind, effect, sentences)


def windows(corpus: AuditedTask) -> Iterator[AuditFinding]:
    """Relation inputs over the limit: what the window around the pair loses, and what truncation would lose."""
    for split, reading in corpus.readings.items():
        if reading.whole.entities is None or not reading.long:
            continue
        before, after = reading.special
        # An entity is missing from the input where its span is the whole input.
        assert reading.cut.entities is not None
        starts, ends = reading.cut.entities[:, :, 0], reading.cut.entities[:, :, 1]  # (long, 2)
        # (long,)
        lost = ((starts == 0) & (ends >= (reading.cut.ids.lengths - after)[:, None])).any(axis=1)
        places = reading.whole.entities[list(reading.long)]  # (long, 2, 2)
        # (long,) start and end of the pair
        first, last = (places.min(axis=(1, 2)), places.max(axis=(1, 2)))
        for kind, effect, which in (
            (
                "longer than the limit",
                "text around the pair is cut",
                np.ones(len(places), dtype=np.bool_),
            ),
            (
                "wider than the limit",
                "text between the entities is cut",
                last - first > reading.room,
            ),
            ("lost by the window", "an entity is not in the input", lost),
            (
                "beyond a cut at the end",
                "none: a window is around the pair",
                last > before + reading.room,
            ),
        ):
            ids = [
                str(corpus.splits[split][reading.long[row]]["id"])
                for row in np.flatnonzero(which).tolist()
            ]
            yield from _report_cases("windows", corpus, split, kind, effect, ids)

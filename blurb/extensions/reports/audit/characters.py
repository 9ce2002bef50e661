"""Encoding: characters that look like others, are invisible, or are left over from a conversion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from blurb.data.schema import Example, texts
from blurb.extensions.reports.audit._base import AuditedTask, AuditFinding

BLANKS = "may not be read as a blank"
UNSEEN = "no sub-token, or an unknown one"
OTHER = "other sub-tokens than usual"
NOTHING = "none if a tokenizer splits at blanks"
KINDS: dict[str, tuple[re.Pattern[str], str]] = {
    "blank that is no space": (re.compile(r"[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"), BLANKS),
    "several blanks": (re.compile(r"  "), NOTHING),
    "blank at an end": (re.compile(r"\A\s|\s\Z"), NOTHING),
    "control character": (re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"), UNSEEN),
    "invisible character": (re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"), UNSEEN),
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
        ids_by_kind: dict[str, list[str]] = {}
        for row in rows:
            for kind in kinds(row):
                ids_by_kind.setdefault(kind, []).append(str(row["id"]))
        for kind, ids in ids_by_kind.items():
            effect = KINDS[kind][1] if kind in KINDS else OTHER
            yield AuditFinding("encoding", corpus.task.name, split, len(ids), effect, kind=kind, ids=tuple(ids))
        raw = corpus.files.get(split, b"")
        for kind, count in (("byte order mark", raw.startswith(b"\xef\xbb\xbf")), ("CR LF", raw.count(b"\r\n"))):
            if count:
                effect = "none: left out in reading"
                yield AuditFinding("encoding", corpus.task.name, split, int(count), effect, kind=f"file with {kind}")


def kinds(row: Example) -> list[str]:
    """The kinds of unusual characters in an example.

    >>> kinds({"text": "TNF\\u00a0alpha  &lt; 3"})
    ['blank that is no space', 'several blanks', 'HTML entity']
    """
    present: dict[str, None] = {}
    for text in texts(row):
        if SUSPECTS.search(text):
            present.update(dict.fromkeys(kind for kind, (pattern, _) in KINDS.items() if pattern.search(text)))
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
            yield AuditFinding(
                "illegal tags", corpus.task.name, split, count, effect, kind="I without B", ids=tuple(ids)
            )

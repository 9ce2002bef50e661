"""The demo's relations before masking: the same rows, with names in the place of the dummies.

What a row shows stays as it is; only a name that every row of the sentence masks is drawn here, from a stream of its
own. So the two rows of a sentence with a rival are one text, and without marks nothing tells which pair is meant: on
this suite too the relation input `original` is a negative control.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from blurb.corpora.demo.lexicon import fill
from blurb.data.schema import Example

# What to draw, and the types. Of two entities that overlap the first is the whole name, the second its last part: in
# the ids of BLURB's layout the chemical of such a pair comes first, so it starts first.
BEHIND = {
    "@CHEMICAL$": ("<CHEM>", ("CHEMICAL",)),
    "@GENE$": ("<GENE>", ("GENE",)),
    "@DRUG$": ("<CHEM>", ("DRUG",)),
    "@DISEASE$": ("<DIS>", ("DISEASE",)),
    "@CHEM-GENE$": ("<CHEM>-<GENE>", ("CHEMICAL", "GENE")),
    "@DRUG-DRUG$": ("<CHEM>-<CHEM>", ("DRUG", "DRUG")),
}


def names(rows: Sequence[Sequence[str]], terminals: Mapping[str, Callable[[], str]]) -> list[str]:
    """The name in each slot of a sentence.

    :param rows: what each row of the sentence has in the slots: a dummy or a name
    :param terminals: draw the names that no row shows
    """
    found = [next((text for text in slot if text not in BEHIND), "") for slot in zip(*rows, strict=True)]
    for place, dummy in enumerate(rows[0]):
        if not found[place]:
            name = fill(BEHIND[dummy][0], terminals)
            while name in found:  # nothing interacts with itself
                name = fill(BEHIND[dummy][0], terminals)
            found[place] = name
    return found


def unmask(row: Example, surfaces: Sequence[str]) -> Example:
    """The row with names in the place of its dummies.

    :param row: text with dummies, and any other columns
    :param surfaces: the name behind each dummy, in the order of the text

    >>> row = unmask({"text": "@CHEM-GENE$ fired."}, ["axol-K1"])
    >>> row["text"], row["head"], row["tail"]
    ('Axol-K1 fired.', {'start': 0, 'end': 7, 'type': 'CHEMICAL'}, {'start': 5, 'end': 7, 'type': 'GENE'})
    """
    first, *rest = re.split(f"({'|'.join(map(re.escape, BEHIND))})", row["text"])
    text, spans, types = first, list[tuple[int, int]](), list[str]()
    for dummy, after, name in zip(rest[::2], rest[1::2], surfaces, strict=True):
        start = len(text)
        text += name if text else name[:1].upper() + name[1:]  # as at the start of every sentence of the suite
        spans.append((start, len(text)))
        types += BEHIND[dummy][1]
        text += after
    if len(spans) < len(types):
        start, end = spans[0]
        spans.append((start + surfaces[0].index("-") + 1, end))
    head, tail = ({"start": start, "end": end, "type": kind} for (start, end), kind in zip(spans, types, strict=True))
    return {**row, "text": text, "head": head, "tail": tail}

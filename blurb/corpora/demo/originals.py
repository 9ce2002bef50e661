"""The demo's relations before masking: the same rows, with names in place of the dummies.

Names that a row of the sentence shows are kept; only names that all rows mask are drawn here, from a random stream of
their own. The two rows of a sentence with a rival therefore have the same text, and without markers the pair is
ambiguous: as on the real corpora, the relation input `original` is a negative control.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from blurb.corpora.demo.lexicon import fill
from blurb.data.schema import Example

# Dummy -> names to draw, and entity types. Of two overlapping entities the first is the whole name and the second its
# last part: in the ids of BLURB's layout the chemical of such a pair comes first, so it must start first.
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

    :param rows: for each row of the sentence the dummy or name in every slot
    :param terminals: functions that draw names which no row shows
    """
    drawn = [next((text for text in slot if text not in BEHIND), "") for slot in zip(*rows, strict=True)]
    for place, dummy in enumerate(rows[0]):
        if not drawn[place]:
            name = fill(BEHIND[dummy][0], terminals)
            while name in drawn:  # an entity does not interact with itself
                name = fill(BEHIND[dummy][0], terminals)
            drawn[place] = name
    return drawn


def unmask(row: Example, surfaces: Sequence[str]) -> Example:
    """The row with names in place of its dummies.

    :param row: text with dummies, and any other columns
    :param surfaces: the name behind each dummy, in text order

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

"""ChemProt, DDI and GAD: what does a sentence say about its two masked entities?

Learnable: each label has its own cue phrases ("blunted", "is converted by"). Non-trivial: some cues fit two labels and
a second word decides; the cue may belong to another entity than the masked one, and the sentence then has one row for
each; overlapping pairs are always negative; four per cent of the labels are wrong.

ChemProt and DDI are also written before masking, as in the real releases: the same rows, with names in place of the
dummies. Names that a row of the sentence shows are kept; only names that all rows mask are drawn, from a random stream
of their own. The two rows of a sentence with a rival therefore have the same text, and without markers the pair is
ambiguous: as on the real corpora, the relation input `original` is a negative control.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from blurb.corpora.demo.lexicon import (
    WORDS,
    Lexicon,
    expand_rules,
    fill_terminals,
    flip_label,
    join_tokens,
    random_stream,
)
from blurb.data.schema import Example
from blurb.tasks import SPLITS

NOISE = 0.04  # share of rows with a wrong label
RIVAL = 0.18  # share of sentences that name a second, unrelated entity and make two rows
OVERLAP = 25  # each 25th sentence has two entities that share their words (a count: no split may lack them)

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


@dataclass(frozen=True)
class DemoCorpus:
    """A dataset: masks of its two entities, terminals of their names, cues by label, sizes of the splits."""

    name: str
    masks: Sequence[str]
    names: Sequence[str]
    cues: Mapping[str, Sequence[str]]
    negative: str
    none: Sequence[str]
    negatives: float
    sizes: Sequence[int]
    overlap: str = ""


CORPORA = [DemoCorpus(**corpus) for corpus in WORDS["relation"]["corpora"]]


class SentenceFrame(NamedTuple):
    """A frame with slots ({0}, {1}, ...) and its rows: fillers of the slots (masks, terminals of names) and label."""

    frame: str
    rows: list[tuple[tuple[str, ...], str]]

    def text(self, fillers: Sequence[str]) -> str:
        """The text with these words in the slots."""
        return join_tokens(" ".join(self.frame.format(*fillers).split()))

    def order(self) -> list[int]:
        """The slots in text order."""
        return [int(slot) for slot in re.findall(r"{(\d)}", self.frame)]


def sentence(rng: random.Random, corpus: DemoCorpus, overlap: bool) -> SentenceFrame:
    """A sentence with one row, or with one for each of two candidates."""
    labels = [*corpus.cues, corpus.negative]
    label = corpus.negative if rng.random() < corpus.negatives else rng.choice(list(corpus.cues))
    cue, none = rng.choice(corpus.cues.get(label, corpus.none)), rng.choice(corpus.none)
    rival = rng.random() < RIVAL and not overlap
    frame = expand_rules(
        rng, "<rival>" if rival else "<frame>", WORDS["relation"]["grammar"]
    ).format("{0}", "{1}", "{2}", cue=cue, none=none)
    (head, tail), (name, other) = corpus.masks, corpus.names
    pairs: list[tuple[tuple[str, ...], str]] = [((head, tail), label)]
    if rival:
        pairs = [((head, tail, name), label), ((name, tail, head), corpus.negative)]
    elif overlap and corpus.overlap:
        pairs = [((corpus.overlap, other), corpus.negative)]
    return SentenceFrame(
        frame, [(slots, flip_label(rng, label, labels, NOISE)) for slots, label in pairs]
    )


def identify(corpus: DemoCorpus, document: int, place: int, text: str) -> str:
    """The id of a row in the dataset's own format; ChemProt's names the earlier entity first. GAD has no such ids."""
    if corpus.name == "chemprot":
        chemical_first = text.find("@CHEM") < text.find("@GENE$") or "@GENE$" not in text
        return f"{document}.{f'T{1 + place}.T9' if chemical_first else f'T9.T{1 + place}'}"
    return f"DDI-Demo.d{document % 100000}.s0.p{place}"


def examples(
    seed: int, words: Lexicon, corpus: DemoCorpus, part: int, seen: set[str]
) -> list[tuple[Example, Example]]:
    """The rows of a split, masked and unmasked; `seen` are the masked texts so far, which are not repeated."""
    split, size = SPLITS[part], corpus.sizes[part]
    rng, own = (
        random_stream(seed, corpus.name, split),
        random_stream(seed, corpus.name, split, "originals"),
    )
    terminals, hidden = words.terminals(rng, split), words.terminals(own, split)
    pairs, document = list[tuple[Example, Example]](), 90010000 + 10000 * part
    while len(pairs) < size:
        document += 1
        generated = sentence(rng, corpus, overlap=document % OVERLAP == 0)
        filled = [
            [fill_terminals(slot, terminals) for slot in slots] for slots, _ in generated.rows
        ]
        surface = drawn_names(filled, hidden)
        for place, (slots, (_, label)) in enumerate(zip(filled, generated.rows, strict=True)):
            text = generated.text(slots)
            if text not in seen:
                seen.add(text)
                pair = (
                    str(len(pairs))
                    if corpus.name == "GAD"
                    else identify(corpus, document, place, text)
                )
                row = {"id": pair, "doc_id": pair.rsplit(".", 2)[0], "text": text, "label": label}
                surfaces = [surface[slot] for slot in generated.order() if slots[slot] in BEHIND]
                pairs.append((row, unmask(row, surfaces)))
    return pairs[:size]


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type: BLURB's layout, and the originals of ChemProt and DDI."""
    for corpus in CORPORA:
        seen: set[str] = set()
        for part, split in enumerate(SPLITS):
            rows = examples(seed, words, corpus, part, seen)
            header = ["index\tsentence\tlabel"] if corpus.name == "GAD" else []
            lines = [f"{row['id']}\t{row['text']}\t{row['label']}" for row, _ in rows]
            yield f"{corpus.name}/{split}.tsv", "\n".join([*header, *lines]) + "\n"
            if corpus.name != "GAD":  # the real GAD was released masked
                lines = [json.dumps(original) for _, original in rows]
                yield f"originals/{corpus.name.lower()}/{split}.jsonl", "\n".join(lines) + "\n"


def drawn_names(
    rows: Sequence[Sequence[str]], terminals: Mapping[str, Callable[[], str]]
) -> list[str]:
    """The name in each slot of a sentence.

    :param rows: for each row of the sentence the dummy or name in every slot
    :param terminals: functions that draw names which no row shows
    """
    drawn = [
        next((text for text in slot if text not in BEHIND), "") for slot in zip(*rows, strict=True)
    ]
    for place, dummy in enumerate(rows[0]):
        if not drawn[place]:
            name = fill_terminals(BEHIND[dummy][0], terminals)
            while name in drawn:  # an entity does not interact with itself
                name = fill_terminals(BEHIND[dummy][0], terminals)
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
        text += (
            name if text else name[:1].upper() + name[1:]
        )  # as at the start of every sentence of the suite
        spans.append((start, len(text)))
        types += BEHIND[dummy][1]
        text += after
    if len(spans) < len(types):
        start, end = spans[0]
        spans.append((start + surfaces[0].index("-") + 1, end))
    head, tail = (
        {"start": start, "end": end, "type": kind}
        for (start, end), kind in zip(spans, types, strict=True)
    )
    return {**row, "text": text, "head": head, "tail": tail}

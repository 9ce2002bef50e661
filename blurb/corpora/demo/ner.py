"""The five NER datasets: BC5CDR-chem, BC5CDR-disease, NCBI-disease, BC2GM, JNLPBA.

Learnable: suffixes show the kind of a name, and so do the words around it ("dose of", "history of"). Non-trivial: a
quarter of the names in dev and test is new; in one sentence of five any kind of name may occur anywhere, so that only
its form helps; decoys look like names but are not; some modifiers belong to the mention ("chronic") and others do not
("severe"); four per cent of the mentions have no tags, as if an annotator had missed them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from blurb.corpora.demo import lexicon
from blurb.corpora.demo.lexicon import Lexicon, expand_rules, random_stream

MISSED = 0.04  # share of mentions whose tags are dropped
BARE = 0.2  # share of sentences whose words do not show the kinds of their names

WORDS = lexicon.WORDS["ner"]
SIZES = {"train": 700, "dev": 100, "test": 200}  # sentences


def mention(rng: random.Random, kind: str, words: Lexicon, split: str) -> list[str]:
    """The tokens of one mention of `kind`, some with a word before or after that belongs to it."""
    if kind == "CELL":
        return [*rng.choice(([], ["T"])), words.cells.pick(rng, split), "cells"]
    if kind in WORDS["forms"]:
        name = words.terminals(rng, split)[kind]()
        return str(rng.choice(WORDS["forms"][kind])).format(name).split()
    return [
        words.decoys.pick(rng, split).capitalize(),
        rng.choice(("score", "assay", "scale", "registry")),
    ]


def sentence(
    rng: random.Random, frames: Sequence[str], words: Lexicon, split: str
) -> list[tuple[str, str]]:
    """One sentence as (token, tag) pairs, tags ``B-CHEM``, ``I-CHEM``, ... and ``O``."""
    text = expand_rules(
        rng, rng.choice(frames if rng.random() >= BARE else WORDS["anywhere"]), WORDS["grammar"]
    )
    rows: list[tuple[str, str]] = []
    for token in text.split():
        terminal = re.fullmatch(r"<([A-Z]+)>", token)
        if not terminal:
            rows.append((token, "O"))
            continue
        missed = rng.random() < MISSED
        for place, part in enumerate(mention(rng, terminal[1], words, split)):
            rows.append((part, "O" if missed else f"{'I' if place else 'B'}-{terminal[1]}"))
    return [(rows[0][0][:1].upper() + rows[0][0][1:], rows[0][1]), *rows[1:]]


def _write_tsv(
    sentences: Sequence[Sequence[tuple[str, str]]], kinds: Sequence[str], first_document: int | None
) -> str:
    """BLURB's layout: the tag's type is dropped, one blank line after a sentence, DOCSTART every five sentences."""
    lines: list[str] = []
    for place, rows in enumerate(sentences):
        if first_document is not None and place % 5 == 0:
            lines += [f"-DOCSTART- {first_document + place // 5}", ""]
        lines += [f"{token}\t{tag[0] if tag[2:] in kinds else 'O'}" for token, tag in rows] + [""]
    return "\n".join(lines) + "\n"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for corpus in WORDS["corpora"]:
        seen: set[str] = set()
        for part, (split, size) in enumerate(SIZES.items()):
            rng = random_stream(seed, corpus["name"], split)
            sentences: list[list[tuple[str, str]]] = []
            while len(sentences) < size:
                rows = sentence(rng, corpus["frames"], words, split)
                text = " ".join(token for token, _ in rows)
                if text not in seen:
                    seen.add(text)
                    sentences.append(rows)
            first_document = 95000001 + 1000 * part if corpus.get("documents") else None
            for dataset, kinds in corpus["tagged"].items():
                yield f"{dataset}/{split}.tsv", _write_tsv(sentences, kinds, first_document)

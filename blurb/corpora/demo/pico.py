"""EBM PICO: abstracts of invented trials; words are participants, interventions, outcomes or none of them.

Learnable: each element has its own frames ("enrolled ...", "were given ...", "the main endpoint was ...") and words.
Non-trivial: a disease belongs to participants in one frame, to outcomes in another and to nothing in the background;
spans vary in length as with human annotators, with or without their last word; five per cent of the spans have no
labels.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from blurb.corpora.demo.lexicon import WORDS, Lexicon, expand_rules, fill_terminals, random_stream

MISSED = 0.05  # share of spans whose labels are dropped
CUT = 0.25  # share of spans that end one word early
SIZES = {"train": 160, "dev": 30, "test": 50}  # documents
FIRST_PMID = {"train": 91000001, "dev": 92000001, "test": 93000001}

SECTIONS = ("title", "background", "recruit", "treat", "endpoint", "result", "close")


def label(rng: random.Random, text: str) -> list[tuple[str, str]]:
    """``we gave [INT x y ] .`` -> (token, label) pairs, with the noise of `MISSED` and `CUT`."""
    rows: list[tuple[str, str]] = []
    for element, span, token in re.findall(r"\[([A-Z]+) ([^]]*) \]|(\S+)", text):
        words = span.split() if element else [token]
        tag = f"I-{element}" if element and rng.random() >= MISSED else "O"
        kept = len(words) - (len(words) > 2 and rng.random() < CUT)
        rows += [(word, tag if place < kept else "O") for place, word in enumerate(words)]
    return rows


def write_abstract(rng: random.Random, pmid: int, words: Lexicon, split: str) -> str:
    """One abstract in BLURB's layout: a blank line after each token ``.`` and none anywhere else.

    Some abstracts lose their last full stop, as in the real corpus: the next DOCSTART then follows without a blank
    line, and a reader must take it for a sentence break.
    """
    sections = [
        name
        for name in SECTIONS
        if name in ("recruit", "treat", "endpoint", "result") or rng.random() < 0.4
    ]
    text = " ".join(
        fill_terminals(expand_rules(rng, f"<{name}>", WORDS["pico"]), words.terminals(rng, split))
        for name in sections
    )
    if rng.random() < 0.05:
        text = text.removesuffix(" .")
    lines = [f"{token}\t{tag}" + ("\n" if token == "." else "") for token, tag in label(rng, text)]
    return "\n".join([f"-DOCSTART- ({pmid})\n", *lines]) + "\n"


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    for split, size in SIZES.items():
        rng = random_stream(seed, "ebmnlp", split)
        documents = [
            write_abstract(rng, FIRST_PMID[split] + number, words, split) for number in range(size)
        ]
        yield f"ebmnlp/{split}.tsv", "".join(documents)

"""HoC: which of ten hallmarks does each sentence of an abstract mention? Any number, usually none or one.

Learnable: each hallmark has its own words. Non-trivial: some words belong to two hallmarks, a sentence may mention two
hallmarks, a negated sentence mentions none, and four per cent of the labels are missing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from blurb.corpora.demo import lexicon
from blurb.corpora.demo.lexicon import (
    Lexicon,
    expand_rules,
    fill_terminals,
    join_tokens,
    random_stream,
)

MISSED = 0.04  # share of labels that the annotator overlooked
SIZES = {"train": 220, "dev": 36, "test": 60}  # abstracts
FIRST_PMID = {"train": 94000001, "dev": 94100001, "test": 94200001}

WORDS = lexicon.WORDS["document"]


def sentence(rng: random.Random) -> tuple[str, set[int]]:
    """A template sentence and its hallmarks."""
    kind = rng.choices(("one", "two", "not", "none"), (50, 20, 6, 24))[0]
    topics = rng.sample(range(len(WORDS["hallmarks"])), 2 if kind == "two" else 1)
    cues = [rng.choice(WORDS["hallmarks"][topic]) for topic in topics]
    # A cue shared by two hallmarks means the one drawn, as an annotator would know from context.
    labels = set(topics) if kind in ("one", "two") else set[int]()
    return expand_rules(rng, f"<{kind}>", WORDS["grammar"]).format(*cues), {
        topic for topic in labels if rng.random() >= MISSED
    }


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    elsewhere: set[str] = set()  # sentences of earlier splits, not repeated in later ones
    for split, size in SIZES.items():
        rng = random_stream(seed, "HoC", split)
        terminals = words.terminals(rng, split)
        lines, here = ["labels\tsentence\tindex"], set[str]()
        for number in range(size):
            for place in range(rng.randint(3, 5)):
                while True:
                    template, hallmarks = sentence(rng)
                    text = join_tokens(fill_terminals(template, terminals))
                    if text and text not in elsewhere:
                        break
                here.add(text)
                labels = ",".join(
                    f"{topic}_{int(topic in hallmarks)}" for topic in range(len(WORDS["hallmarks"]))
                )
                lines.append(f"{labels}\t{text}\t{FIRST_PMID[split] + number}_s{place}")
        elsewhere |= here
        yield f"HoC/{split}.tsv", "\n".join(lines) + "\n"

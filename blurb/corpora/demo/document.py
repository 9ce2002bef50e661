"""HoC: which of ten hallmarks does each sentence of an abstract mention? Any number, usually none or one.

Learnable: each hallmark has its own words. Non-trivial: some words belong to two hallmarks, a sentence may mention two
hallmarks, a negated sentence mentions none, and four per cent of the labels are missing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from blurb.corpora.demo.lexicon import Grammar, Lexicon, expand, fill, plain, stream

MISSED = 0.04  # share of labels that the annotator overlooked
SIZES = {"train": 220, "dev": 36, "test": 60}  # abstracts
FIRST_PMID = {"train": 94000001, "dev": 94100001, "test": 94200001}

# In the order of the label string, alphabetical as in BLURB; the hallmark's own name is in no sentence.
HALLMARKS: tuple[tuple[str, ...], ...] = (
    ("migration", "spread to distant nodes", "loss of adhesion", "crossing of the basement layer", "motility"),
    ("escape from killer cells", "checkpoint display", "hidden antigens", "silent T cells", "tolerance"),
    ("lactate output", "glucose uptake", "aerobic sugar burning", "fuel switching", "a starved mitochondrion"),
    ("telomere upkeep", "endless division", "telomerase activity", "bypass of senescence", "serial passage"),
    (
        "lost contact inhibition",
        "deaf brakes on the cycle",
        "a silenced checkpoint gene",
        "cycle entry without a stop",
        "bypass of senescence",
    ),
    ("strand breaks", "faulty repair", "broken chromosomes", "mutation load", "mismatch errors"),
    ("vessel sprouting", "new capillaries", "tube formation", "blood supply", "hypoxia signals"),
    ("blocked apoptosis", "survival under stress", "caspase silence", "death receptor loss", "stressed mitochondria"),
    ("growth factor release", "autocrine loops", "rapid doubling", "mitogen signals", "endless division"),
    ("cytokine storms", "macrophage influx", "inflamed stroma", "chronic irritation", "hypoxia signals"),
)
GRAMMAR: Grammar = {
    "one": (
        "<open> , {0} <moved> in <GENE> null cells .",
        "<CHEM> caused {0} <site> .",
        "{0} <moved> after <CHEM> .",
        "<GENE> is needed for {0} <when> .",
        "tumours of the <organ> showed {0} .",
    ),
    "two": ("{0} and {1} <moved> with <CHEM> .", "<GENE> ties {0} to {1} <when> .", "<open> , {0} came with {1} ."),
    "not": ("<CHEM> had nothing to do with {0} .", "we did not study {0} <site> .", "{0} lay beyond our scope ."),
    "none": (
        "we treated <count> <host> with <CHEM> .",
        "samples of the <organ> were frozen <when> .",
        "the role of <GENE> in <DIS> is not known .",
        "<open> , <GENE> was cloned <site> .",
        "all <host> gave samples of the <organ> .",
        "further work on <CHEM> is planned .",
    ),
    "moved": ("rose", "appeared", "returned", "vanished", "prevailed", "fell"),
}


def sentence(rng: random.Random) -> tuple[str, set[int]]:
    """A template sentence and its hallmarks."""
    kind = rng.choices(("one", "two", "not", "none"), (50, 20, 6, 24))[0]
    topics = rng.sample(range(len(HALLMARKS)), 2 if kind == "two" else 1)
    cues = [rng.choice(HALLMARKS[topic]) for topic in topics]
    # A cue shared by two hallmarks means the one drawn, as an annotator would know from context.
    labels = set(topics) if kind in ("one", "two") else set[int]()
    return expand(rng, f"<{kind}>", GRAMMAR).format(*cues), {topic for topic in labels if rng.random() >= MISSED}


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type."""
    elsewhere: set[str] = set()  # sentences of earlier splits, not repeated in later ones
    for split, size in SIZES.items():
        rng = stream(seed, "HoC", split)
        terminals = words.terminals(rng, split)
        lines, here = ["labels\tsentence\tindex"], set[str]()
        for number in range(size):
            for place in range(rng.randint(3, 5)):
                text = ""
                while not text or text in elsewhere:
                    template, hallmarks = sentence(rng)
                    text = plain(fill(template, terminals))
                here.add(text)
                labels = ",".join(f"{topic}_{int(topic in hallmarks)}" for topic in range(len(HALLMARKS)))
                lines.append(f"{labels}\t{text}\t{FIRST_PMID[split] + number}_s{place}")
        elsewhere |= here
        yield f"HoC/{split}.tsv", "\n".join(lines) + "\n"

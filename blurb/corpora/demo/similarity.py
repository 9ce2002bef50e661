"""BIOSSES: how alike are two sentences, on a scale from 0 to 4?

Learnable: the second sentence states its relation to the first ("in the same way", "a separate matter"), and similar
pairs share a topic of a few words. Non-trivial: that opening determines the score only roughly, topics have to be
compared, too, and the score is the mean of five simulated annotators who disagree.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from blurb.corpora.demo.lexicon import Grammar, Lexicon, expand, fill, plain, stream

SIZES = {"train": 700, "dev": 100, "test": 200}
TOPICS = (
    ("vessels", "pressure", "the pulse", "capillaries"),
    ("memory", "neurons", "attention", "reflexes"),
    ("bacteria", "the microbiome", "an infection", "antibodies"),
)
# From "says the same" to "is about something else", with the score that the opening alone suggests.
RELATIONS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (
        3.2,
        (
            "in the same way ,",
            "this agrees with the view that",
            "it was confirmed that",
            "once more ,",
            "again ,",
            "no less so ,",
            "others repeated this :",
            "identical to that ,",
        ),
    ),
    (
        2.3,
        (
            "it was also seen that",
            "along these lines ,",
            "in part ,",
            "a related report found that",
            "likewise ,",
            "to some extent ,",
            "much as there ,",
            "a sister trial noted that",
        ),
    ),
    (
        1.4,
        (
            "in contrast ,",
            "by comparison ,",
            "with a weaker model ,",
            "it is disputed whether",
            "yet ,",
            "critics hold that",
            "rather ,",
            "under other rules ,",
        ),
    ),
    (
        0.6,
        (
            "as a separate matter ,",
            "elsewhere ,",
            "on another subject ,",
            "a later chapter says that",
            "besides ,",
            "turning away from this ,",
            "apropos of nothing ,",
            "years earlier ,",
        ),
    ),
)
GRAMMAR: Grammar = {
    "claim": (
        "<CHEM> <act> {0} and {1} in <host>",
        "{0} and {1} <acted> by <GENE> <when>",
        "<GENE> <act> {0} , then {1}",
        "<degree> , <CHEM> <act> {0} through {1}",
    ),
    "act": ("raised", "lowered", "shaped", "changed"),
    "acted": ("were raised", "were lowered", "were shaped", "were changed"),
}


def pair(rng: random.Random) -> tuple[str, str, float]:
    """Two template sentences and their score, a multiple of 0.2 from 0 to 4."""
    base, openings = rng.choice(RELATIONS)
    first, second = rng.randrange(len(TOPICS)), rng.randrange(len(TOPICS))
    if rng.random() < 0.3:  # so that about half of the pairs share their topic
        second = first
    texts = [expand(rng, "<claim>", GRAMMAR).format(*rng.sample(TOPICS[topic], 2)) for topic in (first, second)]
    meant = base + (0.5 if first == second else -0.5)
    votes = [min(4, max(0, round(meant + rng.uniform(-1.0, 1.0)))) for _ in range(5)]
    return f"{texts[0]} .", f"{rng.choice(openings)} {texts[1]} .", sum(votes) / 5


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type; pair ids run on through the splits."""
    number = 0
    for split, size in SIZES.items():
        rng = stream(seed, "BIOSSES", split)
        terminals = words.terminals(rng, split)
        lines = ["pair_id\tsent1\tsent2\tscore"]
        for _ in range(size):
            number += 1
            first, second, score = pair(rng)
            lines.append(f"{number}\t{plain(fill(first, terminals))}\t{plain(fill(second, terminals))}\t{score:.1f}")
        yield f"BIOSSES/{split}.tsv", "\n".join(lines) + "\n"

"""BIOSSES: how alike are two sentences, on a scale from 0 to 4?

Learnable: the second sentence states its relation to the first ("in the same way", "a separate matter"), and similar
pairs share a topic of a few words. Non-trivial: that opening determines the score only roughly, topics have to be
compared, too, and the score is the mean of five simulated annotators who disagree.
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

SIZES = {"train": 700, "dev": 100, "test": 200}
WORDS = lexicon.WORDS["similarity"]


def pair(rng: random.Random) -> tuple[str, str, float]:
    """Two template sentences and their score, a multiple of 0.2 from 0 to 4."""
    relation, topics = rng.choice(WORDS["relations"]), WORDS["topics"]
    first, second = rng.randrange(len(topics)), rng.randrange(len(topics))
    if rng.random() < 0.3:  # so that about half of the pairs share their topic
        second = first
    texts = [
        expand_rules(rng, "<claim>", WORDS["grammar"]).format(*rng.sample(topics[topic], 2))
        for topic in (first, second)
    ]
    meant = relation["score"] + (0.5 if first == second else -0.5)
    votes = [min(4, max(0, round(meant + rng.uniform(-1.0, 1.0)))) for _ in range(5)]
    return f"{texts[0]} .", f"{rng.choice(relation['openings'])} {texts[1]} .", sum(votes) / 5


def files(seed: int, words: Lexicon) -> Iterator[tuple[str, str]]:
    """(relative path, content) of every file of this type; pair ids run on through the splits."""
    number = 0
    for split, size in SIZES.items():
        rng = random_stream(seed, "BIOSSES", split)
        terminals = words.terminals(rng, split)
        lines = ["pair_id\tsent1\tsent2\tscore"]
        for _ in range(size):
            number += 1
            first, second, score = pair(rng)
            texts = (join_tokens(fill_terminals(text, terminals)) for text in (first, second))
            lines.append("\t".join((str(number), *texts, f"{score:.1f}")))
        yield f"BIOSSES/{split}.tsv", "\n".join(lines) + "\n"

"""The words of the demo suite: invented names, and the grammar of `words.toml` that joins them with plain English.

Learnable: a name is a stem of random syllables and a suffix that shows its kind (``-axol`` a chemical, ``-itis`` a
disease), so a model can classify unseen names. Non-trivial: stems are shared by all kinds, decoys (scales, assays) have
stems and suffixes of real kinds, and some names occur only outside the train split.

All random choices come from `random.Random` seeded with a string, which Python hashes by SHA-512: the same bytes on
every platform, whatever PYTHONHASHSEED is. Each file has its own stream, so a change of one does not affect others.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

Grammar = Mapping[str, Sequence[str]]

WORDS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
"""The suffixes of the names, and the grammar of each module."""


def random_stream(seed: int, *names: str) -> random.Random:
    """The random stream of one file or pool, seeded with its path."""
    return random.Random("/".join((str(seed), *names)))


def expand_rules(rng: random.Random, text: str, grammar: Grammar) -> str:
    """Replaces each ``<rule>`` by a random right-hand side until none is left.

    Names in capitals (``<CHEM>``) are terminals for the caller to fill, because only the task knows their labels.
    """
    rules = WORDS["common"] | grammar
    while rule := re.search(r"<([a-z_]+)>", text):
        text = text[: rule.start()] + rng.choice(rules[rule[1]]) + text[rule.end() :]
    return text


def fill_terminals(text: str, terminals: Mapping[str, Callable[[], str]]) -> str:
    """Replaces each terminal by the result of its function, which is called for each occurrence."""
    return re.sub(r"<([A-Z]+)>", lambda match: terminals[match[1]](), text)


def join_tokens(text: str) -> str:
    """Converts tokens joined by blanks to text: first letter in upper case, no blank before punctuation."""
    text = re.sub(r" ([.,;?])", r"\1", text)
    return text[:1].upper() + text[1:]


def flip_label(rng: random.Random, label: str, others: Sequence[str], rate: float) -> str:
    """Label noise: returns another label with probability `rate`, so that no model reaches 100."""
    return (
        rng.choice([other for other in others if other != label]) if rng.random() < rate else label
    )


@dataclass(frozen=True)
class Pool:
    """Names of one kind: `seen` ones occur in every split, `unseen` ones only in dev and test."""

    seen: tuple[str, ...]
    unseen: tuple[str, ...]

    def pick(self, rng: random.Random, split: str) -> str:
        """Draws a name. A quarter of those in dev and test is not in train; only their form shows their kind."""
        return rng.choice(self.unseen if split != "train" and rng.random() < 1 / 4 else self.seen)


@dataclass(frozen=True)
class Lexicon:
    """The pools of one seed, shared by the thirteen datasets, as real corpora share a domain."""

    chemicals: Pool
    diseases: Pool
    genes: Pool
    cells: Pool
    decoys: Pool

    def terminals(self, rng: random.Random, split: str) -> dict[str, Callable[[], str]]:
        """Functions for `fill` that draw each kind of name."""
        pools = {
            "CHEM": self.chemicals,
            "DIS": self.diseases,
            "GENE": self.genes,
            "CELL": self.cells,
        }
        return {kind: partial(pool.pick, rng, split) for kind, pool in pools.items()}


def _make_pool(
    rng: random.Random,
    suffixes: Sequence[str],
    onsets: str,
    taken: set[str],
    seen: int,
    unseen: int,
) -> Pool:
    names, onset, rhyme = list[str](), WORDS["names"]["onsets"], WORDS["names"]["rhymes"]
    while len(names) < seen + unseen:
        first = rng.choice(
            onsets.split() if rng.random() < 0.75 else onset
        )  # a weak cue to the kind, like "anti-" and "hyper-"
        stem = first + rng.choice(rhyme) + rng.choice(("", rng.choice(onset) + rng.choice(rhyme)))
        name = stem.rstrip("aeiou") + rng.choice(suffixes)
        if len(name) > 3 and name not in taken:
            taken.add(name)
            names.append(name)
    return Pool(tuple(names[:seen]), tuple(names[seen:]))


def build(seed: int) -> Lexicon:
    """Invents all names of a seed."""
    rng, taken, names = random_stream(seed, "lexicon"), set[str](), WORDS["names"]
    decoys = [*names["chemicals"][:2], *names["diseases"][:2], *names["genes"][:2], "ford", "berg"]
    genes = _make_pool(rng, names["genes"], "b k r st", taken, 300, 100)
    return Lexicon(
        chemicals=_make_pool(rng, names["chemicals"], "br f m z", taken, 300, 100),
        diseases=_make_pool(rng, names["diseases"], "d gl p t", taken, 300, 100),
        genes=Pool(*(tuple(name.upper() for name in part) for part in (genes.seen, genes.unseen))),
        cells=_make_pool(rng, names["cells"], "l tr v", taken, 120, 60),
        decoys=_make_pool(rng, decoys, "dr g n pl s", taken, 120, 60),
    )

"""Which sub-tokens an encoder has to predict, and what it sees in their places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from blurb.extensions.lab.pretraining.packing import Bools, Ints
from blurb.extensions.lab.pretraining.recipe import FIRST, VERSION

IGNORED = -100
"""Label of a sub-token that is not predicted (torch's cross entropy)."""
MASKED, RANDOM = 0.8, 0.1
"""Of the chosen sub-tokens; the rest is shown as it is (Devlin et al. 2019, section 3.1)."""


def choose(
    starts: Bools, free: Bools, rate: float, whole_word: bool, generator: np.random.Generator, version: int = VERSION
) -> npt.NDArray[np.bool_]:
    """The sub-tokens to predict: on average `rate` of those that are free, at least one.

    :param starts: whether a sub-token begins a word, of shape (length,)
    :param free: whether it may be chosen, likewise; special tokens may not
    :param whole_word: words are drawn, and all of their sub-tokens chosen, until there are enough; the last of them
        with the probability that makes the average right
    :param version: of the recipe
    """
    chosen = np.zeros(len(starts), dtype=np.bool_)
    mean = rate * int(free.sum())
    if not whole_word:
        count = round(mean) if version == FIRST else int(mean) + int(generator.random() < mean % 1)
        places = np.flatnonzero(free)
        chosen[generator.choice(places, min(max(1, count), len(places)), replace=False)] = True
        return chosen
    words = np.cumsum(starts)
    numbers, lengths = np.unique(words[free], return_counts=True)
    order = generator.permutation(len(numbers))
    before = np.cumsum(lengths[order]) - lengths[order]
    taken = order[before < max(1, round(mean) if version == FIRST else mean)]
    if version != FIRST and len(taken) > 1:
        last = len(taken) - 1
        taken = taken[: last + int(generator.random() < (mean - before[last]) / lengths[taken[last]])]
    return np.isin(words, numbers[taken]) & free


def mask(ids: Ints, chosen: Bools, mask_id: int, ordinary: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """What the encoder sees, and the labels.

    :param ordinary: ids that may stand in for a chosen sub-token: no special tokens
    """
    labels = np.where(chosen, ids, IGNORED)
    draw = generator.random(len(ids))
    seen = np.where(chosen & (draw < MASKED), mask_id, ids)
    swapped = chosen & (draw >= MASKED) & (draw < MASKED + RANDOM)
    seen[swapped] = generator.choice(ordinary, int(swapped.sum()))
    return seen, labels

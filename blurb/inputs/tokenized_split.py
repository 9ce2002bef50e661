"""Tokenized inputs of a split: their lengths, the effect of the maximum length, and their cache."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blurb.inputs.features import Features, Ints
from blurb.system.cache import cache_home
from blurb.system.files import replacing_file, text_hash


@dataclass(frozen=True)
class TokenizedSplit:
    """The inputs of a split as in training, before and after truncation.

    :param whole: features of all inputs without truncation, one row per input
    :param limit: maximum sub-tokens of an input, including special tokens
    :param long: indices of the inputs that exceed it
    :param cut: features of these inputs as the encoder gets them
    :param special: numbers of special tokens before and after a single text
    """

    whole: Features
    limit: int
    long: Sequence[int]
    cut: Features
    special: tuple[int, int]

    @property
    def room(self) -> int:
        """Maximum sub-tokens of a single text."""
        return self.limit - sum(self.special)

    @property
    def lengths(self) -> Ints:
        """(inputs,) number of sub-tokens before truncation, including special tokens."""
        return self.whole.ids.lengths


Read = Callable[[Any, Sequence[Any]], TokenizedSplit]
"""A function from a task and the rows of a split; `blurb.checkpoints.architecture` makes one from a checkpoint."""


VERSION = 7
"""Raised by hand when a change gives other ids for the same input."""


def features_key(units: str, tokenizer: str, max_length: int) -> dict[str, object]:
    """The key of a split's features.

    :param units: key of its examples (data hash, split, options)
    :param tokenizer: hash of the tokenizer
    """
    return {"units": units, "tokenizer": tokenizer, "max_length": max_length}


def cached_features(key: Mapping[str, object], build: Callable[[], Features]) -> Features:
    """The features of `key`, read from the cache or else built and cached.

    Files are written atomically, so several processes may use the cache at once. A cache that cannot be written or
    read never fails a run.
    """
    text = json.dumps({**key, "version": VERSION}, sort_keys=True)
    path = cache_home() / "features" / f"{text_hash(text)[:32]}.npz"
    # If the file is missing or damaged, numpy and zipfile raise anything.
    with contextlib.suppress(Exception):
        return Features.read(path)
    features = build()
    with contextlib.suppress(Exception), replacing_file(path) as aside:
        features.save(aside)
    return features

"""Features on disk, shared by all trials with the same data, tokenizer, transform and length."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from blurb.cache import home
from blurb.inputs.features import Features, Ints

VERSION = 6
"""Raised by hand whenever a transform gives other ids for the same input."""


def features_key(units: str, tokenizer: str, max_length: int) -> dict[str, object]:
    """What identifies the features of a split.

    :param units: what identifies its units (data hash, split, options)
    :param tokenizer: hash of the tokenizer
    """
    return {"units": units, "tokenizer": tokenizer, "max_length": max_length}


def stored_lengths(key: Mapping[str, object]) -> tuple[Ints, Ints] | None:
    """Sub-tokens of each row and the unit that it belongs to, without reading the ids; None if they are not kept."""
    with contextlib.suppress(Exception), np.load(_path(key)) as arrays:  # damaged in whatever way: as if not there
        return np.diff(arrays["ids.offsets"]), arrays["unit"]
    return None


def cached(key: Mapping[str, object], build: Callable[[], Features]) -> Features:
    """The features of `key`, from disk if they are there, else built and kept.

    Files are written aside and renamed, so several processes may ask at once. A cache that cannot be written or read
    costs time, never the run.
    """
    path = _path(key)
    with contextlib.suppress(
        Exception
    ):  # not there, or damaged: numpy and zipfile then raise whatever they come across
        return Features.read(path)
    features = build()
    with contextlib.suppress(Exception):
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}.tmp")
        features.save(aside)
        aside.replace(path)
    return features


def _path(key: Mapping[str, object]) -> Path:
    text = json.dumps({**key, "version": VERSION}, sort_keys=True)
    return home() / "features" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"

"""Features on disk, shared by all trials with the same data, tokenizer, transform and length."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping

from blurb.cache import home
from blurb.inputs.features import Features

VERSION = 5
"""Raised by hand whenever a transform gives other ids for the same input."""


def cached(key: Mapping[str, object], build: Callable[[], Features]) -> Features:
    """The features of `key`, from disk if they are there, else built and kept.

    Files are written aside and renamed, so several processes may ask at once. A cache that cannot be written or read
    costs time, never the run.
    """
    text = json.dumps({**key, "version": VERSION}, sort_keys=True)
    path = home() / "features" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
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

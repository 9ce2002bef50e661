"""Shared by the types with one class per example."""

from __future__ import annotations

from collections import Counter

from blurb.tasks.types._type import Examples


def classes(examples: Examples) -> Counter[str]:
    """Number of examples of each class."""
    return Counter(example["label"] for example in examples)

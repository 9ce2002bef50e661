"""What types with one class an example share."""

from __future__ import annotations

from collections import Counter

from blurb.tasks.types._type import Examples


def classes(examples: Examples) -> Counter[str]:
    """Examples of each class."""
    return Counter(example["label"] for example in examples)

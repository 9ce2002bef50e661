"""BIOSSES: `pair_id TAB sent1 TAB sent2 TAB score`, the score being a mean of five annotators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from blurb.data.readers._files import table
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import Split, Task


def read(path: Path, task: Task, split: Split) -> Iterator[Example]:
    """Pairs with a score from 0 to 4."""
    for number, (pair, first, second, score) in table(path, 4, ("pair_id", "sent1", "sent2", "score")):
        try:
            value = float(score)
        except ValueError:
            value = float("nan")
        if not 0 <= value <= 4:
            raise DataError(f"expected a score from 0 to 4, found {score[:20]!r}.", path, number)
        yield {"id": pair, "text_a": first, "text_b": second, "score": value}

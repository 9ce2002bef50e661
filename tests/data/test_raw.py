"""Examples without an answer, as people give them."""

from __future__ import annotations

from blurb import tasks
from blurb.data import raw

TEXT = "aspirin inhibits COX-1 strongly"


def test_the_entity_that_starts_first_is_the_head_whatever_it_was_called() -> None:
    """As in every corpus. The other way round the two would be taken for one entity that overlaps another."""
    first, second = {"start": 0, "end": 7, "type": "CHEMICAL"}, {"start": 17, "end": 22, "type": "GENE"}
    for head, tail in ((first, second), (second, first)):
        example = raw.read(tasks.get("chemprot"), {"text": TEXT, "head": head, "tail": tail}, 1).example
        assert (example["head"], example["tail"]) == (first, second)

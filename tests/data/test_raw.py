"""Examples without an answer, as people give them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from blurb import tasks
from blurb.data import raw
from blurb.messages.errors import DataError

TEXT = "aspirin inhibits COX-1 strongly"


def test_the_entity_that_starts_first_is_the_head_whatever_it_was_called() -> None:
    """As in every corpus. The other way round the two would be taken for one entity that overlaps another."""
    first, second = (
        {"start": 0, "end": 7, "type": "CHEMICAL"},
        {"start": 17, "end": 22, "type": "GENE"},
    )
    for head, tail in ((first, second), (second, first)):
        example = raw.read(
            tasks.get("chemprot"), {"text": TEXT, "head": head, "tail": tail}, 1
        ).example
        assert (example["head"], example["tail"]) == (first, second)


def test_a_task_file_keeps_the_roles_that_were_given() -> None:
    """A corpus of one's own may be directed."""
    first, second = {"start": 0, "end": 7, "type": "A"}, {"start": 17, "end": 22, "type": "A"}
    directed = replace(tasks.get("chemprot"), file="mine.toml", layout={"kind": "jsonl"})
    example = raw.read(directed, {"text": TEXT, "head": second, "tail": first}, 1).example
    assert (example["head"], example["tail"]) == (second, first)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tokens": None}, "'tokens' must be a list of words"),
        ({"tokens": 5}, "'tokens' must be a list of words"),
        ({"tokens": ["a", "\ud800"]}, "half of a surrogate pair"),
        ({"text": "a \ud800 cancer"}, "half of a surrogate pair"),
    ],
)
def test_words_that_are_none_are_told_with_their_input(given: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=f"input 3: .*{told}"):
        raw.read(tasks.get("bc5-chem"), given, 3)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"start": float("inf")}, "whole numbers"),
        ({"start": 0.9, "end": 1.9}, "whole numbers"),
        ({"end": "7"}, "whole numbers"),
        ({"type": None}, "the type of 'head' must be a text"),
    ],
)
def test_an_entity_has_whole_numbers_and_a_type(changed: dict[str, Any], told: str) -> None:
    head, tail = (
        {"start": 0, "end": 7, "type": "CHEMICAL", **changed},
        {"start": 17, "end": 22, "type": "GENE"},
    )
    with pytest.raises(DataError, match=told):
        raw.read(tasks.get("chemprot"), {"text": TEXT, "head": head, "tail": tail}, 1)

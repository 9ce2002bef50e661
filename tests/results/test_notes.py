"""What is said of a row. Oracle: the sentences that docs/csv.md promises, put together by hand."""

from __future__ import annotations

import pytest

from blurb.results import comparability

THREE = {"gad": 3, "ddi": 3}


@pytest.mark.parametrize(
    ("words", "seeds", "train", "evaluated", "note"),
    [
        ("", THREE, {}, {}, ""),
        ("a word", THREE, {"gad": 0, "ddi": 0}, {"gad": 0}, "a word"),
        ("", {"gad": 1, "ddi": 1}, {}, {}, "one seed"),
        ("", {"gad": 1, "ddi": 3}, {}, {}, ""),  # some have more
        ("", {}, {}, {}, ""),  # a baseline
        ("", THREE, {"gad": 2000, "ddi": 2000}, {}, "at most 2,000 training examples"),
        ("", THREE, {"gad": 9, "ddi": 0}, {}, "at most 9 training examples (gad)"),
        ("", THREE, {"gad": 9, "ddi": 20, "hoc": 0}, {}, "at most 9 or 20 training examples (gad, ddi)"),
        ("", THREE, dict.fromkeys("abcd", 5) | {"e": 0}, {}, "at most 5 training examples (4 datasets)"),
        ("", THREE, {}, {"gad": 64, "ddi": 64}, "at most 64 dev and test examples"),
        (
            "words",
            {"gad": 1},
            {"gad": 9},
            {"gad": 7},
            "words; one seed; at most 9 training examples; at most 7 dev and test examples",
        ),
    ],
)
def test_a_note_has_what_was_run_and_nothing_else(
    words: str, seeds: dict[str, int], train: dict[str, int], evaluated: dict[str, int], note: str
) -> None:
    assert comparability.note(words, seeds, train, evaluated) == note

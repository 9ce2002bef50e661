"""Segments of an index: what was written comes back, and nothing else does."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from blurb.store.index import Index, entry, key_of
from blurb.store.index.entry import IndexEntry, TrialFacts
from blurb.store.store import Store
from tests.store import fakes

FACTS = TrialFacts(
    "f1",
    3,
    {"dev": ["f1", "gold"], "test": ["f1", "gold"]},
    {"dev": ["f1"], "test": ["f1"]},
    "d" * 64,
    "identical",
    {"head": "linear", "lr": 1e-05},
    None,
    {"device": "cpu", "threads": 1, "cpus": 2},
    ["encoder", "ner"],
)


def row(number: int = 0, facts: TrialFacts = FACTS, **changes: Any) -> dict[str, Any]:
    figures = [0.1 + number / 10, 7.0, 1 / 3, 8.0, 0.01, 0.02]
    return {
        "key": f"m/ncbi-disease/{number:016x}",
        "time": 1_700_000_000_123_456_789 + number,
        "stamp": bytes([number]) * 16,
        "about": facts.text,
        "figures": figures,
        "started": "2026-01-31T12:00:00Z",
        "train_seconds": 1.5,
        "predict_seconds": None,
        "predicted": 2.5,
        **changes,
    }


def test_entries_come_back_exactly() -> None:
    segment = entry.unpacked(entry.packed(entry.batch_of([row(0), row(1)])))
    assert segment.keys == ["m/ncbi-disease/0000000000000000", "m/ncbi-disease/0000000000000001"]
    second = IndexEntry(segment, 1)
    assert (second.key, second.stamp) == (segment.keys[1], b"\1" * 16)
    assert segment.times[1] == 1_700_000_000_123_456_790
    assert second.facts == FACTS
    assert [second.figure(place) for place in range(6)] == [0.2, 7.0, 1 / 3, 8.0, 0.01, 0.02]
    assert [type(second.figure(place)) for place in range(6)] == [float] * 6
    assert FACTS.places == {
        "dev": {"f1": (0, 4), "gold": (1, None)},
        "test": {"f1": (2, 5), "gold": (3, None)},
    }
    values = {
        name: second.value(name)
        for name in ("started", "train_seconds", "predict_seconds", "predicted")
    }
    assert list(values.values()) == ["2026-01-31T12:00:00Z", 1.5, None, 2.5]


def test_whatever_is_damaged_is_no_segment() -> None:
    content = entry.packed(entry.batch_of([row(number) for number in range(5)]))
    rng = random.Random(1)
    for _ in range(50):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        assert entry.unpacked(bytes(changed)) is None
    for length in (0, 1, 31, 32, 33, len(content) // 2, len(content) - 1):
        assert entry.unpacked(content[:length]) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"figures": [0.1]},  # fewer than its facts name
        {"about": "[" * 100_000},
        {"about": "{}"},
        {"about": '{"metric": "f1"}'},
        {"key": None},
        {"figures": [None] * 6},
    ],
)
def test_what_somebody_forged_is_no_segment(changes: dict[str, Any]) -> None:
    """With a hash that is right: the store may be somebody else's."""
    assert entry.unpacked(entry.packed(entry.batch_of([row(0), row(1, **changes)]))) is None


def test_another_schema_is_no_segment() -> None:
    batch = entry.batch_of([row()])
    later = batch.schema.with_metadata({"blurb-index": b"99"})
    assert entry.unpacked(entry.packed(batch.replace_schema_metadata(later.metadata))) is None
    assert entry.unpacked(entry.packed(pyarrow.record_batch({"key": ["m/ncbi-disease/1"]}))) is None


def test_rows_of_several_segments_become_one() -> None:
    other = replace(FACTS, metric="gold")
    batches = [entry.batch_of([row(0), row(1)]), entry.batch_of([row(2, other), row(3)])]
    merged = entry.unpacked(entry.packed(entry.together([(batches[0], [1]), (batches[1], [0, 1])])))
    assert [key[-1] for key in merged.keys] == ["1", "2", "3"]
    assert [IndexEntry(merged, number).facts.metric for number in range(3)] == ["f1", "gold", "f1"]
    assert [IndexEntry(merged, number).figure(0) for number in range(3)] == [
        0.1 + number / 10 for number in (1, 2, 3)
    ]
    assert entry.unpacked(entry.packed(entry.together([]))) is not None


def test_many_trials_take_little_room() -> None:
    """What the docs say: some sixty bytes each beside what all share."""
    rng = random.Random(2)
    content = [
        row(
            number % 250,
            key=f"m/ncbi-disease/{rng.getrandbits(64):016x}",
            stamp=rng.randbytes(16),
            figures=[rng.random()] * 6,
        )
        for number in range(2_000)
    ]
    assert len(entry.packed(entry.batch_of(content))) < 100 * len(content)


def test_the_start_of_a_command_loads_no_arrow() -> None:
    code = "import sys, blurb.store.store, blurb.store.index, blurb.results.from_store; print('pyarrow' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), 1e300, 7.0, -0.5, 1.1]
)
@pytest.mark.parametrize("place", [0, -1])
def test_figures_that_there_cannot_be_are_no_segment(
    tmp_path: Path, value: float, place: int
) -> None:
    store = Store(tmp_path / "runs")
    keys = [key_of(fakes.finish(store, "m", fakes.trial("gad", seed), 0.5)) for seed in (1, 2)]
    found = Index(str(store.root)).look(store, keys, pytest.fail, every_file=True)
    rows = found[keys[0]].segment.batch.to_pylist()
    rows[1]["figures"][place] = value
    assert entry.unpacked(entry.packed(entry.batch_of(rows))) is None
    rows[1]["figures"][place] = 0.25
    assert entry.unpacked(entry.packed(entry.batch_of(rows))) is not None


def test_a_batch_is_what_pyarrow_makes_of_the_rows() -> None:
    """Oracle: `RecordBatch.from_pylist`, which loads pandas."""
    columns = entry.schema()
    width = columns.field("stamp").type.byte_width
    rows = [
        {
            "key": f"é/gad/{number}", "time": number, "stamp": bytes([number]) * width, "about": "ab"[number % 2],
            "figures": [0.5] * (number % 3), "started": None if number % 2 else "now", "train_seconds": 1.5,
            "predict_seconds": None, "predicted": 0.0,
        }
        for number in range(7)
    ]  # fmt: skip
    for some in (rows, rows[:1], []):
        batch = entry.batch_of(some)
        batch.validate(full=True)
        assert batch.equals(pyarrow.RecordBatch.from_pylist(some, schema=columns))

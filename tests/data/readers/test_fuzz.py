"""Whatever bytes a file holds, a reader gives rows or a DataError, and rows can be hashed and made a dataset."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from blurb import tasks
from blurb.data import read_split
from blurb.data.schema import hash_rows, to_dataset
from blurb.messages.errors import DataError
from tests.data.samples import HOC_LABELS, READERS, SAMPLES, put

PARTS = [
    b"\t",
    b"\n",
    b"\r\n",
    b"B",
    b"I",
    b"O",
    b"I-PAR",
    b"-DOCSTART-",
    b"@DRUG$",
    b"@GENE$",
    b"@CHEMICAL$",
    b"@DISEASE$",
    b"1",
    b"0",
    b"yes",
    b"CPR:3",
    b"DDI-int",
    b"2.5",
    b" ",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\x00",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"x",
    HOC_LABELS.encode(),
    b"1_s0",
]


def _check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), name, content)
        task = tasks.get(name)
        try:
            rows = read_split(task, Path(folder), "train")
        except DataError:
            return
        assert rows
        assert len(hash_rows(rows)) == 64
        assert len({row["id"] for row in rows}) == len(rows)
        assert len(to_dataset(rows, task.task_type)) == len(rows)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(READERS),
    st.binary(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=20).map(b"".join),
)
def test_arbitrary_bytes_and_pieces_of_the_formats_in_any_order(name: str, content: bytes) -> None:
    _check(name, content)


@pytest.mark.costly
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(READERS), st.data())
def test_a_correct_file_with_a_stretch_replaced(name: str, data: st.DataObject) -> None:
    good = SAMPLES[name].encode()
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 10)))
    _check(
        name, good[:start] + data.draw(st.binary(max_size=5) | st.sampled_from(PARTS)) + good[end:]
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["yes", "maybe"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["QUESTION", "CONTEXTS", "final_decision", "1", ""]), inner, max_size=4
        )
    ),
    max_leaves=10,
)


@settings(max_examples=40, deadline=None)
@given(JSON)
@example({"1": {"QUESTION": "\ud800", "CONTEXTS": ["\udfff"], "final_decision": "yes"}})
@example({"\ud800": {"QUESTION": "a", "CONTEXTS": [], "final_decision": "yes"}})
def test_any_json(value: object) -> None:
    _check("pubmedqa", json.dumps(value).encode("utf-8", "surrogatepass"))

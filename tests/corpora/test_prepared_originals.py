"""Prepared originals, JSON lines: what is right is read, what is wrong is named with file and line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from blurb import tasks
from blurb.corpora import original_readers as prepared
from blurb.corpora.original_readers import load_original
from blurb.data.schema import Example, hash_rows, to_dataset
from blurb.inputs.relations import STRATEGIES, mark
from blurb.messages.errors import DataError

TASK = tasks.get("chemprot")
ROW: Example = {
    "id": "7.T1.T2",
    "doc_id": "7",
    "text": "kaloé inhibits MI-1",
    "label": "CPR:4",
    "head": {"start": 0, "end": 5, "type": "CHEMICAL"},
    "tail": {"start": 15, "end": 19, "type": "GENE"},
}
GOOD = json.dumps(ROW)


def put(folder: Path, content: str | bytes, split: tasks.Split = "train") -> Path:
    path = prepared.path_of(folder, TASK, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def changed(**values: Any) -> str:
    """The good row with other values; `head_start=1` goes into the head."""
    row = json.loads(GOOD)
    for key, value in values.items():
        role, _, inner = key.partition("_")
        if role in ("head", "tail") and inner:
            row[role][inner] = value
        else:
            row[key] = value
    return json.dumps(row)


@pytest.mark.parametrize("ensure_ascii", [False, True])
def test_a_row_is_read_as_it_is(tmp_path: Path, ensure_ascii: bool) -> None:
    other = {**ROW, "id": "8", "doc_id": None}
    content = "\r\n".join(json.dumps(row, ensure_ascii=ensure_ascii) for row in (ROW, other))
    put(tmp_path, b"\xef\xbb\xbf" + content.encode())
    assert list(prepared.read(tmp_path, TASK, "train")) == [ROW, other]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not valid JSON"),
        (GOOD[:-1], r"not valid JSON.*\(column"),
        (GOOD + GOOD, "Extra data"),
        ("[" * 100_000, "not usable as JSON"),
        (GOOD.replace('"7.T1.T2"', "9" * 5000), "not usable as JSON"),
        (GOOD.replace('"doc_id"', '"id"'), "occurs twice in one object"),
        ("[]", "expected a JSON object"),
        (
            json.dumps({key: value for key, value in ROW.items() if key != "doc_id"}),
            "with the keys",
        ),
        (changed(note="mine"), "with the keys"),
        (changed(id=7), "must be non-empty strings"),
        (changed(text=""), "must be non-empty strings"),
        (changed(doc_id=7), "doc_id must be a string or null"),
        (changed(head=[0, 5]), "head must be an object"),
        (changed(tail_type=""), "the type of tail must be a text"),
        (changed(head_start="0"), "head must be an object with start and end .*, which are whole"),
        (
            changed(head_start=False),
            "head must be an object with start and end .*, which are whole",
        ),
        (changed(tail_end=19.0), "tail must be an object with start and end .*, which are whole"),
        (changed(head_start=-1), "head is from -1 to 5"),
        (changed(head_end=0), "head is from 0 to 0"),
        (
            changed(tail_end=20),
            "tail is from 15 to 20 .*, but the text has 19 code points",
        ),  # code points: bytes would be 20
        (changed(head=ROW["tail"], tail=ROW["head"]), "tail starts before head"),
        (changed(text="kalo\ud800 inhibits MI-1"), "half of a surrogate pair"),
        (changed(text="@X1.$ inhibits @Y.$"), "entities are dummies"),
        (changed(label="CPR:5x"), "unknown label 'CPR:5x'; expected one of"),
        (GOOD, "the id '7.T1.T2' already occurs in line 1"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = put(tmp_path, f"{GOOD}\n{line}\n{GOOD}\n")
    with pytest.raises(DataError, match=message) as caught:
        list(prepared.read(tmp_path, TASK, "train"))
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_loading_prefers_prepared_rows_and_takes_all_splits_from_them(tmp_path: Path) -> None:
    for split in tasks.SPLITS:
        put(tmp_path, changed(id=split), split)
    loaded = load_original(TASK, tmp_path)
    assert {split: rows[0]["id"] for split, rows in loaded.splits.items()} == {
        one: one for one in tasks.SPLITS
    }
    assert loaded.splits["dev"][0]["head"] == ROW["head"]
    assert loaded.verdict == "differs"
    prepared.path_of(tmp_path, TASK, "dev").unlink()  # never the rest from elsewhere
    with pytest.raises(DataError, match=r"dev\.jsonl: the file is missing"):
        load_original(TASK, tmp_path)
    with pytest.raises(
        DataError, match="DDIextraction_2013"
    ):  # no prepared rows of this task: its own reader
        load_original(tasks.get("ddi"), tmp_path)


def check(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder), content)
        try:
            rows = list(prepared.read(Path(folder), TASK, "train"))
        except DataError:
            return
    assert (
        len({row["id"] for row in rows})
        == len(rows)
        == len(to_dataset(rows, tasks.types.get("relation")))
        > 0
    )
    assert len(hash_rows(rows)) == 64
    for row in rows:
        for strategy in STRATEGIES:
            marked = mark(row, strategy)
            assert all(
                0 <= start < end <= len(marked.text) for start, end in (marked.head, marked.tail)
            )


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
@example(b"\xef\xbb\xbf")
def test_arbitrary_bytes(content: bytes) -> None:
    check(content)


@pytest.mark.costly
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_correct_file_with_a_stretch_replaced(draw: st.DataObject) -> None:
    good = GOOD.encode()
    start = draw.draw(st.integers(0, len(good)))
    end = draw.draw(st.integers(start, min(len(good), start + 10)))
    part = st.binary(max_size=5) | st.sampled_from(
        [b"\n", b"null", b"1", b"-1", b"\\ud800", b'"', b"{}", b"NaN", b"1e9"]
    )
    check(good[:start] + draw.draw(part) + good[end:])


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 25)
    | st.floats()
    | st.text(max_size=3)
    | st.just("é@$")
)
SPANS = VALUES | st.fixed_dictionaries(
    {"start": st.integers(-1, 6), "end": st.integers(-1, 6), "type": VALUES}
)


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "id": st.just("7") | VALUES,
            "doc_id": st.just("7") | VALUES,
            "text": st.text(min_size=4, max_size=6) | VALUES,
            "label": st.just("false") | VALUES,
            "head": SPANS,
            "tail": SPANS,
        }
    )
)
@example({**ROW, "head": {**ROW["head"], "end": 17}})  # overlapping, none inside the other
@example({**ROW, "tail": ROW["head"]})
@example(
    {**ROW, "text": "@a$ inhibits MI-11234", "head": {"start": 0, "end": 3, "type": "CHEMICAL"}}
)
def test_any_json(row: object) -> None:
    check(json.dumps(row).encode())

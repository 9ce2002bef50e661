"""Whatever bytes an original holds, a builder gives its files or a DataError, and nothing else."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from blurb import tasks
from blurb.corpora.build import builder
from blurb.corpora.releases import Release
from blurb.messages.errors import DataError
from tests.corpora.originals import FILES, NAMES, docx, put, small_lists, tarred, zipped

PARTS = [
    b"\t",
    b"\n",
    b"\r\n",
    b" ",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\x00",
    b'"',
    b"<",
    b">",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"-",
    b"0",
    b"1",
    b"9" * 30,
    b"B",
    b"I-X",
    b"O",
    b".",
    b"###MEDLINE:",
    b"yes",
    b"CHEMICAL",
    b"GENE-Y",
    b"AND",
    b"NULL",
    b"&a;",
    b"<!DOCTYPE a>",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"@GENE$",
    b"@DISEASE$",
    b"7",
    b"T1",
    b"questions",
    b"final_decision",
    b"snippets",
    b"<pair/>",
    b'<entity charOffset="1-1" id="a"/>',
]
PICKED = [
    (name, path) for name in NAMES for path in (next(iter(FILES[name])), list(FILES[name])[-1])
] + [("chemprot", path) for path in list(FILES["chemprot"])[1:3]]


def _check(name: str, path: str, content: bytes, packed: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder, small_lists():
        raw = Path(folder)
        if packed:
            (raw / path).write_bytes(content)
        else:
            put(raw, name, {path: content})
        try:
            texts = builder(tasks.get(name))(Release(raw), tasks.get(name))
        except DataError:
            return
        assert set(texts) == set(tasks.SPLITS)
        for text in texts.values():
            text.encode()


@settings(max_examples=150)
@given(
    picked=st.sampled_from(PICKED),
    content=st.binary(max_size=60) | st.lists(st.sampled_from(PARTS)).map(b"".join),
)
def test_any_bytes(picked: tuple[str, str], content: bytes) -> None:
    _check(*picked, content)


@pytest.mark.costly
@settings(max_examples=300)
@given(picked=st.sampled_from(PICKED), data=st.data())
def test_a_good_file_with_a_stretch_replaced(picked: tuple[str, str], data: st.DataObject) -> None:
    good = FILES[picked[0]][picked[1]]
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 12)))
    _check(
        *picked,
        good[:start] + data.draw(st.binary(max_size=5) | st.sampled_from(PARTS)) + good[end:],
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["yes", "yesno"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "questions",
                    "type",
                    "id",
                    "body",
                    "snippets",
                    "text",
                    "exact_answer",
                    "final_decision",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.costly
@settings(max_examples=100)
@given(value=JSON, entry=JSON)
def test_any_json(value: object, entry: object) -> None:
    for content in (value, {"questions": [value, entry]}, {"1": value, "2": entry}):
        text = json.dumps(content).encode("utf-8", "surrogatepass")
        _check("bioasq", next(iter(FILES["bioasq"])), text)
        for path in FILES["pubmedqa"]:
            _check("pubmedqa", path, text)


XML_TEXT = st.text(
    st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="<&>"), max_size=5
)


@settings(max_examples=50)
@given(rows=st.lists(st.lists(XML_TEXT, max_size=4), max_size=4), tables=st.integers(0, 2))
def test_any_table(rows: list[list[str]], tables: int) -> None:
    for path in FILES["biosses"]:
        _check("biosses", path, docx(rows, tables))
        _check("biosses", path, docx([["", "Sentence 1", "Sentence 2"], *rows], tables))


@settings(max_examples=200)
@given(packed=st.sampled_from([tarred(FILES["ddi"]), zipped(FILES["ddi"])]), data=st.data())
def test_an_archive_with_a_stretch_replaced(packed: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(packed)))
    end = data.draw(st.integers(start, len(packed)))
    _check(
        "ddi",
        "DDIextraction_2013.zip",
        packed[:start] + data.draw(st.binary(max_size=9)) + packed[end:],
        True,
    )


@settings(max_examples=200)
@given(data=st.data())
def test_a_tar_archive_with_bytes_flipped_below_its_compression(data: st.DataObject) -> None:
    import gzip

    content = bytearray(gzip.decompress(tarred(FILES["ddi"])))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 1600))] = data.draw(st.integers(0, 255))
    _check("ddi", "DDIextraction_2013.tar", bytes(content), True)

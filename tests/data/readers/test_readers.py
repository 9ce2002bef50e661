"""What each reader makes of a correct file."""

from __future__ import annotations

from pathlib import Path

import pytest

from blurb import tasks
from blurb.data import read_split
from blurb.data.schema import Example, hash_rows, to_dataset
from tests.data.samples import READERS, SAMPLES, put

COLUMNS = {
    "ner": {"id", "doc_id", "tokens", "tags"},
    "pico": {"id", "doc_id", "tokens", "tags"},
    "relation": {"id", "doc_id", "text", "head", "tail", "label"},
    "similarity": {"id", "text_a", "text_b", "score"},
    "document": {"id", "doc_id", "text", "labels"},
    "qa": {"id", "question", "context", "label"},
}


def _read(folder: Path, name: str, content: str | bytes | None = None) -> list[Example]:
    put(folder, name, SAMPLES[name] if content is None else content)
    return read_split(tasks.get(name), folder, "train")


@pytest.mark.parametrize("name", READERS)
def test_rows_have_the_columns_of_their_type_and_become_a_dataset(
    tmp_path: Path, name: str
) -> None:
    rows = _read(tmp_path, name)
    kind = tasks.get(name).type
    dataset = to_dataset(rows, tasks.types.get(kind))
    assert set(dataset.column_names) == COLUMNS[kind]
    assert [dict(row) for row in dataset] == rows


@pytest.mark.parametrize("name", READERS)
def test_line_endings_and_a_byte_order_mark_do_not_change_the_hash(
    tmp_path: Path, name: str
) -> None:
    expected = hash_rows(_read(tmp_path, name))
    for variant in (
        SAMPLES[name].replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SAMPLES[name].encode(),
        SAMPLES[name].rstrip("\n").encode(),
    ):
        assert hash_rows(_read(tmp_path, name, variant)) == expected


def test_ner_sentences_are_numbered_and_tags_get_their_type(tmp_path: Path) -> None:
    assert _read(tmp_path, "bc5-chem") == [
        {
            "id": "train.0",
            "doc_id": None,
            "tokens": ["Kalo", "mi", "."],
            "tags": ["B-Chemical", "I-Chemical", "O"],
        },
        {
            "id": "train.1",
            "doc_id": None,
            "tokens": ["tra", "nex"],
            "tags": ["B-Chemical", "B-Chemical"],
        },
    ]


@pytest.mark.parametrize("header", ["-DOCSTART- 95369245", "-DOCSTART- (95369245)"])
def test_document_headers_end_a_sentence_and_are_none(tmp_path: Path, header: str) -> None:
    rows = _read(tmp_path, "jnlpba", f"a\tO\n{header}\n\nb\tB\n\n\n\nc\tO\n")
    assert [(row["doc_id"], row["tokens"]) for row in rows] == [
        (None, ["a"]),
        ("95369245", ["b"]),
        ("95369245", ["c"]),
    ]


def test_a_header_without_a_name_names_no_document(tmp_path: Path) -> None:
    assert _read(tmp_path, "jnlpba", "-DOCSTART-\tO\n\nb\tB\n")[0]["doc_id"] is None


def test_a_sentence_does_not_carry_an_entity_into_the_next(tmp_path: Path) -> None:
    assert [row["tags"] for row in _read(tmp_path, "bc2gm", "a\tB\n\nb\tB\nc\tI\n")] == [
        ["B-GENE"],
        ["B-GENE", "I-GENE"],
    ]


def test_pico_keeps_its_tags_and_a_document_without_full_stop_ends_at_the_next_header(
    tmp_path: Path,
) -> None:
    rows = _read(tmp_path, "ebm-pico")
    assert [(row["doc_id"], row["tags"]) for row in rows] == [
        ("123", ["I-PAR", "I-PAR", "O"]),
        ("123", ["I-OUT"]),
        ("77", ["O", "O"]),
    ]


@pytest.mark.parametrize("separator", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\r"])
def test_only_line_feeds_end_a_line(tmp_path: Path, separator: str) -> None:
    rows = _read(tmp_path, "biosses", f"pair_id\tsent1\tsent2\tscore\n1\ta{separator}b\tc\t1\n")
    assert rows[0]["text_a"] == f"a{separator}b"


@pytest.mark.parametrize("name", ["chemprot", "ddi", "gad"])
def test_spans_are_those_of_the_two_dummies(tmp_path: Path, name: str) -> None:
    for row in _read(tmp_path, name):
        for span in (row["head"], row["tail"]):
            assert row["text"][span["start"] : span["end"]] == f"@{span['type']}$"
        if "-" not in row["head"]["type"]:
            assert row["head"]["end"] <= row["tail"]["start"]


def test_an_overlapping_pair_has_one_span_twice(tmp_path: Path) -> None:
    row = _read(tmp_path, "chemprot")[1]
    assert row["head"] == row["tail"] == {"start": 3, "end": 14, "type": "CHEM-GENE"}


def test_documents_of_relations(tmp_path: Path) -> None:
    assert [_read(tmp_path, name)[0]["doc_id"] for name in ("chemprot", "ddi", "gad")] == [
        "11",
        "DDI-X.d1",
        None,
    ]


def test_trailing_blanks_of_a_sentence_stay(tmp_path: Path) -> None:
    assert _read(tmp_path, "ddi")[0]["text"].endswith("mi. ")


def test_spans_count_code_points(tmp_path: Path) -> None:
    row = _read(tmp_path, "ddi", "x.y\t😀é @DRUG$ @DRUG$\tDDI-int\n")[0]
    assert row["head"] == {"start": 3, "end": 9, "type": "DRUG"}


def test_hoc_names_its_labels(tmp_path: Path) -> None:
    first, second = _read(tmp_path, "hoc")
    assert first == {
        "id": "123_s0",
        "doc_id": "123",
        "text": "kalo mi .",
        "labels": ["avoiding immune destruction", "sustaining proliferative signaling"],
    }
    assert second["labels"] == ["sustaining proliferative signaling"]


def test_pubmedqa_joins_the_contexts_and_never_shows_the_answer(tmp_path: Path) -> None:
    rows = _read(tmp_path, "pubmedqa")
    assert rows[0] == {
        "id": "101",
        "question": "kalo mi ?",
        "context": "tra nex . vor .",
        "label": "yes",
    }
    assert rows[1]["context"] == ""
    assert "secret" not in str(rows)


def test_bioasq_reads_quote_characters_as_text_and_takes_blank_passages(tmp_path: Path) -> None:
    rows = _read(tmp_path, "bioasq")
    assert [(row["id"], row["question"], row["context"], row["label"]) for row in rows] == [
        ("5a", 'kalo "mi ?', 'tra " nex " vor', "yes"),
        ("5b", "dun ?", " ", "no"),
        ("5c", "sey", "", "yes"),
    ]


def test_the_hash_is_that_of_canonical_json() -> None:
    """Fixed once: a change of the canonical form would make every stored data hash worthless."""
    rows = [{"id": "a", "tokens": ["é"], "n": 1.5}, {"b": None}]
    assert hash_rows(rows) == "33543e0fd5100bcf5837ff0dc863ee326c8c7ae1d0daac1e544cc69c47e4626d"
    assert hash_rows(rows[::-1]) != hash_rows(rows)

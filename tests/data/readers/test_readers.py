"""What each reader makes of a correct file."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from blurb import data, tasks
from blurb.corpora import demo
from blurb.data import read_split
from blurb.data.readers import linkbert
from blurb.data.schema import Example, hash_rows, to_dataset
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS, Task
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


SPAN = {"start": 3, "end": 14, "type": "CHEM-GENE"}


@pytest.mark.parametrize(
    ("name", "content", "columns", "expected"),
    [
        *(
            pytest.param(
                "jnlpba",
                f"a\tO\n{header}\n\nb\tB\n\n\n\nc\tO\n",
                "doc_id tokens",
                [(None, ["a"]), ("95369245", ["b"]), ("95369245", ["c"])],
                id="document headers end a sentence and are none",
            )
            for header in ("-DOCSTART- 95369245", "-DOCSTART- (95369245)")
        ),
        pytest.param(
            "jnlpba",
            "-DOCSTART-\tO\n\nb\tB\n",
            "doc_id",
            [(None,)],
            id="a header without a name names no document",
        ),
        pytest.param(
            "bc2gm",
            "a\tB\n\nb\tB\nc\tI\n",
            "tags",
            [(["B-GENE"],), (["B-GENE", "I-GENE"],)],
            id="a sentence does not carry an entity into the next",
        ),
        pytest.param(
            "ebm-pico",
            None,
            "doc_id tags",
            [("123", ["I-PAR", "I-PAR", "O"]), ("123", ["I-OUT"]), ("77", ["O", "O"])],
            id="pico keeps its tags, and a document without full stop ends at the next header",
        ),
        *(
            pytest.param(
                "biosses",
                f"pair_id\tsent1\tsent2\tscore\n1\ta{separator}b\tc\t1\n",
                "text_a",
                [(f"a{separator}b",)],
                id="only line feeds end a line",
            )
            for separator in ("\u2028", "\x0b", "\x0c", "\x1c", "\x85", "\r")
        ),
        pytest.param(
            "chemprot",
            SAMPLES["chemprot"].split("\n")[1] + "\n",
            "head tail",
            [(SPAN, SPAN)],
            id="an overlapping pair has one span twice",
        ),
        ("chemprot", None, "doc_id", [("11",)] * 2),
        ("ddi", None, "doc_id", [("DDI-X.d1",)] * 2),
        ("gad", None, "doc_id", [(None,)] * 2),
        pytest.param(
            "ddi",
            None,
            "text",
            [("@DRUG$ and @DRUG$ mi. ",), ("kalo @DRUG-DRUG$",)],
            id="trailing blanks of a sentence stay",
        ),
        pytest.param(
            "ddi",
            "x.y\t😀é @DRUG$ @DRUG$\tDDI-int\n",
            "head",
            [({"start": 3, "end": 9, "type": "DRUG"},)],
            id="spans count code points",
        ),
        pytest.param(
            "bioasq",
            None,
            "id question context label",
            [
                ("5a", 'kalo "mi ?', 'tra " nex " vor', "yes"),
                ("5b", "dun ?", " ", "no"),
                ("5c", "sey", "", "yes"),
            ],
            id="bioasq reads quote characters as text and takes blank passages",
        ),
    ],
)
def test_what_is_read(
    tmp_path: Path, name: str, content: str | None, columns: str, expected: list[Any]
) -> None:
    rows = _read(tmp_path, name, content)
    assert [tuple(row[column] for column in columns.split()) for row in rows] == expected


@pytest.mark.parametrize("name", ["chemprot", "ddi", "gad"])
def test_spans_are_those_of_the_two_dummies(tmp_path: Path, name: str) -> None:
    for row in _read(tmp_path, name):
        for span in (row["head"], row["tail"]):
            assert row["text"][span["start"] : span["end"]] == f"@{span['type']}$"
        if "-" not in row["head"]["type"]:
            assert row["head"]["end"] <= row["tail"]["start"]


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


def test_the_hash_is_that_of_canonical_json() -> None:
    """Fixed once: a change of the canonical form would make every stored data hash worthless."""
    rows = [{"id": "a", "tokens": ["é"], "n": 1.5}, {"b": None}]
    assert hash_rows(rows) == "33543e0fd5100bcf5837ff0dc863ee326c8c7ae1d0daac1e544cc69c47e4626d"
    assert hash_rows(rows[::-1]) != hash_rows(rows)


# LinkBERT's layout: lines made from BLURB's rows as its conversion makes them give BLURB's rows back.


def converted(task: Task, rows: list[Example]) -> list[dict[str, Any]]:
    """What that conversion does: docs/benchmark.md, "LinkBERT's files"."""
    if task.type in ("ner", "pico"):
        letter = {"ner": lambda tag: tag[0], "pico": lambda tag: tag.replace("I-", "B-")}[task.type]
        return [
            {
                "tokens": row["tokens"],
                "ner_tags": [letter(tag) for tag in row["tags"]],
                "id": row["id"],
            }
            for row in rows
        ]
    if task.type == "relation":
        return [
            {
                "id": row["id"],
                "sentence": row["text"],
                "label": "0" if "false" in row["label"] else row["label"],
            }
            for row in rows
        ]
    if task.type == "similarity":
        return [
            {
                "sentence1": row["text_a"],
                "sentence2": row["text_b"],
                "label": row["score"],
                "id": row["id"],
            }
            for row in rows
        ]
    if task.type == "qa":
        return [
            {
                "id": row["id"],
                "sentence1": row["question"],
                "sentence2": row["context"],
                "label": row["label"],
            }
            for row in rows
        ]
    documents: dict[str, list[Example]] = {}
    for row in rows:
        documents.setdefault(row["doc_id"], []).append(row)
    return [
        {
            "id": name,
            "sentence": " ".join(part["text"] for part in parts),
            "label": [int(any(label in part["labels"] for part in parts)) for label in task.labels],
        }
        for name, parts in documents.items()
    ]


def write(folder: Path, task: Task, source: Path) -> None:
    for split in SPLITS:
        path = linkbert.path_of(folder, task, split)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = converted(task, data.read_split(task, source, split))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    "task", [task for task in tasks.all() if task.paper_order], ids=lambda task: task.name
)
def test_the_rows_are_blurbs(tmp_path: Path, task: Task) -> None:
    demo.write(tmp_path / "demo")
    write(tmp_path / "linkbert", task, tmp_path / "demo")
    for split in SPLITS:
        expected = data.read_split(task, tmp_path / "demo", split)
        found = data.read_split(task, tmp_path / "linkbert", split)
        if task.name == "hoc":
            assert {row["id"]: row["labels"] for row in found} == {
                name: [
                    label
                    for label in task.labels
                    if any(label in row["labels"] for row in expected if row["doc_id"] == name)
                ]
                for name in {row["doc_id"] for row in expected}
            }
        elif task.name in ("jnlpba", "ebm-pico"):
            assert found == [{**row, "doc_id": None} for row in expected]
        else:
            assert found == expected


@pytest.mark.costly
@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["bc5-chem", "ncbi-disease", "bc2gm", "chemprot", "ddi", "gad", "biosses", "pubmedqa"]
)
def test_verified_as_identical(tmp_path: Path, real_data: Path, name: str) -> None:
    task = tasks.get(name)
    write(tmp_path, task, real_data)
    assert data.load_task(task, tmp_path).verdict == "identical"


def test_blurbs_own_file_comes_first(tmp_path: Path) -> None:
    demo.write(tmp_path)
    task = tasks.get("gad")
    expected = data.load_task(task, tmp_path).hash
    write(tmp_path, task, tmp_path)
    for path in (tmp_path / "seqcls").rglob("*.json"):
        path.write_text("{")
    assert data.load_task(task, tmp_path).hash == expected


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("gad", "[]", "a JSON object"),
        (
            "gad",
            '{"id": 1, "sentence": "@GENE$", "label": "1"}',
            "expected exactly @GENE$ and @DISEASE$",
        ),
        ("gad", '{"id": 1, "sentence": "@GENE$ @DISEASE$", "label": "2"}', "unknown label '2'"),
        ("gad", '{"id": 1, "sentence": 2, "label": "1"}', "id, sentence, label must be strings"),
        ("bc5-chem", '{"tokens": ["a"], "ner_tags": ["B", "I"]}', "1 tokens and 2 tags"),
        ("bc5-chem", '{"tokens": ["a"], "ner_tags": ["I"]}', "tag I does not follow"),
        ("bc5-chem", '{"tokens": ["a"], "ner_tags": [1]}', "lists of non-blank strings"),
        ("hoc", '{"id": "1", "sentence": "a", "label": [1]}', "10 zeros and ones"),
        ("biosses", '{"id": "1", "sentence1": "a", "sentence2": "b", "label": 5}', "from 0 to 4"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, name: str, line: str, message: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(line + "\n")
    with pytest.raises(DataError) as error:
        list(linkbert.read(path, tasks.get(name), "train"))
    assert message in str(error.value)
    assert f"{path}:1" in str(error.value)


@pytest.mark.parametrize("name", ["gad", "ebm-pico", "bc5-chem", "biosses", "hoc", "pubmedqa"])
@settings(max_examples=40)
@given(
    content=st.binary(max_size=100)
    | st.dictionaries(
        st.sampled_from(
            ["id", "sentence", "sentence1", "sentence2", "label", "tokens", "ner_tags"]
        ),
        st.none()
        | st.text(max_size=4)
        | st.integers()
        | st.lists(st.text(max_size=2) | st.integers(0, 1), max_size=10),
    ).map(lambda record: json.dumps(record).encode())
)
def test_any_bytes_are_rows_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        list(linkbert.read(path, tasks.get(name), "train"))

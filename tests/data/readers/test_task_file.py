"""Corpora of one's own: the demo suite in the three formats comes back as the same rows; bad lines are named."""

import contextlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from blurb import data, tasks
from blurb.corpora import demo
from blurb.data.readers import task_file
from blurb.data.schema import Example
from blurb.inputs import tagging
from blurb.messages.errors import BlurbError, DataError
from blurb.tasks import Task


def declare(kind: str, labels: tuple[str, ...], layout: Mapping[str, Any], **options: Any) -> Task:
    return Task(
        name="mine",
        title="",
        type=kind,
        files={},
        reader="blurb.data.readers.task_file:read",
        labels=labels,
        metric="",
        seeds=1,
        max_length=1,
        unit="",
        licence="",
        homepage="",
        citation="",
        layout=layout,
        **options,
    )  # type: ignore[arg-type]


def read(folder: Path, text: str, task: Task, name: str = "dev.tsv") -> list[Mapping[str, Any]]:
    """The rows of a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return list(task_file.read(folder / name, task, "dev"))


def rows_of(tmp_path: Path, name: str) -> tuple[Task, list[Example]]:
    demo.write(tmp_path / "demo")
    task = tasks.get(name)
    return task, data.read_split(task, tmp_path / "demo", "dev")


@pytest.mark.parametrize("name", ["bc5-chem", "ebm-pico", "chemprot", "biosses", "hoc", "pubmedqa"])
def test_json_lines_of_the_demo_come_back(tmp_path: Path, name: str) -> None:
    task, rows = rows_of(tmp_path, name)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    mine = declare(task.type, task.labels, {"kind": "jsonl"}, metric_options=task.metric_options)
    assert read(tmp_path, text, mine) == [dict(row) for row in rows]


@pytest.mark.parametrize("scheme", [*tagging.SCHEMES, "iobes"])
@pytest.mark.parametrize("name", ["bc5-chem", "jnlpba"])
def test_conll_of_the_demo_comes_back(tmp_path: Path, name: str, scheme: str) -> None:
    task, rows = rows_of(tmp_path, name)
    lines = []
    letters = {"L": "E", "U": "S"} if scheme == "iobes" else {}
    for row in rows:
        written = tagging.convert_tags(row["tags"], "bio", scheme)
        lines += [
            f"{word} NN {letters.get(tag[0], tag[0]) + tag[1:]}"
            for word, tag in zip(row["tokens"], written, strict=True)
        ]
        lines.append("")
    mine = declare("ner", task.labels, {"kind": "conll", "scheme": scheme})
    found = read(tmp_path, "\n".join(lines), mine)
    assert [row["tokens"] for row in found] == [row["tokens"] for row in rows]
    if scheme != "io":  # adjacent entities are one there
        assert [row["tags"] for row in found] == [row["tags"] for row in rows]


@pytest.mark.parametrize("name", ["chemprot", "ddi", "gad"])
def test_a_table_with_dummies_comes_back(tmp_path: Path, name: str) -> None:
    task, rows = rows_of(tmp_path, name)
    rows = [row for row in rows if row["head"] != row["tail"]]
    text = "".join(f"{row['id']}\t{row['text']}\t{row['label']}\n" for row in rows)
    dummies = sorted({f"@{row[role]['type']}$" for row in rows for role in ("head", "tail")})
    columns = {"id": 0, "text": 1, "label": 2}
    mine = declare(
        "relation",
        task.labels,
        {"kind": "tsv", "header": False, "columns": columns, "dummies": dummies},
    )
    assert [{**row, "doc_id": None} for row in rows] == read(tmp_path, text, mine)


@pytest.mark.parametrize(
    ("layout", "header"),
    [
        ({"columns": {"text": 0, "labels": 1}}, False),
        ({"columns": {"text": 0, "labels": 1}, "header": True}, True),
        ({"columns": {"text": 0, "labels": 1}, "header": False}, False),
        ({"columns": {"text": 0, "labels": "labels"}}, True),
        ({"columns": {}}, True),
        ({}, True),
    ],
)
def test_columns_by_number_alone_have_no_header(
    tmp_path: Path, layout: dict[str, Any], header: bool
) -> None:
    """No example is dropped: there are as many as lines."""
    text = ("text\tlabels\n" if header else "") + "kalo\ta\nmi\tb\n"
    mine = declare("document", ("a", "b"), {"kind": "tsv", **layout})
    assert [row["text"] for row in read(tmp_path, text, mine)] == ["kalo", "mi"]


def test_a_table_of_documents_and_of_pairs(tmp_path: Path) -> None:
    mine = declare(
        "document", ("a", "b"), {"kind": "tsv", "columns": {"text": "sentence"}, "separator": ";"}
    )
    assert read(tmp_path, "doc_id\tsentence\tlabels\n7\tkalo\ta; b\n7\tmi\t\n", mine) == [
        {"id": "dev.0", "doc_id": "7", "text": "kalo", "labels": ["a", "b"]},
        {"id": "dev.1", "doc_id": "7", "text": "mi", "labels": []},
    ]
    pairs = declare("similarity", (), {"kind": "tsv"}, metric_options={"low": 0.0, "high": 4.0})
    assert read(tmp_path, "text_a\ttext_b\tscore\nkalo\tmi\t2.5\n", pairs) == [
        {"id": "dev.0", "text_a": "kalo", "text_b": "mi", "score": 2.5}
    ]


@pytest.mark.parametrize(
    ("kind", "layout", "text", "message"),
    [
        ("ner", {"kind": "conll"}, "kalo\tB-Gene\nmi\tI-Cell\n", ":2: 'I-Cell' is not a BIO tag"),
        (
            "ner",
            {"kind": "conll"},
            "kalo\tO\nmi\tI-Gene\n",
            "the tag I-Gene is not allowed here in BIO",
        ),
        (
            "ner",
            {"kind": "conll", "scheme": "bioul"},
            "kalo\tB-Gene\nmi\tO\n",
            "the tag B-Gene is not allowed here",
        ),
        (
            "ner",
            {"kind": "conll", "tag": 3},
            "kalo\tO\n",
            ":1: expected columns 0 and 3 as in [format]",
        ),
        ("ner", {"kind": "conll"}, " \tO\n", ":1: the token is blank"),
        (
            "qa",
            {"kind": "tsv"},
            "question\tcontext\tlabel\na\tb\n",
            ":2: expected 3 TAB-separated columns, found 2",
        ),
        ("qa", {"kind": "tsv"}, "question\tcontext\nc\td\n", ":2: missing: label"),
        (
            "qa",
            {"kind": "tsv", "columns": {"label": "gold"}},
            "question\tcontext\nc\td\n",
            "no column 'gold'",
        ),
        (
            "qa",
            {"kind": "jsonl"},
            '{"question": "a", "context": "b", "label": "no"}\n',
            ":1: unknown label 'no'",
        ),
        (
            "qa",
            {"kind": "jsonl"},
            '{"question": 1, "context": "b", "label": "Gene"}\n',
            "question must be a string",
        ),
        ("qa", {"kind": "jsonl"}, "[]\n", ":1: expected a JSON object"),
        ("qa", {"kind": "jsonl"}, "{\n", ":1: not valid JSON"),
        (
            "qa",
            {"kind": "tsv"},
            "id\tquestion\tcontext\tlabel\n7\ta\tb\tGene\n7\tc\td\tGene\n",
            ":3: the id '7'",
        ),
        (
            "relation",
            {"kind": "jsonl"},
            '{"text": "a b", "label": "Gene", "head": {"start": 0, "end": 1, "type": "X"}, '
            '"tail": {"start": 2, "end": 9, "type": "X"}}\n',
            ":1: tail is from 2 to 9",
        ),
        (
            "relation",
            {"kind": "jsonl", "dummies": ["@A$"]},
            '{"text": "@A$", "label": "Gene"}\n',
            "found 1",
        ),
        (
            "similarity",
            {"kind": "tsv"},
            "text_a\ttext_b\tscore\na\tb\t9\n",
            ":2: expected a score from 0 to 4",
        ),
        (
            "similarity",
            {"kind": "jsonl"},
            '{"text_a": "a", "text_b": "b", "score": true}\n',
            ":1: expected a score from 0 to 4, found 'True'",
        ),
        (
            "document",
            {"kind": "jsonl"},
            '{"text": "a", "labels": null}\n',
            ":1: labels must be a text, a number, or a",
        ),
        (
            "qa",
            {"kind": "tsv"},
            "question\tcontext\tlabel\tlabel\na\tb\tGene\tx\n",
            ":1: two columns have the name",
        ),
    ],
)
def test_bad_lines_are_named(
    tmp_path: Path, kind: str, layout: dict[str, Any], text: str, message: str
) -> None:
    mine = declare(kind, ("Gene",), layout, metric_options={"low": 0.0, "high": 4.0})
    with pytest.raises(DataError, match=re.escape(message)):
        read(tmp_path, text, mine)


@pytest.mark.parametrize(
    ("kind", "form"), [(k, f) for k in tasks.TYPES for f in tasks.types.get(k).formats]
)
@settings(max_examples=40)
@given(
    content=st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_rows_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, form: str, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x"
    path.write_bytes(content)
    mine = declare(kind, ("Gene",), {"kind": form}, metric_options={"low": 0.0, "high": 4.0})
    with contextlib.suppress(BlurbError):
        list(task_file.read(path, mine, "dev"))
    with contextlib.suppress(BlurbError):
        task_file.guess([path], mine.type, form)


HEADER = "-DOCSTART- -X- -X- O\n\n"
"""That of CoNLL-2003 has columns and no name: all sentences were one document, of which no test knows anything."""


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        pytest.param(
            f"{HEADER}a O\n\nb O\n\n{HEADER}c O\n\n-DOCSTART- (77)\n\nd O\n",
            "doc_id",
            [None, None, None, "77"],
            id="headers without names name no document",
        ),
        pytest.param(
            "10\u00a0mg O\ncancer  B-Disease\n",
            "tokens",
            [["10\u00a0mg", "cancer"]],
            id="a no-break space is inside of a word",
        ),
        pytest.param(
            "# id = x.7\ncancer\tB-Disease\n\n# id = x.9\nof\tO\n\nthe\tO\n",
            "id",
            ["x.7", "x.9", "dev.2"],
            id="what data export writes",
        ),
    ],
)
def test_headers_blanks_and_ids_of_conll(
    tmp_path: Path, text: str, column: str, expected: list[Any]
) -> None:
    rows = read(tmp_path, text, declare("ner", ("Disease",), {"kind": "conll"}))
    assert [row.get(column) for row in rows] == expected


def test_an_empty_cell_is_no_document(tmp_path: Path) -> None:
    """Rows without a document would be one, and scored together."""
    text = "id\tdoc_id\ttext\tlabels\na\t\tone\tx\nb\t\ttwo\tx\n"
    rows = read(tmp_path, text, declare("document", ("x",), {"kind": "tsv"}))
    assert [row.get("doc_id") for row in rows] == [None, None]

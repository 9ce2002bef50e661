"""LinkBERT's layout: lines made from BLURB's rows as its conversion makes them give BLURB's rows back."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from blurb import data, tasks
from blurb.corpora import demo
from blurb.data.readers import linkbert
from blurb.data.schema import Example
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS, Task


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
@settings(max_examples=40, deadline=None)
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

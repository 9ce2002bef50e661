"""The checks on hand-made examples, one a rule; the known figures of the corpora are in `test_audit_real.py`."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from blurb import tasks
from blurb.checkpoints.source import reader_of
from blurb.data.schema import Example, leaked_ids, to_dataset
from blurb.extensions.reports.audit import audit
from blurb.extensions.reports.audit.audited import AuditedTask, AuditFinding, gather
from blurb.extensions.reports.audit.duplicates import (
    between,
    conflicts,
    documents,
    repeated,
    shared,
)
from blurb.extensions.reports.audit.encoding import characters, entities, illegal, kinds, windows
from blurb.inputs.features import Features, Ragged
from blurb.inputs.tokenized_split import TokenizedSplit
from blurb.learners.building import resolve_model
from blurb.messages.errors import DataError
from tests.conftest import Builder
from tests.data import samples

LONG = "kalo mi tra nex vor pil"


def sentence(id_: str, words: str, tags: str = "", doc_id: str | None = None) -> Example:
    tokens = words.split()
    short = tags.split() or ["O"] * len(tokens)
    return {
        "id": id_,
        "doc_id": doc_id,
        "tokens": tokens,
        "tags": [tag if tag == "O" else f"{tag}-GENE" for tag in short],
    }


def text(id_: str, content: str, label: str = "0") -> Example:
    return {"id": id_, "doc_id": None, "text": content, "label": label}


def corpus(name: str = "bc2gm", **splits: list[Example]) -> AuditedTask:
    return AuditedTask(tasks.get(name), splits)  # type: ignore[arg-type]


def cells(findings: Sequence[AuditFinding]) -> list[tuple[object, ...]]:
    return [
        (found.where, found.kind, found.count, found.distinct, found.long, found.ids)
        for found in findings
    ]


def test_copies_within_a_split() -> None:
    rows = [
        sentence("a", "mi ."),
        sentence("b", LONG),
        sentence("c", "mi ."),
        sentence("d", LONG),
        sentence("e", LONG),
    ]
    (found,) = repeated(corpus(train=rows))
    assert cells([found]) == [("train", "", 3, 2, 2, ("c", "d", "e"))]
    assert found.others == ("a", "b", "b")
    assert not list(repeated(corpus(train=rows[:2])))


def test_inputs_in_two_splits_whatever_their_labels() -> None:
    train, dev = (
        [sentence("a", LONG), sentence("b", "mi .")],
        [sentence("c", "sey"), sentence("d", LONG)],
    )
    test = [
        sentence("e", LONG, "B I O O O O"),
        sentence("f", "mi ."),
        sentence("g", LONG),
        sentence("h", "Mi ."),
    ]
    found = list(between(corpus(train=train, dev=dev, test=test)))
    assert cells(found) == [
        ("test in train", "", 3, 2, 2, ("e", "g", "f")),
        ("test in dev", "", 2, 1, 2, ("e", "g")),
        ("dev in train", "", 1, 1, 1, ("d",)),
    ]
    assert found[0].others == ("a", "a", "b")
    assert leaked_ids({"train": train, "dev": dev, "test": test}) == {"e", "f", "g"}
    assert leaked_ids({"test": test}) == set()
    datasets: Any = {
        "train": to_dataset(train, tasks.types.get("ner")),
        "test": to_dataset(test, tasks.types.get("ner")),
    }
    assert leaked_ids(datasets) == {"e", "f", "g"}


PAIR = {"id": "1", "text_a": "mi", "text_b": "sey", "score": 1.0}
QUESTION = {"id": "1", "question": "mi ?", "context": "sey", "label": "yes"}
HEAD, TAIL = {"start": 0, "end": 2, "type": "X"}, {"start": 3, "end": 5, "type": "X"}
RELATION = {"id": "1", "doc_id": None, "text": "mi mi mi", "label": "0", "head": HEAD, "tail": TAIL}


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (PAIR, {"id": "2", "text_a": "sey", "text_b": "mi", "score": 2.0}, True),
        (PAIR, {"id": "2", "text_a": "sey", "text_b": "sey", "score": 1.0}, False),
        (QUESTION, {**QUESTION, "id": "2", "label": "no"}, True),
        (QUESTION, {**QUESTION, "id": "2", "context": "mi"}, False),
        (RELATION, {**RELATION, "id": "2", "label": "1"}, True),
        (RELATION, {**RELATION, "id": "2", "tail": {**TAIL, "start": 6, "end": 8}}, False),
        # One token with a blank is not two tokens
        ({**sentence("1", "x"), "tokens": ["a b"]}, sentence("2", "a b"), False),
    ],
)
def test_what_makes_two_inputs_the_same(first: Example, second: Example, same: bool) -> None:
    assert (leaked_ids({"train": [first], "test": [second]}) == {second["id"]}) == same


def test_equal_inputs_with_other_labels() -> None:
    train = [text("a", LONG, "0"), text("b", "mi", "0")]
    test = [text("c", LONG, "1"), text("d", LONG, "1"), text("e", LONG, "0"), text("f", "mi", "0")]
    found = list(conflicts(corpus("gad", train=train, test=test)))
    assert cells(found) == [("train", "", 1, 1, 1, ("a",)), ("test", "", 3, 1, 3, ("c", "d", "e"))]
    assert [one.effect for one in found] == [
        "learnt with several answers",
        "1 are wrong for any model",
    ]
    (_, only) = conflicts(corpus("gad", train=train, test=test[:1]))
    assert only.effect == "another answer in another split"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=8))
def test_no_model_does_better_than_the_conflicts_allow(rows: list[tuple[int, int]]) -> None:
    """Brute force: every way to give each input one answer."""
    test = [
        text(str(number), f"input {content}", str(label))
        for number, (content, label) in enumerate(rows)
    ]
    contents = sorted({content for content, _ in rows})
    most = max(
        sum(dict(zip(contents, answers, strict=True))[content] == label for content, label in rows)
        for answers in itertools.product(range(3), repeat=len(contents))
    )
    found = [one.effect for one in conflicts(corpus("gad", test=test))]
    assert found == ([f"{len(rows) - most} are wrong for any model"] if most < len(rows) else [])


def test_documents_that_come_again() -> None:
    train = [sentence(str(number), "x", doc_id=doc_id) for number, doc_id in enumerate("AABBAC")]
    test = [
        sentence("t", "x", doc_id="C"),
        sentence("u", "x", doc_id=None),
        sentence("v", "x", doc_id=None),
    ]
    assert [
        (one.where, one.kind, one.count, one.ids)
        for one in list(documents(corpus(train=train, test=test)))
    ] == [("train", "twice", 1, ("A",)), ("test in train", "in both", 1, ("C",))]


def test_a_document_twice_in_the_original_release_of_ncbi_disease(tmp_path: Path) -> None:
    samples.put(tmp_path / "data", "ncbi-disease", "mi\tB\n")
    task = tasks.get("ncbi-disease")
    corpora, _, notes = gather([task], tmp_path / "data")
    assert any("8528200" in note for note in notes)
    assert not list(documents(corpora[0]))
    (tmp_path / "raw" / "NCBI").mkdir(parents=True)
    entry = "{0}|t|Mi\n{0}|a|Sey .\n{0}\t0\t2\tMi\tModifier\tD1\n\n"
    content = "\n" + "".join(map(entry.format, ("71", "8528200", "72", "8528200")))
    (tmp_path / "raw" / "NCBI" / "NCBItrainset_corpus.txt").write_text(content, encoding="utf-8")
    corpora, _, notes = gather([task], tmp_path / "data", tmp_path / "raw")
    assert not any("8528200" in note for note in notes)
    (found,) = documents(corpora[0])
    assert (found.where, found.count, found.ids) == ("NCBItrainset_corpus.txt", 1, ("8528200",))


def test_an_original_of_ncbi_disease_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    samples.put(tmp_path / "data", "ncbi-disease", "mi\tB\n")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "NCBItrainset_corpus.txt").write_bytes(b"1|t|Mi\n2|t|M\xe9\n")
    with pytest.raises(DataError, match=r"NCBItrainset_corpus.txt:2: this line is not UTF-8"):
        gather([tasks.get("ncbi-disease")], tmp_path / "data", tmp_path / "raw")


def test_sentences_that_two_tasks_share() -> None:
    one = corpus(train=[sentence("a", LONG)], test=[sentence("b", "sey ( mi ) tra nex vor")])
    other = corpus(
        "pubmedqa",
        train=[
            {
                "id": "q",
                "question": "mi ?",
                "context": "Kalo. Sey (mi) tra nex vor fin? Sey (mi) tra Nex vor bo.",
                "label": "yes",
            }
        ],
        test=[{"id": "r", "question": f"{LONG} ", "context": "mi mi mi mi mi.", "label": "yes"}],
    )
    assert [
        (found.task, found.where, found.ids, found.others) for found in shared([one, other])
    ] == [("pubmedqa", "test in train of bc2gm", ("r",), ("a",))]
    longer = corpus(
        test=[sentence("b", "sey ( mi ) tra nex vor fin ?"), sentence("c", "mi mi mi mi mi .")]
    )
    (found,) = shared([longer, other])
    assert (found.task, found.where, found.ids, found.others) == (
        "bc2gm",
        "test in train of pubmedqa",
        ("b",),
        ("q",),
    )


def test_text_with_dummies_is_compared_as_it_was() -> None:
    dummies = [text("p", "@DRUG$ mi tra nex vor @DRUG$")]
    masked = AuditedTask(
        tasks.get("ddi"), {"train": dummies}, originals={"train": [text("p", LONG)]}
    )
    other = corpus(test=[sentence("b", LONG)])
    assert [found.others for found in shared([masked, other])] == [("p",)]
    assert not list(shared([corpus("ddi", train=dummies), other]))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("kalo mi", []),
        ("na\u00efve \u03b2", []),
        ("a\u00a0b", ["blank that is no space"]),
        ("a\u2009b", ["blank that is no space"]),
        ("a  b", ["several blanks"]),
        ("a ", ["blank at an end"]),
        ("a\u200bb", ["invisible character"]),
        ("a\x0bb", ["control character"]),
        ("a\ufffdb", ["replacement character"]),
        ("\uf0b0", ["private or no character"]),
        ("\u03b2".encode().decode("latin-1"), ["UTF-8 read as Latin-1"]),
        ("\u2019".encode().decode("cp1252"), ["UTF-8 read as Latin-1"]),
        ("p &lt; 3", ["HTML entity"]),
        ("AT&T; R&D", []),
        ("&#945;", ["HTML entity"]),
        ("nai\u0308ve", ["not in composed form"]),
    ],
)
def test_characters(content: str, expected: list[str]) -> None:
    # What was read in the wrong encoding may hold control characters as well.
    assert [
        kind
        for kind in kinds(text("a", content))
        if kind != "control character" or kind in expected
    ] == expected


def test_what_is_odd_of_a_file(tmp_path: Path) -> None:
    assert samples.put(
        tmp_path, "gad", b"\xef\xbb\xbf" + samples.SAMPLES["gad"].replace("\n", "\r\n").encode()
    ).is_file()
    (found,), unreadable, notes = gather([tasks.get("gad")], tmp_path)
    assert not unreadable
    assert [note.partition(":")[0] for note in notes] == [
        "gad",
        "gad",
        "Documents are not compared where the files do not name them",
    ]
    assert {(one.kind, one.count) for one in characters(found)} == {
        ("file with byte order mark", 1),
        ("file with CR LF", 3),
    }


def test_illegal_tags() -> None:
    rows = [
        sentence("a", "k l m", "I I B"),
        sentence("b", "k l m", "B I O"),
        sentence("c", "k l", "O I"),
    ]
    rows.append({**sentence("d", "k l"), "tags": ["B-X", "I-Y"]})
    (found,) = illegal(corpus(train=rows))
    assert (found.count, found.ids) == (3, ("a", "c", "d"))


def test_an_illegal_tag_in_a_file_is_unreadable_and_quotes_nothing(tmp_path: Path) -> None:
    samples.put(tmp_path, "bc5-chem", "kalo\tO\nmi\tI\n")
    corpora, (found,), notes = gather([tasks.get("bc5-chem")], tmp_path)
    assert (found.check, found.where, found.kind) == ("unreadable", "train", "line 2")
    assert any("tag I does not follow a B" in note for note in notes)
    assert audit(corpora) == []


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O O B O O", []),
        ("O O B I O", [("word without sub-token", 1)]),
        ("B O O O B", [("border within a sub-token", 1)]),
        ("B I O B O", [("word without sub-token", 1), ("border within a sub-token", 1)]),
        ("B B O O O", []),  # one feature can say B twice
        ("O O O O B", []),
    ],
)
def test_entities_that_share_or_lack_a_sub_token(
    tags: str, expected: list[tuple[str, int]]
) -> None:
    """Words 0 and 1 have one sub-token, word 3 has none: seen by hand-made features, whatever tokenizer does this."""
    features = Features(
        ids=Ragged.of([[9, 1, 2, 3, 9]]),
        example_index=np.array([0]),
        word_ids=Ragged.of([[0, 1, 2, 4]]),
        word_starts=Ragged.of([[1, 1, 2, 3]]),
        word_ends=Ragged.of([[2, 2, 3, 4]]),
    )
    reading = TokenizedSplit(features, 512, [], features, (1, 1))
    rows = {"test": [sentence("a", "k l m n o", tags)]}
    found = entities(AuditedTask(tasks.get("bc2gm"), rows, readings={"test": reading}))
    assert [(one.kind, one.count) for one in found] == expected


def test_a_word_that_a_real_kind_of_tokenizer_drops(checkpoint: Builder) -> None:
    read = reader_of(resolve_model(str(checkpoint("bert_uncased"))))
    rows = [sentence("a", "kalo \u200b\u200d mi", "O B O"), sentence("b", "kalo mi", "B O")]
    task = tasks.get("bc2gm")
    (found,) = entities(AuditedTask(task, {"test": rows}, readings={"test": read(task, rows)}))
    assert (found.kind, found.count, found.ids) == ("word without sub-token", 1, ("a",))


@pytest.mark.parametrize("kind", ["bert_uncased", "t5"])
def test_pairs_that_a_limit_takes_apart(checkpoint: Builder, kind: str) -> None:
    read = reader_of(resolve_model(str(checkpoint(kind))))
    task = tasks.get("ddi")

    def row(id_: str, before: int, between_: int, after: int) -> Example:
        parts = ["mi " * before, "@DRUG$ ", "mi " * between_, "@DRUG$", " mi" * after]
        content = "".join(parts)
        places = [len(parts[0]), len("".join(parts[:3]))]
        spans = {
            role: {"start": at, "end": at + 6, "type": "DRUG"}
            for role, at in zip(("head", "tail"), places, strict=True)
        }
        return {"id": id_, "doc_id": None, "text": content, "label": "DDI-false", **spans}

    rows = [
        row("short", 3, 3, 3),
        row("first", 0, 5, 400),
        row("last", 400, 5, 0),
        row("apart", 2, 600, 2),
    ]
    reading = read(task, rows)
    found = windows(AuditedTask(task, {"test": rows}, readings={"test": reading}))
    assert {one.kind: one.ids for one in found} == {
        "longer than the limit": ("first", "last", "apart"),
        "wider than the limit": ("apart",),
        "beyond a cut at the end": ("last", "apart"),
    }
    assert reading.cut.windowed == 3


def test_a_pair_of_which_nothing_is_left_is_lost() -> None:
    """Made by hand: dummies always leave something. Of a lost entity the features say that it is the whole input."""

    def features(length: int, entities: list[list[int]]) -> Features:
        return Features(
            ids=Ragged.of([range(length)]),
            example_index=np.array([0]),
            entities=np.array([entities]),
        )

    for before, head, lost in (
        (1, [0, 7], True),
        (1, [1, 2], False),
        (0, [0, 7], True),
        (0, [0, 2], False),
    ):
        reading = TokenizedSplit(
            features(20, [[1, 2], [3, 4]]), 8, [0], features(8, [head, [3, 4]]), (before, 1)
        )
        found = windows(
            AuditedTask(tasks.get("ddi"), {"test": [text("a", "")]}, readings={"test": reading})
        )
        assert ("lost by the window" in {one.kind for one in found}) == lost

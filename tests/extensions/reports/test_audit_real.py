"""The audit finds what was counted before it (docs/benchmark.md, "Leaks and copies"), and what plain lines show."""

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from blurb import tasks
from blurb.checkpoints.source import reader_of
from blurb.data.schema import Example, count_words, input_texts, leaked_ids
from blurb.extensions.reports.audit.audited import AuditedTask, AuditFinding
from blurb.extensions.reports.audit.duplicates import (
    between,
    conflicts,
    documents,
    repeated,
    shared,
)
from blurb.extensions.reports.audit.encoding import characters, entities, illegal, windows
from blurb.inputs.tokenized_split import Read
from blurb.learners.building import resolve_model
from blurb.tasks import SPLITS, Split
from tests.cli.in_process import ran, run

pytestmark = pytest.mark.real
Rows = Callable[[str, Split], list[Example]]
Corpora = Callable[[str], AuditedTask]


@pytest.fixture(scope="module")
def corpora(real_rows: Rows) -> Corpora:
    @cache
    def corpus(name: str) -> AuditedTask:
        there = SPLITS if name != "ebm-pico" else ("dev", "test")
        return AuditedTask(tasks.get(name), {split: real_rows(name, split) for split in there})

    return corpus


@pytest.fixture(scope="module")
def read(minilm: Path) -> Read:
    """BERT's uncased vocabulary."""
    return reader_of(resolve_model(str(minilm)))


def at(findings: list[AuditFinding], where: str) -> AuditFinding | None:
    return next((one for one in findings if one.where == where), None)


# name -> test inputs in train, different ones, those of at least six words
LEAKS = {
    "bc5-chem": (16, 8, 0),
    "bc5-disease": (16, 8, 0),
    "ncbi-disease": (1, 1, 1),
    "bc2gm": (53, 33, 12),
    "jnlpba": (108, 103, 101),
    "chemprot": (5, 5, 5),
    "ddi": (34, 34, 33),
    "gad": (8, 5, 8),
    "hoc": (6, 6, 0),
}


@pytest.mark.costly
@pytest.mark.parametrize(
    "name",
    [task.name for task in tasks.select_tasks("all") if task.name not in ("ebm-pico", "bioasq")],
)
def test_test_inputs_in_train(corpora: Corpora, name: str) -> None:
    corpus = corpora(name)
    found = at(list(between(corpus)), "test in train")
    assert (None if found is None else (found.count, found.distinct, found.long)) == LEAKS.get(name)
    # Another way: rows compared one by one as strings of the reader's JSON, labels and ids left out.
    known = {_plain(row) for row in corpus.splits["train"]}
    brute = {row["id"] for row in corpus.splits["test"] if _plain(row) in known}
    assert leaked_ids(dict(corpus.splits)) == brute == set(() if found is None else found.ids)


def _plain(row: Example) -> str:
    return json.dumps(
        {
            key: row[key]
            for key in row
            if key not in ("id", "doc_id", "tags", "label", "labels", "score")
        }
    )


def test_the_101_leaks_of_jnlpba_in_the_lines_of_the_files(real_data: Path) -> None:
    """98 different sentences: read from the files by splitting at blank lines."""

    def sentences(split: str) -> list[str]:
        content = (real_data / "JNLPBA" / f"{split}.tsv").read_text(encoding="utf-8")
        blocks = (
            re.sub(r"\t[BIO]$", "", block, flags=re.MULTILINE)
            for block in re.split(r"\n{2,}", content)
        )
        return [block for block in blocks if block.count("\n") >= 5]

    train, test = set(sentences("train")), sentences("test")
    assert (sum(one in train for one in test), len({one for one in test if one in train})) == (
        101,
        98,
    )


@pytest.mark.parametrize(
    ("name", "dev_in_test", "copies"),
    [("bc5-chem", 3, 7), ("ncbi-disease", 0, 24), ("bc2gm", 5, 76), ("jnlpba", 3, 71)],
)
def test_other_counts_of_the_mtl_files(
    corpora: Corpora, name: str, dev_in_test: int, copies: int
) -> None:
    assert at(list(between(corpora(name))), "test in dev").long == dev_in_test
    assert at(list(repeated(corpora(name))), "train").count == copies


@pytest.mark.parametrize(("name", "short"), [("bc5-chem", 16), ("bc2gm", 41)])
def test_short_test_sentences_in_train(corpora: Corpora, name: str, short: int) -> None:
    rows = {row["id"]: row for row in corpora(name).splits["test"]}
    assert (
        sum(count_words(rows[id_]) < 6 for id_ in leaked_ids(dict(corpora(name).splits))) == short
    )


COPIES = {
    "bc5-chem": 9,
    "bc5-disease": 9,
    "ncbi-disease": 3,
    "bc2gm": 23,
    "jnlpba": 26,
    "ebm-pico": 1,
    "chemprot": 117,
    "ddi": 50,
    "gad": 26,
    "hoc": 4,
    "biosses": 0,
    "pubmedqa": 0,
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_within_test(corpora: Corpora, name: str) -> None:
    rows = corpora(name).splits["test"]
    found = at(list(repeated(corpora(name))), "test")
    assert (
        (0 if found is None else found.count)
        == len(rows) - len(set(map(_plain, rows)))
        == COPIES[name]
    )


@pytest.mark.parametrize(("name", "count", "distinct"), [("ddi", 80, 78), ("gad", 39, 39)])
def test_dev_rows_in_train(corpora: Corpora, name: str, count: int, distinct: int) -> None:
    found = at(list(between(corpora(name))), "dev in train")
    assert (found.count, found.distinct) == (count, distinct)


def test_copies_in_gad(corpora: Corpora, real_data: Path) -> None:
    """26 in test, 4 in dev, 134 in train; counted from the lines as well."""
    found = {one.where: one.count for one in repeated(corpora("gad"))}
    assert found == {"train": 134, "dev": 4, "test": 26}
    for split, count in found.items():
        lines = (
            (real_data / "GAD" / f"{split}.tsv")
            .read_text(encoding="utf-8")
            .rstrip("\n")
            .split("\n")[1:]
        )
        assert (
            sum(times - 1 for times in Counter(line.split("\t")[1] for line in lines).values())
            == count
        )


def test_documents_of_jnlpba(corpora: Corpora) -> None:
    found = {one.where: one for one in documents(corpora("jnlpba"))}
    assert found["train"].ids == ("97218353",)
    assert found["test"].count == 2  # 402 of 404 are different
    both = found["test in train"].ids
    assert len(both) == 10
    # They are where the leaked sentences come from.
    rows = [row for row in corpora("jnlpba").splits["test"] if count_words(row) >= 6]
    leaked = leaked_ids(dict(corpora("jnlpba").splits))
    assert sum(row["doc_id"] in both for row in rows if row["id"] in leaked) >= 90


@pytest.mark.parametrize("name", ["bc5-chem", "chemprot", "ddi", "hoc", "ebm-pico", "ncbi-disease"])
def test_no_document_comes_twice_elsewhere(corpora: Corpora, name: str) -> None:
    assert list(documents(corpora(name))) == []


CONFLICTS = {
    "bc5-chem": {},
    "bc5-disease": {"dev": 1, "test": 1},
    "ncbi-disease": {"train": 2},
    "bc2gm": {"train": 6, "dev": 4, "test": 4},
    "jnlpba": {"train": 38, "test": 38},
    "ebm-pico": {"dev": 2},
    "chemprot": {},
    "ddi": {"train": 53, "test": 9},
    "gad": {},
    "biosses": {},
    "hoc": {"train": 2},
    "pubmedqa": {},
}


def test_what_no_model_gets_right_in_the_test_of_jnlpba(corpora: Corpora) -> None:
    assert at(list(conflicts(corpora("jnlpba"))), "test").effect == "6 are wrong for any model"


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicting_labels(corpora: Corpora, name: str) -> None:
    corpus = corpora(name)
    found = list(conflicts(corpus))
    assert {one.where: one.count for one in found} == CONFLICTS[name]
    gold: dict[str, set[str]] = {}
    for rows in corpus.splits.values():
        for row in rows:
            gold.setdefault(_plain(row), set()).add(
                str(row.get("tags", row.get("label", row.get("labels"))))
            )
    for split, rows in corpus.splits.items():
        brute = [row["id"] for row in rows if len(gold[_plain(row)]) > 1]
        one = at(found, split)
        assert sorted(brute) == sorted(() if one is None else one.ids)


def test_illegal_tags_are_those_of_pico_alone(corpora: Corpora) -> None:
    assert {one.where: one.count for one in illegal(corpora("ebm-pico"))} == {
        "dev": 17_029,
        "test": 4_190,
    }
    assert not any(list(illegal(corpora(task.name))) for task in tasks.select_tasks("ner"))


ODD = {
    "bc5-chem": {},
    "bc5-disease": {},
    "ncbi-disease": {},
    "bc2gm": {},
    "jnlpba": {},
    "ebm-pico": {},
    "chemprot": {"blank that is no space": 440, "private or no character": 11},
    "ddi": {"several blanks": 1778, "blank at an end": 6182, "HTML entity": 6},
    "gad": {"several blanks": 236},
    "biosses": {"blank that is no space": 9, "several blanks": 3},
    "hoc": {"replacement character": 65, "blank that is no space": 46, "not in composed form": 1},
    "pubmedqa": {"several blanks": 6, "blank that is no space": 103},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_characters(corpora: Corpora, name: str) -> None:
    found: Counter[str] = Counter()
    for one in characters(corpora(name)):
        found[one.kind] += one.count
    assert found == ODD[name]
    rows = [row for rows in corpora(name).splits.values() for row in rows]
    if "several blanks" in ODD[name]:
        assert (
            sum("  " in "|".join(input_texts(row)) for row in rows) == ODD[name]["several blanks"]
        )
    if "replacement character" in ODD[name]:
        assert sum("\ufffd" in row["text"] for row in rows) == ODD[name]["replacement character"]


@pytest.mark.costly
def test_sentences_in_two_corpora(corpora: Corpora) -> None:
    found = {one.task: one for one in shared([corpora("bc2gm"), corpora("jnlpba")])}
    assert {name: one.count for name, one in found.items()} == {"bc2gm": 20, "jnlpba": 9}
    for name, other in (("bc2gm", "jnlpba"), ("jnlpba", "bc2gm")):
        # Another way: letters, digits and signs in a row, capitals made small, looked for in one long text.
        train = "\n".join(
            re.sub(r"\s", "", input_texts(row)[0]).lower() for row in corpora(other).splits["train"]
        )
        keys = {
            row["id"]: re.sub(r"\s", "", input_texts(row)[0]).lower()
            for row in corpora(name).splits["test"]
        }
        long = {row["id"] for row in corpora(name).splits["test"] if count_words(row) >= 6}
        assert {id_ for id_ in long if f"\n{keys[id_]}\n" in f"\n{train}\n"} == set(found[name].ids)


def test_bc5_shares_no_long_test_sentence_with_its_other_half(corpora: Corpora) -> None:
    assert list(shared([corpora("bc5-chem"), corpora("bc5-disease")])) == []


@pytest.mark.parametrize(
    ("name", "long", "apart", "end"),
    [
        pytest.param("gad", 10, 0, 4, marks=pytest.mark.costly),
        pytest.param("chemprot", 512, 51, 257, marks=pytest.mark.slow),
        pytest.param("ddi", 2_669, 73, 805, marks=pytest.mark.slow),
    ],
)
def test_windows(corpora: Corpora, read: Read, name: str, long: int, apart: int, end: int) -> None:
    corpus = corpora(name)
    readings = {split: read(corpus.task, rows) for split, rows in corpus.splits.items()}
    found: Counter[str] = Counter()
    for one in windows(AuditedTask(corpus.task, corpus.splits, readings=readings)):
        found[one.kind] += one.count
    expected = {
        "longer than the limit": long,
        "wider than the limit": apart,
        "beyond a cut at the end": end,
    }
    # And none is lost by the window
    assert found == {kind: count for kind, count in expected.items() if count}


@pytest.mark.costly
def test_every_entity_of_bc5_has_sub_tokens_of_its_own(corpora: Corpora, read: Read) -> None:
    corpus = corpora("bc5-chem")
    readings = {"test": read(corpus.task, corpus.splits["test"])}
    assert list(entities(AuditedTask(corpus.task, corpus.splits, readings=readings))) == []  # type: ignore[arg-type]


def test_the_document_that_stands_twice_in_the_original_of_ncbi_disease(test_data: Path) -> None:
    if not list((test_data / "raw_data").rglob("NCBItrainset_corpus.txt")):
        pytest.skip(
            "the original release of NCBI-disease is not in raw_data; BLURB's files come de-duplicated"
        )
    folders = ["--data", str(test_data / "blurb"), "--raw", str(test_data / "raw_data")]
    arguments = ["data", "audit", *folders, "--tasks", "ncbi-disease", "--format", "json"]
    output = run(*arguments).stdout
    (found,) = (one for one in json.loads(output) if one["check"] == "documents")
    assert found["ids"] == ["8528200"]


@pytest.mark.costly
def test_no_text_of_a_corpus_is_in_the_output(
    real_data: Path, corpora: Corpora, tmp_path: Path
) -> None:
    names = "gad,hoc,biosses,bc2gm,jnlpba,ddi"
    arguments = ["data", "audit", "--data", str(real_data), "--tasks", names]
    table = ran([*arguments, "--out", str(tmp_path / "all.csv")])
    assert max(map(len, table.stdout.splitlines())) <= 120
    written = " ".join((table.output + (tmp_path / "all.csv").read_text(encoding="utf-8")).split())
    for name in names.split(","):
        for rows in corpora(name).splits.values():
            for row in rows:
                for text in input_texts(row):
                    start = " ".join(text.split()[:4])
                    assert len(start) < 12 or start not in written

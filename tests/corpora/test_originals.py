"""The original releases of ChemProt and DDI give BLURB's rows, and what is broken in them is named."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from blurb import data, tasks
from blurb.corpora.original_readers import chemprot, ddi, load_original
from blurb.data.schema import Example
from blurb.inputs.relations import dummify_entities
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS, Split

XML = """<document id="D.d1"><sentence id="D.d1.s0" text="{text}">
<entity id="D.d1.s0.e0" charOffset="0-3" type="drug" text="aaaa"/>
<entity id="D.d1.s0.e1" charOffset="5-6;10-12" type="brand" text="bb"/>
<pair id="D.d1.s0.p0" e1="D.d1.s0.e1" e2="D.d1.s0.e0" ddi="{ddi}" {type}/></sentence></document>"""


@pytest.mark.costly
@pytest.mark.real
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", ["chemprot", "ddi"])
def test_dummified_originals_are_blurbs_rows_in_their_order(
    name: str, split: Split, test_data: Path, real_rows: Callable[[str, Split], list[Example]]
) -> None:
    reader = {"chemprot": chemprot, "ddi": ddi}[name]
    rows = [
        dummify_entities(row) for row in reader.read(test_data / "raw_data", tasks.get(name), split)
    ]
    assert rows == real_rows(name, split)


@pytest.mark.real
def test_the_sentences_of_chemprot_are_those_of_nltk(
    test_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    punkt = pytest.importorskip("nltk.tokenize.punkt")
    monkeypatch.setattr("nltk.data.path", [str(test_data / "nltk_data")])
    tokenizer = punkt.PunktTokenizer("english")
    lines = [
        line
        for path in sorted((test_data / "raw_data").rglob("chemprot_*abstracts*.tsv"))
        for line in path.open()
    ]
    assert len(lines) == len(chemprot._sentence_ends()) == 2_432
    for line in lines:
        pmid, _, text = line.rstrip("\n").partition("\t")
        expected = []
        for start, end in tokenizer.span_tokenize(text + "\n"):
            for part in text[start:end].split("\t"):
                expected.append((start, start + len(part)))
                start += len(part) + 1
        assert list(chemprot._sentence_places(text, chemprot._sentence_ends()[pmid])) == expected


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """A DDI release whose train split is one file with this content."""
    monkeypatch.setattr(ddi, "load_split_lists", lambda name: {"train": ["train_dataset/x y.xml"]})

    def write(content: str) -> Path:
        path = tmp_path / "deep" / ddi.TOP / "train_dataset" / "x y.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return tmp_path

    return write


def test_a_discontinuous_entity_reaches_from_its_first_to_its_last_character(
    one_file: Callable[[str], Path],
) -> None:
    folder = one_file(XML.format(text="aaaa bb&#13;&#10; ccc d", ddi="true", type='type="int"'))
    (row,) = ddi.read(folder, tasks.get("ddi"), "train")
    assert row["text"] == "aaaa bb   ccc d"  # each of CR and LF is a blank
    assert (row["head"]["start"], row["head"]["end"]) == (
        0,
        4,
    )  # the order of the text, not of the pair
    assert (row["tail"]["start"], row["tail"]["end"]) == (5, 13)
    assert row["label"] == "DDI-int"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<document", "not well-formed"),
        (XML.format(text="t", ddi="true", type='type="other"'), "unknown label"),
        (
            XML.format(text="t", ddi="false", type="").replace('e2="D.d1.s0.e0"', 'e2="gone"'),
            "refers to the entity",
        ),
        ('<!DOCTYPE x [<!ENTITY a "b">]><document id="d">&a;</document>', "not well-formed"),
    ],
)
def test_broken_xml_is_named(one_file: Callable[[str], Path], content: str, message: str) -> None:
    with pytest.raises(DataError, match=f"x y.xml.*{message}"):
        list(ddi.read(one_file(content), tasks.get("ddi"), "train"))


def test_a_split_without_examples_is_named(one_file: Callable[[str], Path]) -> None:
    """As in a file of BLURB's layout; `datasets` ended the command with its own words about keys that do not match."""
    folder = one_file('<document id="D.d1"><sentence id="D.d1.s0" text="aaaa"/></document>')
    with pytest.raises(DataError, match=r"the originals of ddi have no examples for train\."):
        load_original(tasks.get("ddi"), folder, ["train"])


def test_the_archive_is_read_as_it_is(one_file: Callable[[str], Path], tmp_path: Path) -> None:
    content = XML.format(text="aaaa bb   ccc", ddi="false", type="").encode()
    folder = tmp_path / "packed"
    folder.mkdir()
    with tarfile.open(folder / f"{ddi.TOP}.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(f"{ddi.TOP}/train_dataset/x y.xml")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    one_file("")  # the listing
    (row,) = ddi.read(folder, tasks.get("ddi"), "train")
    assert row["label"] == "DDI-false"
    (folder / f"{ddi.TOP}.tar.gz").write_bytes(b"cut")
    with pytest.raises(DataError, match="truncated or damaged"):
        list(ddi.read(folder, tasks.get("ddi"), "train"))


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="DDIextraction_2013"):
        list(ddi.read(tmp_path, tasks.get("ddi"), "train"))
    with pytest.raises(DataError, match="chemprot_training_abstracts"):
        list(chemprot.read(tmp_path, tasks.get("chemprot"), "train"))


@pytest.mark.costly
@pytest.mark.real
def test_an_original_has_a_hash_of_its_own_and_the_verdict_of_its_dummified_form(
    test_data: Path,
) -> None:
    task = tasks.get("ddi")
    original, published = (
        load_original(task, test_data / "raw_data"),
        data.load_task(task, test_data / "blurb"),
    )
    assert original.verdict == published.verdict == "identical"
    assert original.hash != published.hash
    assert len(original.splits["train"]) == 25_296

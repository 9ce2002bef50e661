"""The original releases of ChemProt and DDI give BLURB's rows, and what is broken in them is named."""

import io
import json
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from blurb import data, tasks
from blurb.corpora import original_readers as prepared
from blurb.corpora.original_readers import chemprot, ddi, load_original
from blurb.data.schema import Example, hash_rows, to_dataset
from blurb.inputs.relations import STRATEGIES, dummify_entities, mark
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
    assert [
        dummify_entities(row) for row in reader.read(test_data / "raw_data", tasks.get(name), split)
    ] == real_rows(name, split)


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
    # The order of the text, not of the pair
    assert (row["head"]["start"], row["head"]["end"]) == (0, 4)
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


# Prepared originals, JSON lines: what is right is read, what is wrong is named with file and line.


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
    assert (loaded.splits["dev"][0]["head"], loaded.verdict) == (ROW["head"], "differs")
    prepared.path_of(tmp_path, TASK, "dev").unlink()  # never the rest from elsewhere
    with pytest.raises(DataError, match=r"dev\.jsonl: the file is missing"):
        load_original(TASK, tmp_path)
    # No prepared rows of this task: its own reader
    with pytest.raises(DataError, match="DDIextraction_2013"):
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


@settings(max_examples=100)
@given(st.binary(max_size=60))
@example(b"\xef\xbb\xbf")
def test_arbitrary_bytes(content: bytes) -> None:
    check(content)


@pytest.mark.costly
@settings(max_examples=200)
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


@settings(max_examples=200)
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

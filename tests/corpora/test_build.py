"""From tiny originals to the BLURB layout: exact bytes, whole or not at all, and whatever is wrong is named."""

import dataclasses
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blurb import tasks
from blurb.corpora import build as module
from blurb.corpora.build import MissingRelease, build_task
from blurb.data import read_split
from blurb.data.loading import DatasetVerification
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS
from tests.corpora.originals import (
    FILES,
    NAMES,
    XML,
    docx,
    put,
    question,
    small_lists,
    tarred,
    zipped,
)

MANIFEST = ("manifest.json",)
PICO = "-DOCSTART- ({})\n\nkalo\tI-PAR\nmi\tI-INT\n.\tI-INT\n\ntra\tI-OUT\n"
HOC = (
    "labels\tsentence\tindex\n0_0,1_0,2_0,3_0,4_0,5_0,6_0,7_0,8_0,9_0\tkalo mi .\t{0}_s0\n"
    "0_0,1_0,2_1,3_0,4_0,5_0,6_0,7_1,8_0,9_0\ttra .\t{0}_s1\n"
)
# What BLURB's kit makes of these, written out by hand after the formats of docs/data.md.
EXPECTED: dict[str, dict[str, str]] = {
    "bc2gm": dict.fromkeys(SPLITS, "kalo\tB\nmi\tI\n.\tO\n\ntra\tO\n\n"),
    "jnlpba": {
        "train": "-DOCSTART- 1\n\nkalo\tB\nmi\tI\n\n",
        "dev": "-DOCSTART- 2\n\ntra\tB\n\n",
        "test": "-DOCSTART- 3\n\nnex\tB\n\n",
    },
    "ebm-pico": {
        split: PICO.format(number) for number, split in enumerate(SPLITS, 1)
    },  # OUT over INT over PAR
    "chemprot": dict.fromkeys(SPLITS, "7.T1.T2\tvex @CHEMICAL$ @GENE$ .\tCPR:4\n"),
    "ddi": {
        split: f"D.d{n}.s0.p0\t@DRUG$ vex @DRUG$.\tDDI-int\n" for n, split in enumerate(SPLITS)
    },
    "gad": {
        "train": 'index\tsentence\tlabel\n0\tkalo @GENE$ "mi @DISEASE$\t1\n1\t@GENE$ tra @DISEASE$\t0\n',
        "dev": "index\tsentence\tlabel\n0\t@DISEASE$ of @GENE$\t1\n",
        "test": "index\tsentence\tlabel\n0\t@GENE$ nex @DISEASE$\t0\n",
    },
    "biosses": {
        split: f"pair_id\tsent1\tsent2\tscore\n{number}\tkalo {number}.\ttra nex.\t{score}\n"
        for number, (split, score) in enumerate(zip(SPLITS, ("3.8", "0.0", "1.4"), strict=True), 1)
    },
    "hoc": {split: HOC.format(number) for number, split in enumerate(SPLITS, 1)},
    "bioasq": {
        "train": "a1\tkalo a1 ?\ttra nex . vor .\tyes\n",
        "dev": "b2\tkalo b2 ?\ttra nex . vor .\tno\n",
        "test": "".join(f"d{n}\tkalo d{n} ?\ttra nex . vor .\tyes\n" for n in range(5)),
    },
}


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with small_lists():
        yield


def run(name: str, raw: Path, out: Path) -> tuple[DatasetVerification, list[str]]:
    return build_task(tasks.get(name), raw, out)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def splits(folder: Path, name: str) -> dict[str, str]:
    return {
        split: (folder / path).read_bytes().decode()
        for split, path in tasks.get(name).files.items()
    }


@pytest.fixture
def gad(tmp_path: Path) -> tuple[Path, Path]:
    """The originals of GAD, and what was made of them."""
    raw, out = put(tmp_path / "raw", "gad"), tmp_path / "out"
    run("gad", raw, out)
    return raw, out


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_files_are_those_of_blurbs_kit(name: str, tmp_path: Path) -> None:
    run(name, put(tmp_path / "raw", name), tmp_path / "out")
    assert splits(tmp_path / "out", name) == EXPECTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read_and_is_nothing_else(name: str, tmp_path: Path) -> None:
    found, _ = run(name, put(tmp_path / "raw", name), tmp_path / "out")
    task = tasks.get(name)
    assert found.verdict == "differs"  # three sentences are not BLURB
    assert {
        split: len(read_split(task, tmp_path / "out", split)) > 0 for split in SPLITS
    } == dict.fromkeys(SPLITS, True)
    folder = task.files["test"].split("/")[0]
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {folder}
    assert set(files(tmp_path / "out")) == {*task.files.values(), *MANIFEST}


@pytest.mark.parametrize("pack", [tarred, zipped])
@pytest.mark.parametrize("name", NAMES)
def test_an_archive_gives_what_its_files_give(name: str, pack: object, tmp_path: Path) -> None:
    archive = {
        "bc5-chem": "MTL-Bioinformatics-2016-main",
        "bc5-disease": "MTL-Bioinformatics-2016",
        "gad": "REdata",
        "ncbi-disease": "MTL-Bioinformatics-2016",
        "bc2gm": "mtl-bioinformatics-2016",
        "jnlpba": "Genia4ERtraining",
        "ebm-pico": "ebm_nlp_2_00",
        "chemprot": "ChemProt_Corpus",
        "ddi": "DDIextraction_2013",
        "biosses": "BIOSSES-Dataset",
        "hoc": "Hallmarks-of-Cancer_text_labels",
        "pubmedqa": "pubmedqa-master",
        "bioasq": "BioASQ-training7b",
    }[name]
    packed = tmp_path / "packed" / "deep" / (archive + (".tar.gz" if pack is tarred else ".zip"))
    packed.parent.mkdir(parents=True)
    packed.write_bytes(pack(FILES[name]))  # type: ignore[operator]
    run(name, tmp_path / "packed", tmp_path / "one")
    run(name, put(tmp_path / "raw", name), tmp_path / "other")
    assert splits(tmp_path / "one", name) == splits(tmp_path / "other", name)


def test_chemprots_archive_has_an_archive_a_split(tmp_path: Path) -> None:
    inner: dict[str, dict[str, bytes]] = {}
    for path, content in FILES["chemprot"].items():
        inner.setdefault(path.split("/")[1], {})[path.partition("/")[2]] = content
    (tmp_path / "raw").mkdir()
    outer = zipped({f"ChemProt_Corpus/{name}.zip": zipped(files) for name, files in inner.items()})
    (tmp_path / "raw" / "ChemProt_Corpus.zip").write_bytes(outer)
    run("chemprot", tmp_path / "raw", tmp_path / "out")
    assert (tmp_path / "out" / "chemprot" / "dev.tsv").read_text() == EXPECTED["chemprot"]["dev"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "biosses"])
def test_carriage_returns_and_byte_order_marks_change_nothing(name: str, tmp_path: Path) -> None:
    other = {
        path: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n")
        for path, content in FILES[name].items()
    }
    run(name, put(tmp_path / "raw", name, other), tmp_path / "other")
    run(name, put(tmp_path / "raw2", name), tmp_path / "one")
    assert splits(tmp_path / "one", name) == splits(tmp_path / "other", name)


RELATIONS = "ChemProt_Corpus/chemprot_training/chemprot_training"
PAIRS, SCORES = "BIOSSES-Dataset/Annotation-Pairs.docx", "BIOSSES-Dataset/Annotator-Scores.docx"
SPANS = "ebm_nlp_2_00/annotations/aggregated/starting_spans/outcomes/train/1.AGGREGATED.ann"
TRAINING = "BioASQ-training7b/trainining7b.json"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "{}">]>'.format("&a;" * 10)
BROKEN: list[tuple[str, str, bytes, str]] = [
    ("bc2gm", "MTL/data/BC2GM-IOB/devel.tsv", b"kalo\tB-X\nmi\n", "devel.tsv:2: expected a token"),
    (
        "bc2gm",
        "MTL/data/BC2GM-IOB/devel.tsv",
        b"kalo\tX\n",
        "devel.tsv:1: .* starts with B, I or O",
    ),
    (
        "bc2gm",
        "MTL/data/BC2GM-IOB/devel.tsv",
        b"a\tO\nkalo\xff\tO\n",
        "devel.tsv:2: this line is not UTF-8",
    ),
    (
        "bc2gm",
        "MTL/data/BC2GM-IOB/devel.tsv",
        b"kalo\tO\nmi\tI-X\n",
        "BC2GM/dev.tsv:2: tag I does not follow",
    ),
    ("bc2gm", "MTL/data/BC2GM-IOB/devel.tsv", b"", "BC2GM/dev.tsv: the file is empty"),
    ("jnlpba", "JNLPBA/Genia4ERtask2.iob2", b"###MEDLINE:1\n\nkalo\tB\n", "ends before line 5"),
    ("ebm-pico", SPANS, b"0\n0\n1", "1.AGGREGATED.ann: expected one mark per token"),
    ("ebm-pico", SPANS, b"0\n0\n1\nx", "1.AGGREGATED.ann:4: expected a whole number"),
    (
        "ebm-pico",
        "ebm_nlp_2_00/documents/1.tokens",
        b"kalo\n\n.\nmi",
        "1.tokens:2: expected one token",
    ),
    ("chemprot", f"{RELATIONS}_abstracts.tsv", b"7\tkalomi\n", "abstracts.tsv:1: expected 3 TAB"),
    (
        "chemprot",
        f"{RELATIONS}_abstracts.tsv",
        b"7\tkalomi .\tvex kalomi tra .\n8\tkalo\tmi\n",
        "_abstracts.tsv:2: 8: no abstract of ChemProt",
    ),
    (
        "chemprot",
        f"{RELATIONS}_entities.tsv",
        b"8\tT1\tCHEMICAL\t0\t1\tk\n",
        "entities.tsv:1: 8 T1: not a valid span",
    ),
    (
        "chemprot",
        f"{RELATIONS}_entities.tsv",
        b"7\tT1\tCHEMICAL\t0\t99\tk\n",
        "entities.tsv:1: 7 T1: not a valid span",
    ),
    (
        "chemprot",
        f"{RELATIONS}_entities.tsv",
        b"7\tT1\tCHEMICAL\t-1\t9\tk\n",
        "entities.tsv:1: 7 T1: not a valid span",
    ),
    (
        "ddi",
        "DDIextraction_2013/train_dataset/x 0.xml",
        XML.format(name="D")[:-9].encode(),
        "x 0.xml: not well-formed",
    ),
    (
        "ddi",
        "DDIextraction_2013/train_dataset/x 0.xml",
        (BOMB + XML).encode(),
        "not safe XML.*Entit",
    ),
    (
        "ddi",
        "DDIextraction_2013/train_dataset/x 0.xml",
        XML.replace("0-5", "0-x").encode(),
        "not a valid span of characters",
    ),
    (
        "ddi",
        "DDIextraction_2013/train_dataset/x 0.xml",
        XML.replace("0-5", "40-50").encode(),
        "x 0.xml: .*outside",
    ),
    ("gad", "GAD/1/train.tsv", b"a\t1\n", "expected more than 2 rows"),
    ("gad", "GAD/1/train.tsv", b"a\t1\n0\ta\t1\n", "train.tsv:2: expected 2 TAB"),
    ("gad", "GAD/1/test.tsv", b"", "test.tsv:1: expected the header"),
    ("biosses", PAIRS, docx([["", "A", "B"]]), "not the expected table: its first row is ' "),
    (
        "biosses",
        PAIRS,
        docx([["", "Sentence 1", "Sentence 2"], ["1", "a"]]),
        "expected 3 cells in row 1 of the table, found 2",
    ),
    (
        "biosses",
        PAIRS,
        docx([["", "Sentence 1", "Sentence 2"]]),
        "Pairs.docx: pair 1 is missing in the table",
    ),
    (
        "biosses",
        PAIRS,
        docx([["", "Sentence 1", "Sentence 2"]], tables=2),
        "expected one table, found 2",
    ),
    ("biosses", PAIRS, docx([]), "not the expected table"),
    ("biosses", PAIRS, b"PK", "Pairs.docx: truncated or damaged"),
    ("biosses", PAIRS, zipped({"other": b""}), "the file does not contain word/document.xml"),
    ("biosses", SCORES, FILES["biosses"][SCORES][:-9], "Scores.docx: truncated or damaged"),
    (
        "biosses",
        SCORES,
        zipped({"word/document.xml": (BOMB + "<a>&b;</a>").encode()}),
        "not safe XML",
    ),
    ("hoc", "hoc/labels/2.txt", b"<", "labels for 1 sentences, but 2.txt has 2"),
    ("hoc", "hoc/labels/2.txt", b"<kalo<", "sentence 0: unknown hallmark 'kalo'"),
    ("hoc", "hoc/text/2.txt", b"a\tb\nc\n", "2.txt:1: a sentence must not contain a TAB"),
    ("pubmedqa", "pubmedqa/ori_pqal.json", b'{"1": {', "ori_pqal.json:1: not valid JSON"),
    (
        "pubmedqa",
        "pubmedqa/ori_pqal.json",
        b'{"1": {"final_decision": "perhaps"}}',
        "question '1' must have a final_decision",
    ),
    ("pubmedqa", "pubmedqa/test_ground_truth.json", b'{"1": "yes"}', "differ from the test split"),
    ("bioasq", TRAINING, b"[]", "expected a JSON object"),
    ("bioasq", TRAINING, b"{}", 'expected a list called "questions"'),
    (
        "bioasq",
        TRAINING,
        json.dumps({"questions": [question("a", "perhaps")]}).encode(),
        "question 0 must have",
    ),
]


@pytest.mark.parametrize(("name", "path", "content", "message"), BROKEN)
def test_what_is_broken_is_named_and_changes_nothing(
    name: str, path: str, content: bytes, message: str, tmp_path: Path
) -> None:
    run(name, put(tmp_path / "raw", name), tmp_path / "out")
    before = files(tmp_path / "out")
    assert path in FILES[name]
    put(tmp_path / "raw", name, {path: content})
    with pytest.raises(DataError, match=message) as raised:
        run(name, tmp_path / "raw", tmp_path / "out")
    assert not isinstance(raised.value, MissingRelease)
    assert files(tmp_path / "out") == before
    assert len(list((tmp_path / "out").iterdir())) == 1 + len(MANIFEST)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_there_is_missing_and_leaves_no_folder(name: str, tmp_path: Path) -> None:
    first, *_ = FILES[name]
    raw = put(tmp_path / "raw", name, {first: None})
    with pytest.raises(MissingRelease, match="not found under this folder"):
        run(name, raw, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_archive_of_a_kind_that_is_not_read_is_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "BIOSSES-Dataset.rar").write_bytes(b"Rar!")
    with pytest.raises(MissingRelease, match=r"Unpack BIOSSES-Dataset.rar first"):
        run("biosses", tmp_path, tmp_path / "out")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_is_full_or_read_only(
    code: int, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, out = put(tmp_path / "raw", "gad"), tmp_path / "out"
    out.mkdir()
    if there:
        run("gad", raw, out)
    before = files(out)
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.name == "dev.tsv":
            write(path, content[:3])
            raise OSError(code, "the disk says no", str(path))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(DataError, match="GAD: cannot be written: the disk says no"):
        run("gad", raw, out)
    assert files(out) == before
    assert len(list(out.iterdir())) == (1 + len(MANIFEST) if there else 0)


@pytest.mark.parametrize(
    ("step", "error", "raised"),
    [
        (
            "new",
            OSError(errno.EIO, "the disk is gone"),
            pytest.raises(DataError, match="disk is gone"),
        ),
        ("new", KeyboardInterrupt(), pytest.raises(KeyboardInterrupt)),
        ("old", KeyboardInterrupt(), pytest.raises(KeyboardInterrupt)),
    ],
)
def test_the_old_folder_comes_back_if_the_new_one_cannot_take_its_place(
    step: str,
    error: BaseException,
    raised: Any,
    gad: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether the disk fails at the second of the two renames, or Ctrl-C comes there or right after the first."""
    raw, out = gad
    before = files(out)
    rename = Path.rename

    def broken(path: Path, target: Path) -> Path:
        if step == "new" and path.parent.name.startswith(".GAD") and path.name == "GAD":
            raise error
        renamed = rename(path, target)
        if step == target.name == "old":
            raise error
        return renamed

    monkeypatch.setattr(Path, "rename", broken)
    with raised:
        run("gad", raw, out)
    assert files(out) == before


def test_an_output_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(DataError, match="cannot be written"):
        run("gad", put(tmp_path / "raw", "gad"), tmp_path / "out")
    assert (tmp_path / "out").read_text() == "a file"


def test_files_of_others_are_kept_and_links_are_followed(tmp_path: Path) -> None:
    raw, elsewhere = put(tmp_path / "raw", "gad"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "notes.txt").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "GAD").symlink_to(elsewhere)
    run("gad", raw, tmp_path / "out")
    assert (tmp_path / "out" / "GAD").is_symlink()
    assert {path.name for path in elsewhere.iterdir()} == {
        "notes.txt",
        *(f"{s}.tsv" for s in SPLITS),
    }


def test_a_file_that_is_a_link_or_read_only_is_replaced_and_what_it_led_to_stays(
    gad: tuple[Path, Path], tmp_path: Path
) -> None:
    raw, out = gad
    whole = files(out)
    (tmp_path / "precious").write_text("mine")
    (out / "GAD" / "dev.tsv").unlink()
    (out / "GAD" / "dev.tsv").symlink_to(tmp_path / "precious")
    (out / "GAD" / "test.tsv").chmod(0o444)
    run("gad", raw, out)
    assert files(out) == whole
    assert not (out / "GAD" / "dev.tsv").is_symlink()
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_folder_within_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    raw, out = put(tmp_path / "raw", "pubmedqa"), tmp_path / "out"
    (tmp_path / "elsewhere").mkdir()
    (out / "pubmedqa").mkdir(parents=True)
    (out / "pubmedqa" / "pqal_fold0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="pqal_fold0 is a link to another folder"):
        run("pubmedqa", raw, out)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [path.name for path in out.iterdir()] == ["pubmedqa"]


def test_a_file_in_the_place_of_the_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "GAD").write_text("mine")
    with pytest.raises(DataError, match="there is a file of that name"):
        run("gad", put(tmp_path / "raw", "gad"), tmp_path / "out")
    assert files(tmp_path / "out") == {"GAD": b"mine"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("place", ["out", "out/GAD"])
def test_a_folder_that_is_really_read_only(
    place: str, gad: tuple[Path, Path], tmp_path: Path
) -> None:
    raw, out = gad
    before = files(out)
    (tmp_path / place).chmod(0o555)
    try:
        with pytest.raises(DataError, match="cannot be written: Permission denied"):
            run("gad", raw, out)
        assert files(out) == before
        assert {path.name for path in out.iterdir()} == {"GAD", *MANIFEST}
    finally:
        (tmp_path / place).chmod(0o755)


def test_a_word_document_that_is_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = put(tmp_path / "raw", "biosses", {PAIRS: zipped({"word/document.xml": b" " * 1_000_000})})
    assert (raw / PAIRS).stat().st_size < 2000
    monkeypatch.setattr("blurb.corpora.releases.archives.MAX_FILE", 999_999)
    with pytest.raises(
        DataError, match=r"Pairs.docx: the archive was rejected: word/document.xml is too large"
    ):
        run("biosses", raw, tmp_path / "out")


@pytest.mark.parametrize("name", NAMES)
def test_every_task_of_blurb_says_how_its_files_are_made_and_from_what(name: str) -> None:
    task = tasks.get(name)
    assert callable(module.builder(task))
    assert task.source
    assert task.source.page.startswith("http")
    assert task.source.files


def test_a_task_without_builder_or_without_a_folder_of_its_own_is_not_preparable(
    tmp_path: Path,
) -> None:
    gad = tasks.get("gad")
    with pytest.raises(DataError, match="has no builder"):
        module.builder(dataclasses.replace(gad, builder=""))
    flat = dataclasses.replace(gad, files={split: f"{split}.tsv" for split in SPLITS})
    with pytest.raises(DataError, match="have no folder of their own"):
        build_task(flat, put(tmp_path / "raw", "gad"), tmp_path / "out")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="check the path given with --raw"):
        build_task(tasks.get("gad"), tmp_path / "gone", tmp_path / "out")

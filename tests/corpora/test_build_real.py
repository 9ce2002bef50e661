"""The real originals give BLURB's files byte for byte."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from blurb import tasks
from blurb.corpora.build import build_task, words
from blurb.corpora.releases import Release, load_split_lists
from blurb.data import manifest
from blurb.data.loading import read_split
from blurb.tasks import SPLITS, Split

pytestmark = pytest.mark.real
NAMES = (
    "bc5-chem",
    "bc5-disease",
    "ncbi-disease",
    "bc2gm",
    "jnlpba",
    "chemprot",
    "ddi",
    "gad",
    "biosses",
    "hoc",
    "pubmedqa",
)
MARKS = {"participants": "I-PAR", "interventions": "I-INT", "outcomes": "I-OUT"}


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_prepared_files_are_blurbs_byte_for_byte(
    name: str, test_data: Path, tmp_path: Path
) -> None:
    task = tasks.get(name)
    found, notes = build_task(task, test_data / "raw_data", tmp_path)
    for split in SPLITS:
        path = task.files[split]
        assert (tmp_path / path).read_bytes() == (test_data / "blurb" / path).read_bytes(), path
    assert found.verdict == "identical"
    assert notes == []
    folder = manifest.task_folder(task)
    done = subprocess.run(
        ["diff", "-r", tmp_path / folder, test_data / "blurb" / folder], capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


TEN = {
    "anatem": (5861, 2118, 3830),
    "bionlp13cg-cell": (3033, 1003, 1906),
    "bionlp13cg-chem": (3033, 1003, 1906),
    "bionlp13pc-chem": (2499, 857, 1695),
    "craft-cc": (10875, 3730, 7425),
    "craft-cell": (10875, 3730, 7425),
    "craft-chem": (10875, 3730, 7425),
    "craft-ggp": (10875, 3730, 7425),
    "craft-species": (10875, 3730, 7425),
    "linnaeus": (11935, 4078, 7142),
}
"""Sentences of train, dev and test, counted by another program in the files of the commit that is pinned."""
LEAKS = {"anatem": 99, "craft-cell": 554, "craft-species": 554, "linnaeus": 564}
"""Test sentences that stand in train."""


@pytest.mark.costly
@pytest.mark.parametrize("name", TEN)
def test_mtl_ner_has_the_sentences_words_and_tags_of_the_originals(
    name: str, test_data: Path, tmp_path: Path
) -> None:
    """The originals are read here line by line; types of tags are dropped, as each set has one."""
    task = tasks.get(name)
    found, notes = build_task(task, test_data / "raw_data", tmp_path)
    assert (found.verdict, found.counts, notes) == ("identical", task.sizes, [])
    folder = test_data / "raw_data" / "MTL-Bioinformatics-2016" / "data"
    lines = {}
    for split, file in words.MTL_FILES.items():
        text = (folder / f"{manifest.task_folder(task)}-IOB" / f"{file}.tsv").read_text("utf-8")
        parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
        lines[split] = [[row.split("\t") for row in part.strip().split("\n")] for part in parts]
        examples = read_split(task, tmp_path, split)
        assert [[word for word, _ in rows] for rows in lines[split]] == [
            row["tokens"] for row in examples
        ]
        label = task.labels[0]
        assert [
            [tag if tag == "O" else f"{tag[0]}-{label}" for _, tag in rows] for rows in lines[split]
        ] == [row["tags"] for row in examples]
    assert tuple(map(len, lines.values())) == TEN[name]
    known = {tuple(word for word, _ in rows) for rows in lines["train"]}
    repeated = sum(tuple(word for word, _ in rows) in known for rows in lines["test"])
    assert repeated == LEAKS.get(name, repeated)


def _documents(text: str) -> Iterator[tuple[str, str]]:
    """PMID and text of every document of a PICO file."""
    for part in text.split("-DOCSTART- (")[1:]:
        yield part.split(")")[0], "-DOCSTART- (" + part


def test_the_one_original_document_of_ebm_pico(
    test_data: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "load_split_lists", lambda name: {"test": ["10070173"]})
    assert (
        words.build_pico(Release(test_data / "raw_data"), tasks.get("ebm-pico"))["test"]
        == dict(_documents((real_data / "ebmnlp" / "test.tsv").read_text(encoding="utf-8")))[
            "10070173"
        ]
    )


@pytest.mark.costly
def test_ebm_picos_documents_taken_apart_are_put_together_again(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The original is not at hand: its layout is written from BLURB's dev and test, in which no two elements overlap.
    listed: dict[Split, list[str]] = {"dev": [], "test": []}
    for split, ids in listed.items():
        for pmid, text in _documents(
            (real_data / "ebmnlp" / f"{split}.tsv").read_text(encoding="utf-8")
        ):
            ids.append(pmid)
            pairs = [line.split("\t") for line in text.split("\n")[1:] if line]
            level = "test/gold" if split == "test" else "train"
            contents = {f"documents/{pmid}.tokens": [word for word, _ in pairs]}
            for element, label in MARKS.items():
                path = (
                    f"annotations/aggregated/starting_spans/{element}/{level}/{pmid}.AGGREGATED.ann"
                )
                contents[path] = [str(int(tag == label)) for _, tag in pairs]
            for path, cells in contents.items():
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_text("\n".join(cells), encoding="utf-8", newline="")
    shipped = words.load_split_lists("ebm_pico")
    # The lists have BLURB's documents in its order
    assert {split: shipped[split] for split in listed} == listed
    monkeypatch.setattr(words, "load_split_lists", lambda name: listed)
    texts = words.build_pico(Release(tmp_path), tasks.get("ebm-pico"))
    for split in listed:
        assert texts[split] == (real_data / "ebmnlp" / f"{split}.tsv").read_text(encoding="utf-8")


def test_the_lists_are_those_of_the_kit(test_data: Path) -> None:
    for name, folder in (("ebm_pico", "ebmnlp"), ("hoc", "HoC")):
        for split in SPLITS:
            text = (
                (test_data / "raw_data" / "indexing" / folder / f"{split}_pmid.tsv")
                .read_text()
                .strip()
            )
            assert load_split_lists(name)[split] == [
                part.removesuffix(".txt") for part in text.split(",")
            ]

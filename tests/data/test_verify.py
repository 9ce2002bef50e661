"""When data is called BLURB's, by hash or by counts."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from blurb import data, tasks
from blurb.data.loading import examine_task, verdict
from blurb.data.schema import Example, hash_rows, hash_splits
from blurb.tasks import Split
from tests.data.samples import READERS, SAMPLES, put


def _tag_row(tags: list[str], doc_id: str | None = None) -> Example:
    return {"id": "x", "doc_id": doc_id, "tokens": ["w"] * len(tags), "tags": tags}


def test_ner_counts_every_b() -> None:
    rows = [_tag_row(["B-GENE", "B-GENE", "I-GENE", "O"]), _tag_row(["O"])]
    assert tasks.get("bc2gm").task_type.size(rows) == 2


def test_pico_counts_labelled_words() -> None:
    assert tasks.get("ebm-pico").task_type.size([_tag_row(["I-PAR", "I-PAR", "O", "I-OUT"])]) == 3


def test_hoc_counts_abstracts_and_the_others_rows() -> None:
    assert tasks.get("hoc").task_type.size([{"doc_id": name, "labels": []} for name in "121"]) == 2
    assert tasks.get("hoc").task_type.size([{"doc_id": None, "labels": []}] * 2) == 2
    assert tasks.get("gad").task_type.size([{}, {}, {}]) == 3


@pytest.mark.parametrize(
    ("dev", "expected"), [(4_244, "counts only"), (4_246, "counts only"), (4_245, "differs")]
)
def test_bc5_disease_as_printed_and_as_released(dev: int, expected: str) -> None:
    task = tasks.get("bc5-disease")
    assert verdict(task, {"train": 4_182, "dev": dev, "test": 4_424}, {}) == expected


@pytest.mark.parametrize(
    ("train", "dev", "expected"),
    [
        (339_167, 85_321, "counts only"),
        (337_180, 87_308, "counts only"),
        (339_167, 87_308, "differs"),
        (337_180, 85_321, "differs"),
        (121_419, 87_308, "differs"),
    ],
)
def test_ebm_pico_as_printed_or_as_released_but_no_mixture(
    train: int, dev: int, expected: str
) -> None:
    assert (
        verdict(tasks.get("ebm-pico"), {"train": train, "dev": dev, "test": 16_364}, {}) == expected
    )


def test_no_data_is_no_copy() -> None:
    assert verdict(tasks.get("gad"), {}, {}) == "differs"


def test_a_hash_that_is_not_known_cannot_make_identical() -> None:
    task = tasks.get("bioasq")  # ships no hash, as its text may not be looked at here
    assert verdict(task, task.sizes, dict.fromkeys(tasks.SPLITS, "0" * 64)) == "counts only"


def test_one_wrong_hash_of_three_is_not_identical() -> None:
    task = tasks.get("gad")
    assert verdict(task, task.sizes, task.hashes) == "identical"
    assert verdict(task, task.sizes, {**task.hashes, "dev": "0" * 64}) == "counts only"


def _load(folder: Path, name: str, content: dict[Split, str]) -> data.TaskData:
    for split, text in content.items():
        put(folder, name, text, split)
    rows = {split: data.read_split(tasks.get(name), folder, split) for split in content}
    task = dataclasses.replace(
        tasks.get(name),
        sizes={split: tasks.get(name).task_type.size(rows[split]) for split in rows},
        released={},
        hashes={split: hash_rows(rows[split]) for split in rows},
    )
    return data.load_task(task, folder)


@pytest.mark.parametrize("name", READERS)
def test_load_gives_splits_hash_and_verdict(tmp_path: Path, name: str) -> None:
    found = _load(tmp_path, name, dict.fromkeys(tasks.SPLITS, SAMPLES[name]))
    assert found.verdict == "identical"
    assert list(found.splits) == list(tasks.SPLITS)
    assert found.hash == hash_splits(found.task.hashes)


def test_the_data_hash_tells_which_split_is_which() -> None:
    assert hash_splits({"train": "a", "dev": "b"}) != hash_splits({"train": "b", "dev": "a"})
    assert hash_splits({"train": "a", "dev": "b"}) == hash_splits({"dev": "b", "train": "a"})


def test_two_swapped_labels_change_the_hash_and_the_verdict(tmp_path: Path) -> None:
    good = _load(tmp_path, "gad", dict.fromkeys(tasks.SPLITS, SAMPLES["gad"]))
    put(
        tmp_path,
        "gad",
        SAMPLES["gad"]
        .replace("\t1\n", "\t?\n")
        .replace("\t0\n", "\t1\n")
        .replace("\t?\n", "\t0\n"),
        "dev",
    )
    swapped = data.load_task(good.task, tmp_path)
    assert swapped.verdict == "counts only"
    assert swapped.hash != good.hash


def test_examine_reports_what_is_missing_and_what_is_broken(tmp_path: Path) -> None:
    task = tasks.get("gad")
    put(tmp_path, "gad", SAMPLES["gad"], "train")
    put(tmp_path, "gad", "index\tsentence\tlabel\n0\tkalo\t1\n", "dev")
    found = examine_task(task, tmp_path)
    assert found.counts == {"train": 2}
    assert found.missing == ("test",)
    assert len(found.errors) == 1
    assert ":2: expected exactly @GENE$ and @DISEASE$" in str(found.errors[0])
    assert found.verdict == "differs"


def test_examine_of_nothing_has_no_verdict(tmp_path: Path) -> None:
    found = examine_task(tasks.get("hoc"), tmp_path)
    assert found.verdict is None
    assert found.missing == tasks.SPLITS

"""When data is called BLURB's, by hash or by counts."""

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb import data, tasks
from blurb.data import raw
from blurb.data.loading import examine_task, verdict
from blurb.data.schema import Example, hash_rows, hash_splits
from blurb.messages.errors import DataError
from tests.cli.in_process import blurb as command
from tests.data.samples import READERS, SAMPLES, put


def _tag_row(tags: list[str], doc_id: str | None = None) -> Example:
    return {"id": "x", "doc_id": doc_id, "tokens": ["w"] * len(tags), "tags": tags}


@pytest.mark.parametrize(
    ("name", "rows", "size"),
    [
        pytest.param(
            "bc2gm",
            [_tag_row(["B-GENE", "B-GENE", "I-GENE", "O"]), _tag_row(["O"])],
            2,
            id="every B of NER",
        ),
        pytest.param(
            "ebm-pico", [_tag_row(["I-PAR", "I-PAR", "O", "I-OUT"])], 3, id="labelled words of PICO"
        ),
        pytest.param(
            "hoc", [{"doc_id": name, "labels": []} for name in "121"], 2, id="abstracts of HoC"
        ),
        ("hoc", [{"doc_id": None, "labels": []}] * 2, 2),
        pytest.param("gad", [{}, {}, {}], 3, id="rows of others"),
    ],
)
def test_what_is_counted(name: str, rows: list[Example], size: int) -> None:
    assert tasks.get(name).task_type.size(rows) == size


BIOASQ, GAD = tasks.get("bioasq"), tasks.get("gad")


@pytest.mark.parametrize(
    ("name", "sizes", "hashes", "expected"),
    [
        *(
            ("bc5-disease", {"train": 4_182, "dev": dev, "test": 4_424}, {}, expected)
            for dev, expected in (
                (4_244, "counts only"),  # as printed
                (4_246, "counts only"),  # as released
                (4_245, "differs"),
            )
        ),
        *(
            ("ebm-pico", {"train": train, "dev": dev, "test": 16_364}, {}, expected)
            for train, dev, expected in (
                (339_167, 85_321, "counts only"),  # as printed
                (337_180, 87_308, "counts only"),  # as released
                (339_167, 87_308, "differs"),  # a mixture
                (337_180, 85_321, "differs"),
                (121_419, 87_308, "differs"),
            )
        ),
        pytest.param("gad", {}, {}, "differs", id="no data"),
        # It ships no hash, as its text may not be looked at here
        ("bioasq", BIOASQ.sizes, dict.fromkeys(tasks.SPLITS, "0" * 64), "counts only"),
        ("gad", GAD.sizes, GAD.hashes, "identical"),
        pytest.param(
            "gad", GAD.sizes, {**GAD.hashes, "dev": "0" * 64}, "counts only", id="one wrong hash"
        ),
    ],
)
def test_the_verdict_of_counts_and_hashes(
    name: str, sizes: dict[tasks.Split, int], hashes: dict[tasks.Split, str], expected: str
) -> None:
    assert verdict(tasks.get(name), sizes, hashes) == expected


def _load(folder: Path, name: str, content: dict[tasks.Split, str]) -> data.TaskData:
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
    assert (found.counts, found.missing) == ({"train": 2}, ("test",))
    assert len(found.errors) == 1
    assert ":2: expected exactly @GENE$ and @DISEASE$" in str(found.errors[0])
    assert found.verdict == "differs"


def test_examine_of_nothing_has_no_verdict(tmp_path: Path) -> None:
    found = examine_task(tasks.get("hoc"), tmp_path)
    assert found.verdict is None
    assert found.missing == tasks.SPLITS


# Examples without an answer, as people give them.


TEXT = "aspirin inhibits COX-1 strongly"


def test_the_entity_that_starts_first_is_the_head_whatever_it_was_called() -> None:
    """As in every corpus. The other way round the two would be taken for one entity that overlaps another."""
    first, second = (
        {"start": 0, "end": 7, "type": "CHEMICAL"},
        {"start": 17, "end": 22, "type": "GENE"},
    )
    for head, tail in ((first, second), (second, first)):
        example = raw.read(
            tasks.get("chemprot"), {"text": TEXT, "head": head, "tail": tail}, 1
        ).example
        assert (example["head"], example["tail"]) == (first, second)


def test_a_task_file_keeps_the_roles_that_were_given() -> None:
    """A corpus of one's own may be directed."""
    first, second = {"start": 0, "end": 7, "type": "A"}, {"start": 17, "end": 22, "type": "A"}
    directed = replace(tasks.get("chemprot"), file="mine.toml", layout={"kind": "jsonl"})
    example = raw.read(directed, {"text": TEXT, "head": second, "tail": first}, 1).example
    assert (example["head"], example["tail"]) == (second, first)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tokens": None}, "'tokens' must be a list of words"),
        ({"tokens": 5}, "'tokens' must be a list of words"),
        ({"tokens": ["a", "\ud800"]}, "half of a surrogate pair"),
        ({"text": "a \ud800 cancer"}, "half of a surrogate pair"),
        ({"text": "a cancer", "tokens": ["a", "cance"]}, "'text' and 'tokens' are not the same"),
    ],
)
def test_words_that_are_none_are_told_with_their_input(given: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=f"input 3: .*{told}"):
        raw.read(tasks.get("bc5-chem"), given, 3)


@pytest.mark.parametrize("text", [None, "", "a\ncancer", "acancer"])
def test_words_beside_no_text_or_their_own(text: str | None) -> None:
    given = {"tokens": ["a", "cancer"], "text": text}
    assert raw.read(tasks.get("bc5-chem"), given, 1).example["tokens"] == given["tokens"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"start": float("inf")}, "whole numbers"),
        ({"start": 0.9, "end": 1.9}, "whole numbers"),
        ({"end": "7"}, "whole numbers"),
        ({"type": None}, "the type of 'head' must be a text"),
    ],
)
def test_an_entity_has_whole_numbers_and_a_type(changed: dict[str, Any], told: str) -> None:
    head, tail = (
        {"start": 0, "end": 7, "type": "CHEMICAL", **changed},
        {"start": 17, "end": 22, "type": "GENE"},
    )
    with pytest.raises(DataError, match=told):
        raw.read(tasks.get("chemprot"), {"text": TEXT, "head": head, "tail": tail}, 1)


# `blurb data verify` of a task file, which names its own data.


TASK = """
name = "my-claims"
type = "document"
labels = ["a", "b"]
format = {kind = "jsonl"}
files = {train = "t.jsonl", dev = "t.jsonl", test = "t.jsonl"}
"""


def test_a_task_file_needs_no_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_files", {})
    monkeypatch.setenv("BLURB_DATA", str(tmp_path / "nowhere"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my.toml").write_text(TASK, encoding="utf-8")
    lines = [json.dumps({"text": f"kalo {number}", "labels": ["a"]}) for number in range(8)]
    (tmp_path / "own" / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, said = command(["data", "verify", "--tasks", "./own/my.toml"], tmp_path)
    assert (code, "my-claims" in out, "8" in out) == (0, True, True), said
    assert command(["data", "verify", "--tasks", "./own/my.toml,gad"], tmp_path)[0] == 2

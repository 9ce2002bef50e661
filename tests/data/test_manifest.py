"""The manifest says from what and what; verify believes it as long as the files are the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blurb import data, tasks
from blurb.data import manifest, verify
from blurb.data.prepare import prepare
from blurb.data.schema import hash_rows
from blurb.data.verify import examine
from blurb.errors import DataError
from blurb.tasks import SPLITS
from tests.data.originals import FILES, put, small_lists

GAD = tasks.get("gad")


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with small_lists():
        yield


@pytest.fixture
def out(tmp_path: Path) -> Path:
    prepare(GAD, put(tmp_path / "raw", "gad"), tmp_path / "out")
    return tmp_path / "out"


def load(out: Path, name: str = "GAD") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / name / "manifest.json").read_text())
    return content


def store(out: Path, content: object) -> None:
    (out / "GAD" / "manifest.json").write_text(json.dumps(content))


def test_it_holds_hashes_of_sources_files_and_examples(out: Path) -> None:
    content = load(out)
    assert list(content) == ["schema", "task", "made_by", "sources", "splits"]
    assert content["sources"] == [
        {"path": path, "sha256": hashlib.sha256(FILES["gad"][path]).hexdigest()}
        for path in ("GAD/1/test.tsv", "GAD/1/train.tsv")
    ]
    for split in SPLITS:
        rows = data.read_split(GAD, out, split)
        assert content["splits"][split] == {
            "file": f"{split}.tsv",
            "sha256": hashlib.sha256((out / "GAD" / f"{split}.tsv").read_bytes()).hexdigest(),
            "examples_sha256": hash_rows(rows),
            "count": len(rows),
        }


def test_two_runs_in_two_places_give_the_same_bytes(out: Path, tmp_path: Path) -> None:
    prepare(GAD, put(tmp_path / "elsewhere", "gad"), tmp_path / "again")
    first, again = (folder / "GAD" / "manifest.json" for folder in (out, tmp_path / "again"))
    assert first.read_bytes() == again.read_bytes()
    assert str(tmp_path) not in first.read_text()


def test_many_files_of_a_folder_are_one_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MANY", 2)
    prepare(tasks.get("hoc"), put(tmp_path / "raw", "hoc"), tmp_path / "out")
    lines = "".join(
        f"{hashlib.sha256(FILES['hoc'][f'hoc/text/{n}.txt']).hexdigest()}  {n}.txt\n" for n in (1, 2, 3)
    ).encode()
    labels, texts = load(tmp_path / "out", "HoC")["sources"]
    assert labels["path"] == "hoc/labels/*"
    assert texts == {"path": "hoc/text/*", "files": 3, "sha256": hashlib.sha256(lines).hexdigest()}


def _forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(verify, "read_split", never)


def test_verify_believes_it_while_the_bytes_are_the_same(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = examine(GAD, out, trust=False)
    _forbid_reading(monkeypatch)
    assert examine(GAD, out) == full
    with pytest.raises(AssertionError, match="the file was read"):
        examine(GAD, out, trust=False)


def test_a_file_that_changed_is_read_and_told(out: Path) -> None:
    path = out / "GAD" / "test.tsv"
    path.write_text(path.read_text().replace("nex", "vor"))
    found = examine(GAD, out)
    assert found.notes == (f"{path}: changed since it was prepared.",)
    assert found.hashes == examine(GAD, out, trust=False).hashes
    path.unlink()
    assert examine(GAD, out).missing == ("test",)


@pytest.mark.parametrize(
    "change",
    [{"schema": 99}, {"made_by": {"blurb": "0.0.0"}}, {"task": "hoc"}],
    ids=lambda change: next(iter(change)),
)
def test_one_of_another_schema_version_or_task_is_not_relied_on(
    change: dict[str, Any], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(out, {**load(out), **change})
    assert examine(GAD, out) == examine(GAD, out, trust=False)
    _forbid_reading(monkeypatch)
    with pytest.raises(AssertionError, match="the file was read"):
        examine(GAD, out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "not a manifest of schema 1"),
        (b"{}", "not a manifest of schema 1"),
    ],
)
def test_a_damaged_one_is_told_and_the_files_are_read(content: bytes, message: str, out: Path) -> None:
    (out / "GAD" / "manifest.json").write_bytes(content)
    found = examine(GAD, out)
    assert message in found.notes[0]
    assert "read in full" in found.notes[0]
    assert found.hashes == examine(GAD, out, trust=False).hashes


@pytest.mark.parametrize(("key", "value"), [("count", "3"), ("count", True), ("sha256", None), ("examples_sha256", 3)])
def test_values_of_other_types_are_damage(key: str, value: object, out: Path) -> None:
    content = load(out)
    content["splits"]["dev"][key] = value
    store(out, content)
    with pytest.raises(DataError, match="not a manifest of schema 1"):
        manifest.read(out, GAD)


def test_without_one_nothing_is_known(tmp_path: Path) -> None:
    assert manifest.read(tmp_path, GAD) is None

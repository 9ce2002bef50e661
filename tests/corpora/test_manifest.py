"""The manifest says from what and what; verify believes it as long as the files are the same bytes."""

import errno
import hashlib
import json
import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from blurb import data, tasks
from blurb.corpora.build import build_task
from blurb.data import loading, manifest
from blurb.data.loading import examine_task
from blurb.data.schema import hash_rows
from blurb.messages.errors import DataError
from blurb.tasks import SPLITS
from tests.corpora.originals import FILES, put, small_lists
from tests.rewriting import edit

GAD = tasks.get("gad")


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with small_lists():
        yield


@pytest.fixture
def out(tmp_path: Path) -> Path:
    build_task(GAD, put(tmp_path / "raw", "gad"), tmp_path / "out")
    return tmp_path / "out"


def load(out: Path) -> dict[str, Any]:
    return json.loads((out / "manifest.json").read_text())


def store(out: Path, content: object) -> None:
    (out / "manifest.json").write_text(json.dumps(content))


def test_it_holds_hashes_of_sources_files_and_examples(out: Path) -> None:
    assert (list(load(out)), load(out)["schema"], list(load(out)["datasets"])) == (
        ["schema", "datasets"],
        1,
        ["gad"],
    )
    content = load(out)["datasets"]["gad"]
    assert list(content) == ["made_by", "sources", "splits"]
    assert content["sources"] == [
        {"path": path, "sha256": hashlib.sha256(FILES["gad"][path]).hexdigest()}
        for path in ("GAD/1/test.tsv", "GAD/1/train.tsv")
    ]
    for split in SPLITS:
        rows = data.read_split(GAD, out, split)
        assert content["splits"][split] == {
            "file": f"GAD/{split}.tsv",
            "sha256": hashlib.sha256((out / "GAD" / f"{split}.tsv").read_bytes()).hexdigest(),
            "examples_sha256": hash_rows(rows),
            "count": len(rows),
        }


def test_two_runs_in_two_places_give_the_same_bytes(out: Path, tmp_path: Path) -> None:
    hoc = tasks.get("hoc")
    build_task(hoc, put(tmp_path / "raw", "hoc"), out)
    build_task(hoc, put(tmp_path / "elsewhere", "hoc"), tmp_path / "again")  # in another order, too
    build_task(GAD, put(tmp_path / "elsewhere", "gad"), tmp_path / "again")
    first, again = (folder / "manifest.json" for folder in (out, tmp_path / "again"))
    assert first.read_bytes() == again.read_bytes()
    assert str(tmp_path) not in first.read_text()


def test_many_files_of_a_folder_are_one_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest, "MANY", 2)
    build_task(tasks.get("hoc"), put(tmp_path / "raw", "hoc"), tmp_path / "out")
    lines = "".join(
        f"{hashlib.sha256(FILES['hoc'][f'hoc/text/{n}.txt']).hexdigest()}  {n}.txt\n"
        for n in (1, 2, 3)
    ).encode()
    labels, texts = load(tmp_path / "out")["datasets"]["hoc"]["sources"]
    assert labels["path"] == "hoc/labels/*"
    assert texts == {"path": "hoc/text/*", "files": 3, "sha256": hashlib.sha256(lines).hexdigest()}


def _forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        loading, "read_split", Mock(side_effect=AssertionError("the file was read"))
    )


def test_verify_believes_it_while_the_bytes_are_the_same(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = examine_task(GAD, out, trust=False)
    _forbid_reading(monkeypatch)
    assert examine_task(GAD, out) == full
    with pytest.raises(AssertionError, match="the file was read"):
        examine_task(GAD, out, trust=False)


def test_a_file_that_changed_is_read_and_told(out: Path) -> None:
    path = out / "GAD" / "test.tsv"
    path.write_text(path.read_text().replace("nex", "vor"))
    found = examine_task(GAD, out)
    assert [str(note) for note in found.notes] == [
        f"{path}: changed since `blurb data prepare` wrote it."
    ]
    assert found.hashes == examine_task(GAD, out, trust=False).hashes
    path.unlink()
    assert examine_task(GAD, out).missing == ("test",)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(schema=99),
        lambda content: content["datasets"]["gad"].update(made_by={"blurb": "0.0.0"}),
        lambda content: content["datasets"].update(hoc=content["datasets"].pop("gad")),
    ],
    ids=["schema", "version", "task"],
)
def test_one_of_another_schema_version_or_task_is_not_relied_on(
    change: Callable[[dict[str, Any]], object], out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(out / "manifest.json", change)
    assert examine_task(GAD, out) == examine_task(GAD, out, trust=False)
    _forbid_reading(monkeypatch)
    with pytest.raises(AssertionError, match="the file was read"):
        examine_task(GAD, out)


def test_one_of_another_schema_is_told_and_begun_anew(out: Path, tmp_path: Path) -> None:
    whole = load(out)
    store(out, {**whole, "schema": 99})
    _, (note,) = build_task(GAD, tmp_path / "raw", out)
    assert "has another schema than 1" in note
    assert "It was replaced" in note
    assert load(out) == whole


DAMAGED = pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "not a manifest of schema 1"),
        (b"{}", "not a manifest of schema 1"),
        (b'{"schema": 1}', "not a manifest of schema 1"),
        (b'{"schema": 1, "datasets": ["gad"]}', "not a manifest of schema 1"),
    ],
)


@DAMAGED
def test_a_damaged_one_is_told_and_the_files_are_read(
    content: bytes, message: str, out: Path
) -> None:
    (out / "manifest.json").write_bytes(content)
    found = examine_task(GAD, out)
    assert message in str(found.notes[0])
    assert "read in full" in str(found.notes[0])
    assert found.hashes == examine_task(GAD, out, trust=False).hashes


@DAMAGED
def test_a_damaged_one_is_told_and_begun_anew(
    content: bytes, message: str, out: Path, tmp_path: Path
) -> None:
    whole = load(out)
    (out / "manifest.json").write_bytes(content)
    _, (note,) = build_task(GAD, tmp_path / "raw", out)
    assert message in note
    assert "It was replaced" in note
    assert load(out) == whole
    assert build_task(GAD, tmp_path / "raw", out)[1] == []


@pytest.mark.parametrize(
    ("key", "value"), [("count", "3"), ("count", True), ("sha256", None), ("examples_sha256", 3)]
)
def test_values_of_other_types_are_damage_of_their_dataset(
    key: str, value: object, out: Path, tmp_path: Path
) -> None:
    hoc = tasks.get("hoc")
    build_task(hoc, put(tmp_path / "raw", "hoc"), out)
    content = load(out)
    content["datasets"]["gad"]["splits"]["dev"][key] = value
    store(out, content)
    with pytest.raises(DataError, match="the entry of gad does not follow schema 1"):
        manifest.read(out, GAD)
    assert manifest.read(out, hoc)


@pytest.mark.parametrize("value", [None, 3, "", [], {}, {"made_by": "me"}])
def test_entries_that_are_no_entries(value: object, out: Path) -> None:
    store(out, {**load(out), "datasets": {"gad": value}})
    assert examine_task(GAD, out).hashes == examine_task(GAD, out, trust=False).hashes


def test_without_one_nothing_is_known(tmp_path: Path) -> None:
    assert manifest.read(tmp_path, GAD) is None


def test_preparing_one_dataset_keeps_what_is_said_of_others(out: Path, tmp_path: Path) -> None:
    before = load(out)["datasets"]["gad"]
    build_task(tasks.get("hoc"), put(tmp_path / "raw", "hoc"), out)
    assert load(out)["datasets"]["gad"] == before
    assert list(load(out)["datasets"]) == ["gad", "hoc"]


def test_one_that_is_older_than_the_files_is_noticed(out: Path, tmp_path: Path) -> None:
    # As after a crash between the files and the manifest: new files beside the old entry.
    old = (out / "manifest.json").read_bytes()
    content = FILES["gad"]["GAD/1/test.tsv"].replace(b"nex", b"vor")
    build_task(GAD, put(tmp_path / "raw", "gad", {"GAD/1/test.tsv": content}), out)
    (out / "manifest.json").write_bytes(old)
    found = examine_task(GAD, out)
    assert [str(note) for note in found.notes] == [
        f"{out / 'GAD' / 'test.tsv'}: changed since `blurb data prepare` wrote it."
    ]
    assert found.hashes == examine_task(GAD, out, trust=False).hashes


def test_one_that_cannot_be_written_stays_and_the_files_are_in_place(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (out / "manifest.json").read_bytes()
    write = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if "manifest" in path.name:
            write(path, content[:3])
            raise OSError(errno.ENOSPC, "the disk is full", str(path))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        DataError, match=r"manifest.json: cannot be written: the disk is full.*hoc are complete"
    ):
        build_task(tasks.get("hoc"), put(tmp_path / "raw", "hoc"), out)
    assert (out / "manifest.json").read_bytes() == before
    assert {path.name for path in out.iterdir()} == {"GAD", "HoC", "manifest.json"}
    assert set(examine_task(tasks.get("hoc"), out).counts) == set(SPLITS)


def _update(folder: Path, name: str, ready: Any) -> None:
    """In a process of its own: 50 entries, one after the other."""
    ready.wait()
    for number in range(50):
        manifest.update(folder, f"{name}{number}", {"made_by": {}})


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(2)
    processes = [context.Process(target=_update, args=(tmp_path, name, ready)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert set(load(tmp_path)["datasets"]) == {
        f"{name}{number}" for name in "ab" for number in range(50)
    }

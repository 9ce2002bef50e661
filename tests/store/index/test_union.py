"""The index of a store: which entries hold, several writers, and merging."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from blurb.store import index, rescore
from blurb.store.index import segments, union, writer
from blurb.store.index.union import Index
from blurb.store.store import Store
from blurb.system.files import FORGOTTEN
from tests.store import fakes


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def finish(store: Store, seed: int = 1, score: float = 0.5, model: str = "m") -> str:
    """The key of a finished trial."""
    return index.key_of(fakes.finish(store, model, fakes.trial("gad", seed), score))


def files(store: Store) -> list[Path]:
    return sorted((store.root / union.FOLDER).glob(f"*{segments.SUFFIX}"))


def fresh(store: Store) -> Index:
    """As another process sees it."""
    return Index(str(store.root))


def test_an_entry_has_what_the_files_say(store: Store) -> None:
    key = finish(store, 1, 0.75)
    entry = fresh(store).find(key)
    assert entry is not None
    content = {name: json.loads((store.root / key / f"{name}.json").read_text()) for name in ("spec", "metrics")}
    facts = entry.facts
    assert (facts.data, facts.settings) == (content["spec"]["data"], content["spec"]["settings"])
    assert (facts.metric, facts.metrics_version) == ("f1", content["metrics"]["metrics_version"])
    place, majority = facts.places["test"]["f1"]
    assert (entry.figure(place), majority and entry.figure(majority)) == (0.75, 0.2)
    assert (entry.value("started"), entry.value("train_seconds")) == (fakes.STARTED, 60.0)


@pytest.mark.parametrize("name", ["spec.json", "predictions.parquet", "log.txt", "DONE.json"])
def test_an_entry_holds_while_every_file_is_as_it_was(store: Store, name: str) -> None:
    key = finish(store)
    file = store.root / key / name
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert fresh(store).find(key) is None
    assert fresh(store).find(key, every_file=False) is not None  # its folder does not tell
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fresh(store).find(key) is not None
    with file.open("ab") as opened:
        opened.write(b" ")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fresh(store).find(key) is None  # of another size
    file.unlink()
    os.utime(store.root / key, ns=(1, 1))  # the clock may not have moved since it was finished
    assert fresh(store).find(key, every_file=False) is None


def test_a_replaced_trial_has_the_new_entry_even_within_a_tick_of_the_clock(store: Store) -> None:
    key = finish(store, score=0.5)
    status = (store.root / key).stat()
    finish(store, score=0.25)
    for every_file in (True, False):
        entry = fresh(store).find(key, every_file)
        assert entry is not None
        assert entry.figure(entry.facts.places["dev"]["f1"][0]) == 0.25
    os.utime(store.root / key, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fresh(store).find(key) is None  # the files are others than those of that time


def test_two_states_of_one_time_are_told_apart_by_the_files(store: Store, tmp_path: Path) -> None:
    key = finish(store, score=0.5)
    shutil.copytree(store.root / key, tmp_path / "before")
    time = (store.root / key).stat().st_mtime_ns
    finish(store, score=0.25)
    os.utime(store.root / key, ns=(time, time))
    store.note(store.root / key)
    for every_file in (True, False):
        entry = fresh(store).find(key, every_file)
        assert entry is not None
        assert entry.figure(0) == 0.25
    shutil.rmtree(store.root / key)
    shutil.copytree(tmp_path / "before", store.root / key)
    entry = fresh(store).find(key, every_file=False)
    assert entry is not None
    assert entry.figure(0) == 0.5


def test_rescoring_within_a_tick_of_the_clock_is_seen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.root / finish(store)
    real = os.stat(path)
    monkeypatch.setattr(Store, "seal", _sealed_at(real.st_mtime_ns, Store.seal))
    monkeypatch.setattr(rescore, "figures", lambda *given: {**json.loads((path / "metrics.json").read_text()), "x": 1})
    assert rescore.refresh(store, path)
    assert path.stat().st_mtime_ns != real.st_mtime_ns
    assert fresh(store).find(index.key_of(path)) is not None


def _sealed_at(time: int, seal: Any) -> Any:
    """Seals as if no time had gone by."""

    def sealed(self: Store, path: Path) -> None:
        seal(self, path)
        os.utime(path, ns=(time, time))

    return sealed


def test_processes_write_segments_of_their_own_and_see_each_other(store: Store) -> None:
    first, second = fresh(store), fresh(store)
    keys = []
    for number, each in enumerate((first, second, first)):
        union._known[str(store.root)] = each
        keys.append(finish(store, number))
    assert len(files(store)) == 2
    for each in (first, second):
        each.refresh()
        assert all(each.find(key) is not None for key in keys)


def test_a_forked_process_does_not_write_to_the_segment_of_its_parent(store: Store) -> None:
    finish(store, 1)
    before = files(store)[0].read_bytes()
    if (child := os.fork()) == 0:
        finish(store, 2)
        os._exit(0)
    os.waitpid(child, 0)
    assert len(files(store)) == 2
    assert before in [path.read_bytes() for path in files(store)]


def test_a_full_segment_is_followed_by_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "FULL", 3)
    keys = [finish(store, seed) for seed in range(7)]
    assert len(files(store)) == 3
    assert all(fresh(store).find(key) for key in keys)


def test_damage_of_the_index_costs_time_and_nothing_else(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(3)]
    (path,) = files(store)
    path.write_bytes(path.read_bytes()[:-40])
    again = fresh(store)
    assert again.find(keys[0]) is None
    found = again.look(store, keys, pytest.fail, every_file=True)
    assert list(found) == keys
    assert all(fresh(store).find(key) is not None for key in keys)  # it was written anew


def test_damaged_trials_have_no_entry(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(2)]
    (store.root / keys[0] / "metrics.json").write_text("{}")
    told: list[str] = []
    assert (
        list(
            fresh(store).look(store, [*keys, "m/gad/missing"], lambda damage: told.append(str(damage)), every_file=True)
        )
        == keys[1:]
    )
    (text,) = told
    assert "metrics.json missing or damaged" in text


def test_a_store_that_cannot_be_written_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [finish(store, seed) for seed in range(3)]
    shutil.rmtree(store.root / union.FOLDER)

    def refused(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(Path, "mkdir", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)
    read_only = fresh(store)
    for _ in range(2):
        assert list(read_only.look(store, keys, pytest.fail, every_file=True, create=True)) == keys
    assert not files(store)
    store.note(store.root / keys[0])  # no error


def test_small_segments_are_merged_and_lose_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(union, "MANY", 4)
    keys = []
    for seed in range(6):  # each by a process of its own
        union._known[str(store.root)] = fresh(store)
        keys.append(finish(store, seed))
    shutil.rmtree(store.root / keys[0])
    files(store)[0].with_name(f"damaged{segments.SUFFIX}").write_bytes(b"x")
    left = files(store)[0].with_name(f".left{segments.SUFFIX}.77")
    left.write_bytes(b"x")
    os.utime(left, (0, left.stat().st_mtime - FORGOTTEN - 9))
    other = fresh(store)
    other.refresh()
    reader = fresh(store)
    assert list(reader.look(store, keys, pytest.fail, every_file=False)) == keys[1:]
    (merged,) = files(store)
    assert not left.exists()
    segment = segments.unpacked(merged.read_bytes())
    assert segment is not None
    assert sorted(segment.keys) == sorted(keys[1:])  # without the trial that is gone
    other.refresh()
    for each in (reader, other, fresh(store)):
        assert all(each.find(key) is not None for key in keys[1:])


def test_a_reader_whose_segments_are_merged_meanwhile_misses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(union, "MANY", 1)
    keys = []
    for seed in range(3):
        union._known[str(store.root)] = fresh(store)
        keys.append(finish(store, seed))
    reader, merger = fresh(store), fresh(store)
    read, calls = union.read_bytes, []

    def merged_in_between(path: Path) -> bytes:
        calls.append(path)
        if len(calls) == 2:
            merger.look(store, keys, pytest.fail, every_file=False)
        return read(path)

    monkeypatch.setattr(union, "read_bytes", merged_in_between)
    reader.refresh()
    assert len(files(store)) == 1
    assert all(reader.find(key) is not None for key in keys)


def test_a_segment_that_is_listed_and_not_there_stops_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [finish(store, seed) for seed in range(2)]
    real = union.listed
    monkeypatch.setattr(union, "listed", lambda folder: {**real(folder), f"gone{segments.SUFFIX}": (1, 2, 3)})
    reader = fresh(store)
    assert all(reader.find(key) is not None for key in keys)


@pytest.mark.parametrize("started", ["\ud800", 5, None])
def test_odd_times_of_a_stranger_are_no_error(store: Store, started: Any) -> None:
    key = finish(store)
    file = store.root / key / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "started": started}))
    store.seal(store.root / key)
    assert list(fresh(store).look(store, [key], pytest.fail, every_file=True)) == [key]


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("metrics", "dev", [1]),
        ("metrics", "test", {"f1": "x"}),
        ("provenance", "facts", {"train_seconds": 10**400}),
        ("metrics", "majority", None),
    ],
)
def test_what_cannot_be_understood_is_told(store: Store, file: str, name: str, value: Any) -> None:
    key = finish(store)
    path = store.root / key / f"{file}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    store.seal(store.root / key)
    told: list[str] = []
    assert not fresh(store).look(store, [key], lambda damage: told.append(str(damage)), every_file=True)
    assert str(store.root / key) in told[0]


def test_what_a_writer_added_while_others_merged_is_still_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(union, "MANY", 1)
    keys, processes = [], [fresh(store) for _ in range(3)]
    for seed, each in enumerate(processes):
        union._known[str(store.root)] = each
        keys.append(finish(store, seed))
    real = union.merge

    def merged_late(*given: Any) -> None:
        union._known[str(store.root)] = processes[0]
        keys.append(finish(store, 9))
        real(*given)

    monkeypatch.setattr(union, "merge", merged_late)
    fresh(store).look(store, keys[:3], pytest.fail, every_file=False)
    assert all(fresh(store).find(key) is not None for key in keys)


def test_what_is_done_is_believed_without_hashes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.root / finish(store)
    union._known.clear()
    monkeypatch.setattr("blurb.store.store.file_hash", lambda path: pytest.fail(f"{path} was hashed"))
    assert rescore.is_done(store, path)
    assert rescore.is_current(store, path)
    assert not rescore.is_done(store, path.with_name("0" * 16))


def test_what_was_hashed_once_is_noted(store: Store) -> None:
    path = store.root / finish(store)
    shutil.rmtree(store.root / union.FOLDER)
    union._known.clear()
    assert rescore.is_done(store, path)
    assert fresh(store).find(index.key_of(path)) is not None

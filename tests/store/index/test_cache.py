"""The index of a store: which entries hold, and that it is a cache of readers, which several may write."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from blurb.store import index, rescore
from blurb.store.index import cache, entry
from blurb.store.index.cache import Index
from blurb.store.store import Store
from tests.store import fakes


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def finish(store: Store, seed: int = 1, score: float = 0.5, model: str = "m") -> str:
    """The key of a finished trial."""
    return index.key_of(fakes.finish(store, model, fakes.trial("gad", seed), score))


def files(store: Store) -> list[Path]:
    return sorted((store.root / cache.FOLDER).glob("*"))


def fresh(store: Store) -> Index:
    """As another process sees it."""
    return Index(str(store.root))


@pytest.fixture(autouse=True)
def _every_trial_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "WORTH", 1)


def read(store: Store, *keys: str) -> list[str]:
    """What a process finds that looks at these trials, and writes what it read."""
    return list(fresh(store).look(store, keys, pytest.fail, every_file=True))


def test_an_entry_has_what_the_files_say(store: Store) -> None:
    key = finish(store, 1, 0.75)
    read(store, key)
    entry = fresh(store).find(key)
    content = {
        name: json.loads((store.root / key / f"{name}.json").read_text())
        for name in ("spec", "metrics")
    }
    facts = entry.facts
    assert (facts.data, facts.settings) == (content["spec"]["data"], content["spec"]["settings"])
    assert (facts.metric, facts.metrics_version) == ("f1", content["metrics"]["metrics_version"])
    place, majority = facts.places["test"]["f1"]
    assert (entry.figure(place), majority and entry.figure(majority)) == (0.75, 0.2)
    assert (entry.value("started"), entry.value("train_seconds")) == (fakes.STARTED, 60.0)


@pytest.mark.parametrize("name", ["spec.json", "predictions.parquet", "log.txt", "DONE.json"])
def test_an_entry_holds_while_every_file_is_as_it_was(store: Store, name: str) -> None:
    key = finish(store)
    read(store, key)
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


def test_a_replaced_trial_has_the_new_entry(store: Store) -> None:
    key = finish(store, score=0.5)
    read(store, key)
    before = fresh(store)
    assert before.find(key) is not None
    status = (store.root / key).stat()
    finish(store, score=0.25)
    assert before.find(key) is None
    read(store, key)
    for index_ in (before, fresh(store)):
        index_.refresh()
        for every_file in (True, False):
            entry = index_.find(key, every_file)
            assert entry.figure(entry.facts.places["dev"]["f1"][0]) == 0.25
    os.utime(store.root / key, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fresh(store).find(key) is None


def test_two_states_of_one_time_are_told_apart_by_the_files(store: Store) -> None:
    key = finish(store, score=0.5)
    time = (store.root / key).stat().st_mtime_ns
    read(store, key)
    finish(store, score=0.25)
    os.utime(store.root / key, ns=(time, time))
    assert fresh(store).find(key) is None
    read(store, key)
    entry = fresh(store).find(key)
    assert entry.figure(0) == 0.25


def test_rescoring_within_a_tick_of_the_clock_is_seen(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.root / finish(store)
    real = os.stat(path)
    monkeypatch.setattr(Store, "seal", _sealed_at(real.st_mtime_ns, Store.seal))
    monkeypatch.setattr(
        rescore,
        "figures",
        lambda *given: {**json.loads((path / "metrics.json").read_text()), "x": 1},
    )
    read(store, index.key_of(path))
    assert rescore.refresh(store, path)
    assert path.stat().st_mtime_ns != real.st_mtime_ns
    assert fresh(store).find(index.key_of(path), every_file=False) is None


def _sealed_at(time: int, seal: Any) -> Any:
    """Seals as if no time had gone by."""

    def sealed(self: Store, path: Path) -> None:
        seal(self, path)
        os.utime(path, ns=(time, time))

    return sealed


def test_of_two_that_write_the_later_counts_and_nothing_is_wrong(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(4)]
    first, second = fresh(store), fresh(store)
    for each in (first, second):
        each.refresh()
    first.look(store, keys[:2], pytest.fail, every_file=True)
    second.look(store, keys[2:], pytest.fail, every_file=True)
    assert len(files(store)) == 1
    for each in (first, second, fresh(store)):
        assert list(each.look(store, keys, pytest.fail, every_file=True)) == keys
    assert all(fresh(store).find(key) for key in keys)


def test_few_trials_are_not_written_and_many_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "WORTH", 5)
    keys = [finish(store, seed) for seed in range(9)]
    reader = fresh(store)
    assert list(reader.look(store, keys[:4], pytest.fail, every_file=True)) == keys[:4]
    assert files(store) == []
    assert all(reader.find(key) for key in keys[:4])
    reader.look(store, keys[:5], pytest.fail, every_file=True)
    (file,) = files(store)
    before = file.read_bytes()
    reader.look(store, keys, pytest.fail, every_file=True)  # four more
    assert file.read_bytes() == before
    assert all(fresh(store).find(key) for key in keys[:5])


def test_what_is_gone_is_written_no_more(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(3)]
    read(store, *keys[:2])
    shutil.rmtree(store.root / keys[0])
    read(store, *keys[1:])
    segment = entry.unpacked(files(store)[0].read_bytes())
    assert segment.keys == keys[1:]


def test_damage_of_the_index_costs_time_and_nothing_else(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(3)]
    read(store, *keys)
    (path,) = files(store)
    path.write_bytes(path.read_bytes()[:-40])
    assert fresh(store).find(keys[0]) is None
    assert read(store, *keys) == keys
    assert all(fresh(store).find(key) is not None for key in keys)  # it was written anew


def test_segments_of_an_earlier_version_are_passed_over(store: Store) -> None:
    key = finish(store)
    read(store, key)
    (path,) = files(store)
    path.rename(path.with_name("0123456789abcdef.arrow"))
    assert fresh(store).find(key) is None
    assert read(store, key) == [key]


def test_damaged_trials_have_no_entry(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(2)]
    (store.root / keys[0] / "metrics.json").write_text("{}")
    told: list[str] = []
    assert (
        list(
            fresh(store).look(
                store,
                [*keys, "m/gad/missing"],
                lambda damage: told.append(str(damage)),
                every_file=True,
            )
        )
        == keys[1:]
    )
    (text,) = told
    assert "metrics.json missing or damaged" in text


def test_a_store_that_cannot_be_written_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [finish(store, seed) for seed in range(3)]

    def refused(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(Path, "mkdir", refused)
    monkeypatch.setattr(Path, "write_bytes", refused)
    read_only = fresh(store)
    for _ in range(2):
        assert list(read_only.look(store, keys, pytest.fail, every_file=True)) == keys
    assert not files(store)


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
    assert not fresh(store).look(
        store, [key], lambda damage: told.append(str(damage)), every_file=True
    )
    assert str(store.root / key) in told[0]


def test_what_is_done_is_believed_without_hashes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.root / finish(store)
    read(store, index.key_of(path))
    cache._known.clear()
    monkeypatch.setattr(
        "blurb.store.store.file_hash", lambda path: pytest.fail(f"{path} was hashed")
    )
    assert rescore.is_done(store, path)
    assert rescore.is_current(store, path)
    assert not rescore.is_done(store, path.with_name("0" * 16))

"""The index of a store: which entries count, and that one that cannot be used is passed by, never waited for."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from blurb.messages import BlurbError
from blurb.store import index, rescore
from blurb.store.store import Store
from blurb.system import cache
from tests.rewriting import rewrite
from tests.store import fakes


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    return Store(tmp_path / "runs")


def finish(store: Store, seed: int = 1, score: float = 0.5) -> str:
    """The key of a finished trial."""
    return index.key_of(fakes.finish(store, "m", fakes.trial("gad", seed), score))


def read(store: Store, *keys: str) -> dict[str, index.TrialFacts]:
    """What a reader finds, who keeps what the index lacks."""
    return index.read_facts(store, keys, pytest.fail)


def is_known(store: Store, key: str) -> bool:
    return key in index.find_facts(store, [key])


def file_of(store: Store) -> Path:
    (file,) = (cache.cache_home() / "trials").glob("*.sqlite")
    return file


def test_an_entry_has_what_the_files_say(store: Store) -> None:
    key = finish(store, score=0.75)
    fresh = read(store, key)
    assert index.find_facts(store, [key]) == fresh
    content = {
        name: json.loads((store.root / key / f"{name}.json").read_text())
        for name in ("spec", "metrics")
    }
    facts = fresh[key]
    assert (facts.data, facts.settings) == (content["spec"]["data"], content["spec"]["settings"])
    assert (facts.metrics, facts.metrics["test"]["f1"]) == (content["metrics"], 0.75)


def test_nothing_of_it_is_in_the_store(store: Store) -> None:
    key = finish(store)
    before = sorted(store.root.rglob("*"))
    (store.root / ".index").mkdir()  # of an earlier version
    (store.root / ".index" / "trials.arrow").write_bytes(b"old")
    assert list(read(store, key)) == [key]
    assert is_known(store, key)
    left = {store.root / ".index", store.root / ".index" / "trials.arrow"}
    assert set(store.root.rglob("*")) - set(before) == left


@pytest.mark.parametrize("name", ["spec.json", "predictions.parquet", "log.txt", "DONE.json"])
def test_an_entry_counts_while_every_file_is_as_it_was(store: Store, name: str) -> None:
    key = finish(store)
    read(store, key)
    file = store.root / key / name
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert not is_known(store, key)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert is_known(store, key)
    with file.open("ab") as opened:
        opened.write(b" ")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_known(store, key)  # of another size
    file.unlink()
    assert not is_known(store, key)


def test_a_replaced_trial_is_read_again(store: Store) -> None:
    key = finish(store, score=0.5)
    before = (store.root / key).stat()
    read(store, key)
    finish(store, score=0.25)
    os.utime(store.root / key, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_known(store, key)
    assert read(store, key)[key].metrics["dev"]["f1"] == 0.25
    assert index.find_facts(store, [key])[key].metrics["dev"]["f1"] == 0.25


def test_rescoring_within_a_tick_of_the_clock_is_seen(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.root / finish(store)
    times = {file: file.stat() for file in (*path.iterdir(), path)}
    seal = Store.seal

    def sealed(self: Store, path: Path) -> None:
        """Seals as if no time had gone by."""
        seal(self, path)
        for file, status in times.items():
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    changed = {**json.loads((path / "metrics.json").read_text())}
    changed["dev"] = {**changed["dev"], "f1": 0.6}  # of the same length as 0.5
    monkeypatch.setattr(Store, "seal", sealed)
    monkeypatch.setattr(rescore, "figures", lambda *given: changed)
    read(store, index.key_of(path))
    assert rescore.refresh(store, path)
    assert not is_known(store, index.key_of(path))


def lock(store: Store) -> Any:
    """Another process writes."""
    other = sqlite3.connect(file_of(store), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other


def cut(store: Store) -> None:
    file = file_of(store)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def fill_with_nonsense(store: Store) -> None:
    file_of(store).write_bytes(b"no database" * 1_000)


def make_other_table(store: Store, columns: str = "trials_1 (path TEXT)") -> None:
    """Another version, whose table has the same name for other columns."""
    (file := file_of(store)).unlink()
    with sqlite3.connect(file) as table:
        table.execute(f"CREATE TABLE {columns}")


make_other_version = partial(
    make_other_table, columns="trials_2 (trial TEXT PRIMARY KEY, stamp BLOB, facts BLOB)"
)


def make_folder(store: Store) -> None:
    file = file_of(store)
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    "spoil", [lock, cut, fill_with_nonsense, make_other_table, make_other_version, make_folder]
)
def test_one_that_cannot_be_used_is_passed_by(
    store: Store, spoil: Callable[[Store], object]
) -> None:
    keys = [finish(store, seed) for seed in range(3)]
    whole = read(store, *keys[:2])
    kept = spoil(store)
    start = time.monotonic()
    for _ in range(2):
        assert {key: read(store, *keys)[key] for key in keys[:2]} == whole
        assert list(read(store, *keys)) == keys
    assert time.monotonic() - start < 4  # SQLite's own limit for a lock is five seconds
    del kept


def test_one_that_may_only_be_read_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [finish(store, seed) for seed in range(2)]
    read(store, keys[0])
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda file, **more: connect(f"file:{file}?mode=ro", uri=True, **more)
    )
    for _ in range(2):
        assert list(read(store, *keys)) == keys
        assert list(index.find_facts(store, keys)) == keys[:1]


def test_a_damaged_one_is_begun_anew(store: Store) -> None:
    key = finish(store)
    read(store, key)
    fill_with_nonsense(store)
    read(store, key)  # removes it
    read(store, key)
    assert is_known(store, key)


def test_a_flipped_bit_changes_no_figure(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(4)]
    whole = read(store, *keys)
    content, rng = file_of(store).read_bytes(), random.Random(1)
    for _ in range(200):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file_of(store).write_bytes(changed)
        found = index.find_facts(store, keys)
        assert found == {key: whole[key] for key in found}


def test_without_a_cache_folder_all_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    key = finish(store)

    monkeypatch.setattr(
        cache, "cache_home", Mock(side_effect=BlurbError("There is no cache folder."))
    )
    for _ in range(2):
        assert list(read(store, key)) == [key]


READ = """
import sys
from pathlib import Path
from blurb.store import index
from blurb.store.store import Store
store = Store(Path(sys.argv[1]))
keys = [index.key_of(path) for path in store.trial_folders()]
for _ in range(5):
    facts = index.read_facts(store, keys, lambda error: sys.exit(str(error)))
    assert [facts[key].metrics["test"]["f1"] for key in keys] == [0.5] * len(keys)
"""


@pytest.mark.costly
def test_twenty_processes_read_while_one_writes(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(20)]
    readers = [subprocess.Popen([sys.executable, "-c", READ, str(store.root)]) for _ in range(20)]
    while any(reader.poll() is None for reader in readers):
        entries = [(key, *index.read_folder(store, key, pytest.fail)) for key in keys]
        index._keep_entries(store, entries)
    assert [reader.returncode for reader in readers] == [0] * 20
    assert len(read(store, *keys)) == 20


def test_damaged_trials_have_no_entry(store: Store) -> None:
    keys = [finish(store, seed) for seed in range(2)]
    (store.root / keys[0] / "metrics.json").write_text("{}")
    told: list[BlurbError] = []
    assert list(index.read_facts(store, [*keys, "m/gad/missing"], told.append)) == keys[1:]
    (error,) = told
    assert "metrics.json missing or damaged" in str(error)


@pytest.mark.parametrize("started", ["\ud800", 5, None])
def test_odd_times_of_a_stranger_are_no_error(store: Store, started: Any) -> None:
    key = finish(store)
    rewrite(store.root / key / "provenance.json", started=started)
    store.seal(store.root / key)
    assert list(read(store, key)) == [key]


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("metrics", "dev", [1]),
        ("metrics", "test", {"f1": "x"}),
        *[("metrics", "test", {"f1": value}) for value in (7.0, -0.5, 1.1, 1e300, 10**400)],
        ("provenance", "facts", {"train_seconds": 10**400}),
        ("metrics", "majority", None),
    ],
)
def test_what_cannot_be_understood_is_told(store: Store, file: str, name: str, value: Any) -> None:
    key = finish(store)
    rewrite(store.root / key / f"{file}.json", **{name: value})
    store.seal(store.root / key)
    told: list[BlurbError] = []
    assert not index.read_facts(store, [key], told.append)
    assert str(store.root / key) in str(told[0])


def test_what_is_done_is_believed_without_hashes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.root / finish(store)
    read(store, index.key_of(path))
    monkeypatch.setattr(
        "blurb.store.store.file_hash", lambda path: pytest.fail(f"{path} was hashed")
    )
    assert rescore.is_done(store, path)
    assert rescore.is_current(store, path)
    assert not rescore.is_done(store, path.with_name("0" * 16))

"""Ragged rows, features by unit, and the cache on disk."""

import random
import tokenize
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from blurb.inputs import tokenized_split
from blurb.inputs.features import RAGGED, Features, Ragged


def _features(seed: int = 0) -> Features:
    rng = random.Random(seed)
    rows = [[rng.randrange(100) for _ in range(size)] for size in (4, 3, 5, 2)]
    return Features(
        ids=Ragged.of(rows),
        token_type_ids=Ragged.of([[0] * len(row) for row in rows]),
        example_index=np.array([0, 1, 1, 2]),
        word_ids=Ragged.of([[0, 1], [0], [1, 2], []]),
        word_starts=Ragged.of([[1, 2], [1], [1, 3], []]),
        word_ends=Ragged.of([[2, 3], [2], [2, 5], []]),
        truncated=1,
        windowed=2,
    )


def _equal(a: Features, b: Features) -> bool:
    for name in RAGGED:
        one, other = getattr(a, name), getattr(b, name)
        if (one is None) != (other is None):
            return False
        if one is not None and [row.tolist() for row in one] != [row.tolist() for row in other]:
            return False
    return a.example_index.tolist() == b.example_index.tolist() and (a.truncated, a.windowed) == (
        b.truncated,
        b.windowed,
    )


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=5))
def test_ragged_rows_come_back(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert len(ragged) == len(rows)
    assert [ragged[i].tolist() for i in range(len(rows))] == rows
    assert ragged.lengths.tolist() == [len(row) for row in rows]
    order = list(range(len(rows)))[::-1]
    assert [row.tolist() for row in (ragged.take(order)[i] for i in range(len(rows)))] == rows[::-1]


def test_features_of_some_units_are_theirs_in_the_order_asked_for() -> None:
    whole = _features()
    some = whole.of_units([2, 1])
    assert some.example_index.tolist() == [0, 1, 1]
    assert [some.ids[row].tolist() for row in range(3)] == [
        whole.ids[row].tolist() for row in (3, 1, 2)
    ]
    assert [some.word_ids[row].tolist() for row in range(3)] == [[], [0], [1, 2]]


@pytest.mark.parametrize("full", [True, False])
def test_saved_features_come_back(tmp_path: Path, full: bool) -> None:
    features = (
        _features() if full else Features(ids=Ragged.of([[1], []]), example_index=np.arange(2))
    )
    features.save(tmp_path / "f.npz")
    read = Features.read(tmp_path / "f.npz")
    assert _equal(read, features)
    assert read.ids.values.dtype == np.int64


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    return tmp_path


class Builder:
    """Counts how often it is asked."""

    def __init__(self, seed: int = 0) -> None:
        self.calls = 0
        self.seed = seed

    def __call__(self) -> Features:
        self.calls += 1
        return _features(self.seed)


def test_the_same_key_is_built_once(home: Path) -> None:
    build = Builder()
    first = tokenized_split.cached_features({"units": "a", "max_length": 5}, build)
    second = tokenized_split.cached_features({"max_length": 5, "units": "a"}, build)
    assert build.calls == 1
    assert _equal(first, second)
    assert [path.suffix for path in (home / "features").iterdir()] == [".npz"]


@pytest.mark.parametrize(
    "other", [{"units": "b", "max_length": 5}, {"units": "a", "max_length": 6}, {"units": "a"}]
)
def test_another_key_is_built_anew(home: Path, other: dict[str, object]) -> None:
    tokenized_split.cached_features({"units": "a", "max_length": 5}, Builder(0))
    build = Builder(1)
    assert _equal(tokenized_split.cached_features(other, build), _features(1))
    assert build.calls == 1


def test_another_version_of_the_transforms_is_built_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenized_split.cached_features({"units": "a"}, Builder())
    monkeypatch.setattr(tokenized_split, "VERSION", tokenized_split.VERSION + 1)
    build = Builder()
    tokenized_split.cached_features({"units": "a"}, build)
    assert build.calls == 1


@pytest.mark.costly
def test_a_damaged_file_is_rebuilt_and_never_read_wrongly(home: Path) -> None:
    """Cut and overwritten in every way that a seeded generator finds: the features are the right ones all the same."""
    tokenized_split.cached_features({"units": "a"}, Builder())
    (path,) = (home / "features").iterdir()
    good = path.read_bytes()
    rng = random.Random(0)
    damaged = [
        b"",
        b"\n",
        good[:-1],
        good[: len(good) // 2],
        good + b"x",
        bytes(len(good)),
        b"PK\x03\x04",
        good[9:],
    ]
    for _ in range(300):
        spoilt = bytearray(good)
        for _ in range(rng.choice([1, 2, 40])):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        damaged.append(bytes(spoilt))
    rebuilt = 0
    for content in damaged:
        path.write_bytes(content)
        build = Builder()
        assert _equal(tokenized_split.cached_features({"units": "a"}, build), _features())
        rebuilt += build.calls
        assert _equal(Features.read(path), _features())
    assert rebuilt > len(damaged) // 2


@pytest.mark.parametrize(
    ("shape", "spoilt", "error"),
    [
        (b"(4,)", b"(4,(", tokenize.TokenError),
        (b"(4,), }          ", b"(9999999999999,)}", (MemoryError, ValueError)),
    ],
)
def test_damage_that_numpy_has_no_error_of_its_own_for(
    home: Path, shape: bytes, spoilt: bytes, error: type[Exception]
) -> None:
    tokenized_split.cached_features({"units": "a"}, Builder())
    (path,) = (home / "features").iterdir()
    good = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert shape in members["example_index.npy"]
    # In a large file the header is read before the checksum
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(
                name, content.replace(shape, spoilt) if name == "example_index.npy" else content
            )
    with pytest.raises(error):
        Features.read(path)
    build = Builder()
    assert _equal(tokenized_split.cached_features({"units": "a"}, build), _features())
    assert build.calls == 1
    assert path.read_bytes() == good


def test_whatever_reading_or_writing_raises_costs_time_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Strange(Exception):
        pass

    def fail(*_: object) -> None:
        raise Strange

    monkeypatch.setattr(Features, "read", fail)
    monkeypatch.setattr(Features, "save", fail)
    assert _equal(tokenized_split.cached_features({"units": "a"}, Builder()), _features())


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "file"))
    assert _equal(tokenized_split.cached_features({"units": "a"}, Builder()), _features())

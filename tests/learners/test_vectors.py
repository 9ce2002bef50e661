"""Vectors on disk: what is read is whole and the right one, there is never too much, and the disk costs no run."""

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from blurb.learners.frozen import vectors
from blurb.learners.frozen.vectors import Half, stored_vectors
from blurb.system import cache

SHAPES = [(5, 3), (5, 2)]
KEY = {"weights": "w", "inputs": "i"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path))
    return tmp_path / "vectors"


class Counted:
    """Fills with numbers that follow from `start`, and counts how often."""

    def __init__(self, start: float = 0.0) -> None:
        self.start, self.times = start, 0

    def __call__(self, arrays: Sequence[Half]) -> None:
        self.times += 1
        for number, array in enumerate(arrays):
            array[:] = np.arange(array.size).reshape(array.shape) + self.start + number


def same(found: Sequence[Half], start: float = 0.0) -> bool:
    expected = [np.empty(shape, np.float16) for shape in SHAPES]
    Counted(start)(expected)
    return all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True))


def entries(home: Path) -> list[Path]:
    return sorted(path for path in home.iterdir() if path.is_dir())


def test_it_is_filled_once(home: Path) -> None:
    fill = Counted()
    for _ in range(2):
        found, note = stored_vectors(KEY, SHAPES, fill)
        assert same(found)
        assert note == ""
    assert fill.times == 1
    assert isinstance(found[0], np.memmap)
    assert [path.name[0] == "." for path in entries(home)] == [False]
    (usage,) = (one for one in cache.usage() if one.kind == "vectors")
    assert usage.size > 2 * 25
    assert cache.clear("vectors") == usage.size


def test_another_encoder_or_input_has_its_own(home: Path) -> None:
    stored_vectors(KEY, SHAPES, Counted())
    for number, change in enumerate(({"weights": "v"}, {"inputs": "j"}, {"precision": "bf16"}), 1):
        found, _ = stored_vectors({**KEY, **change}, SHAPES, Counted(number))
        assert same(found, number)
    assert len(entries(home)) == 4


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        pytest.param("0.npy", lambda content: content[:-2], id="short"),
        pytest.param("key.json", None, id="no key"),
        pytest.param("key.json", lambda content: content.replace(b'"w"', b'"v"'), id="foreign key"),
        pytest.param("0.npy", None, id="no array"),
        pytest.param("0.npy", lambda content: b"not an array", id="garbage"),
        pytest.param(
            "0.npy", lambda content: saved(np.zeros((4, 3), np.float16)), id="other shape"
        ),
    ],
)
def test_what_is_not_whole_is_not_read(
    home: Path, name: str, damaged: Callable[[bytes], bytes] | None
) -> None:
    stored_vectors(KEY, SHAPES, Counted(100))
    (entry,) = entries(home)
    content = (entry / name).read_bytes()
    (entry / name).unlink()
    if damaged is not None:
        (entry / name).write_bytes(damaged(content))
    fill = Counted()
    assert same(stored_vectors(KEY, SHAPES, fill)[0])
    assert fill.times == 1
    assert same(stored_vectors(KEY, SHAPES, fill)[0])
    assert fill.times == 1  # mended


def saved(array: Half) -> bytes:
    np.save(file := io.BytesIO(), array)
    return file.getvalue()


def test_a_killed_run_leaves_nothing_that_is_read(home: Path) -> None:
    def killed(arrays: Sequence[Half]) -> None:
        arrays[0][:] = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored_vectors(KEY, SHAPES, killed)
    assert entries(home) == []
    (home / f".{'0' * 32}.1.tmp").mkdir()
    assert same(stored_vectors(KEY, SHAPES, Counted())[0])


@pytest.mark.parametrize("other", ["another process", "one with the same id"])
def test_of_two_that_fill_at_once_the_first_stays(home: Path, other: str) -> None:
    """Its files were removed while it read them; two processes of one id, in two containers, shared a folder aside."""
    first: list[tuple[list[Half], str]] = []
    files: list[int] = []

    def inodes() -> list[int]:
        return [path.stat().st_ino for path in sorted(home.glob("[0-9a-f]*/*"))]

    def sevens(arrays: Sequence[Half]) -> None:
        for array in arrays:
            array.fill(7)

    def slow(arrays: Sequence[Half]) -> None:
        Counted()(arrays)
        if other == "another process":
            code = (
                "from blurb.learners.frozen.vectors import stored_vectors\n"
                f"stored_vectors({KEY}, {SHAPES}, lambda arrays: [array.fill(7) for array in arrays])"
            )
            subprocess.run([sys.executable, "-c", code], check=True)
        else:
            first.append(stored_vectors(KEY, SHAPES, sevens))
        files.extend(inodes())

    found, note = stored_vectors(KEY, SHAPES, slow)
    assert note == ""
    assert inodes() == files
    assert len(entries(home)) == 1
    for arrays in (found, *(one for one, _ in first), stored_vectors(KEY, SHAPES, Counted())[0]):
        assert all((array == 7).all() for array in arrays)


def test_an_error_of_what_fills_is_no_error_of_the_disk(home: Path) -> None:
    """The arrays are not whole then; an OSError was taken for one of the cache, and they were used."""

    with pytest.raises(OSError, match="the encoder's file is gone"):
        stored_vectors(KEY, SHAPES, Mock(side_effect=OSError("the encoder's file is gone")))
    assert entries(home) == []


def test_there_is_never_more_than_the_limit(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LIMIT", 3_000)
    shapes = [(100, 4)]  # 800 bytes and a header
    seen: set[Path] = set()
    for number in range(3):
        stored_vectors({"number": number}, shapes, Counted(number))
        (newest,) = set(entries(home)) - seen
        seen.add(newest)
        os.utime(newest, (1_000 + number, 1_000 + number))
        if number == 0:
            first = newest
    # Used again: now the second is the one whose use is longest ago
    stored_vectors({"number": 0}, shapes, Counted())
    fill = Counted()
    stored_vectors({"number": 3}, shapes, Counted())
    assert first in entries(home)
    assert sum(file.stat().st_size for entry in entries(home) for file in entry.iterdir()) <= 3_000
    stored_vectors({"number": 1}, shapes, fill)
    assert fill.times == 1


def test_what_is_larger_than_the_limit_is_held_in_memory(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "LIMIT", 100)
    found, note = stored_vectors(KEY, SHAPES, Counted())
    assert same(found)
    assert not isinstance(found[0], np.memmap)
    assert note.startswith("held in memory, as they cannot be cached: they need")


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        (
            os,
            "posix_fallocate",
            "held in memory, as they cannot be cached: No space left on device",
        ),
        (Path, "write_text", "not cached: No space left on device"),  # at the end
    ],
)
def test_a_full_disk_costs_no_run(
    owner: object, name: str, message: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(
        owner, name, Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    )
    found, note = stored_vectors(KEY, SHAPES, Counted())
    assert same(found)
    assert note == message
    assert entries(home) == []


def test_a_place_that_cannot_be_written_costs_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "file"))
    found, note = stored_vectors(KEY, SHAPES, Counted())
    assert same(found)
    assert note


def test_nothing_to_read_is_kept_too() -> None:
    for _ in range(2):
        found, _ = stored_vectors(KEY, [(0, 4), (3, 4)], lambda arrays: arrays[1].fill(2))
        assert [array.shape for array in found] == [(0, 4), (3, 4)]
        assert (found[1] == 2).all()

"""Data are read and hashed once a command, and workers map what the command has read."""

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from blurb import data, tasks
from blurb.corpora import demo
from blurb.execution import data_sources
from blurb.execution.data_sources import DataSource
from tests.cli.in_process import ran


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    demo.write(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """How often each split was read from here on, by a process that has read nothing."""
    monkeypatch.setattr(data_sources, "_kept", type(data_sources._kept)())
    monkeypatch.setattr(data_sources, "_facts", {})
    found: Counter[tuple[str, str]] = Counter()
    read = data.load_task.__globals__["read_split"]

    def counting(task: tasks.Task, place: Path, split: tasks.Split) -> object:
        found[task.name, split] += 1
        return read(task, place, split)

    monkeypatch.setitem(data.load_task.__globals__, "read_split", counting)
    return found


@pytest.mark.costly
def test_a_command_reads_every_corpus_once(
    folder: Path, here: Path, reads: Counter[tuple[str, str]]
) -> None:
    command = shlex.split(
        f"run baseline:majority baseline:constant --data {folder} --protocol smoke --tasks gad,biosses,hoc"
    )
    ran(command)
    assert reads == {
        (task, split): 1 for task in ("gad", "biosses", "hoc") for split in tasks.SPLITS
    }


def test_a_file_that_changed_is_read_again(folder: Path, reads: Counter[tuple[str, str]]) -> None:
    origin = DataSource("gad", folder)
    before = data_sources.data_hash(origin)
    assert data_sources.load_data(origin).hash == before == data_sources.data_hash(origin)
    assert sum(reads.values()) == 3
    path = folder / "GAD" / "train.tsv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    assert data_sources.data_hash(origin) != before
    assert data_sources.load_data(origin).hash == data_sources.data_hash(origin)
    assert sum(reads.values()) == 6


MINE = """name = "mine"
type = "similarity"
scale = [0, 4]
files = { train = "train.jsonl", dev = "dev.jsonl", test = "test.jsonl" }
format = { kind = "jsonl" }
"""


def test_a_task_file_that_was_edited_is_read_again(
    folder: Path, tmp_path: Path, reads: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash covers labels and metric: scores of before and after are not averaged."""
    monkeypatch.setattr(tasks, "_files", {})
    declared = tmp_path / "mine.toml"
    declared.write_text(MINE)
    for split in tasks.SPLITS:
        lines = [
            {"id": f"{split}{score}", "text_a": f"a {split}", "text_b": "b", "score": score}
            for score in (1, 3)
        ]
        (tmp_path / f"{split}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    origin = DataSource(str(declared), folder)
    before = data_sources.data_hash(origin)
    declared.write_text(MINE.replace("[0, 4]", "[0, 10]"))
    assert data_sources.data_hash(origin) != before
    assert data_sources.load_data(origin).task.metric_options["high"] == 10


def test_memory_is_bounded_and_the_hashes_stay(
    folder: Path, reads: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_sources, "MOST_BYTES", 1)
    origins = [DataSource(name, folder) for name in ("gad", "biosses")]
    for _ in range(3):
        for origin in origins:
            data_sources.data_hash(origin)
    assert set(reads.values()) == {1}
    # The last one stays: the seeds of a task follow one another
    assert list(data_sources._kept) == origins[1:]


@pytest.mark.costly
def test_a_worker_maps_what_the_command_has_read(
    folder: Path, reads: Counter[tuple[str, str]]
) -> None:
    origins = [DataSource("gad", folder), DataSource("bc2gm", folder)]
    known = {origin.task: data_sources.load_data(origin) for origin in origins}
    code = (
        "import json, sys\nfrom pathlib import Path\nfrom blurb import data\nfrom blurb.execution import data_sources\n"
        "def refuse(*given): raise SystemExit('it was read again')\n"
        "data.load_task.__globals__['read_split'] = refuse\n"
        "data_sources.receive(Path(sys.argv[1]))\n"
        "source = data_sources.DataSource\n"
        "found = [data_sources.load_data(source(task, Path(sys.argv[2]))) for task in ('gad', 'bc2gm')]\n"
        "print(json.dumps([[one.hash, one.verdict, {s: d.to_list() for s, d in one.splits.items()}] for one in found]))"
    )
    with data_sources.handed_over([*origins, DataSource("hoc", folder)]) as handed:
        command = [sys.executable, "-c", code, str(handed), str(folder)]
        worker = subprocess.run(command, capture_output=True, text=True, check=False)
    assert worker.returncode == 0, worker.stderr
    for (hash_, verdict, splits), content in zip(
        json.loads(worker.stdout), known.values(), strict=True
    ):
        assert (hash_, verdict) == (content.hash, content.verdict)
        assert splits == {split: rows.to_list() for split, rows in content.splits.items()}
    assert not handed.exists()


def test_a_worker_reads_for_itself_what_changed_or_is_damaged(
    folder: Path, reads: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = DataSource("gad", folder)
    expected = data_sources.load_data(origin).hash
    monkeypatch.setattr(data_sources, "_handed", [])
    with data_sources.handed_over([origin]) as handed:
        data_sources.receive(handed)
        for damage in ("train", data_sources.INDEX):
            data_sources._kept.clear()
            place = handed / (damage if damage == data_sources.INDEX else f"0.{damage}")
            whole = place.read_bytes()
            place.write_bytes(whole[: len(whole) // 2])
            reads.clear()
            assert data_sources.load_data(origin).hash == expected
            assert sum(reads.values()) == 3
            place.write_bytes(whole)
        data_sources._kept.clear()
        reads.clear()
        assert data_sources.load_data(origin).hash == expected
        assert sum(reads.values()) == 0
        data_sources._kept.clear()
        os.utime(folder / "GAD" / "dev.tsv", ns=(1, 1))
        assert data_sources.load_data(origin).hash == expected
        assert sum(reads.values()) == 3


def test_a_full_disk_costs_time_alone(
    folder: Path, reads: Counter[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data_sources.load_data(DataSource("gad", folder))

    def full(*given: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(data_sources, "_write_manifest", full)
    with data_sources.handed_over([DataSource("gad", folder)]) as handed:
        assert list(handed.iterdir()) == []
    monkeypatch.setattr(data_sources.tempfile, "TemporaryDirectory", full)
    with data_sources.handed_over([DataSource("gad", folder)]) as handed:
        assert handed is None

"""Files that appear whole or not at all. Oracle: what the folder holds afterwards."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from blurb import tasks
from blurb.messages.errors import SettingsError, StoreError
from blurb.protocols import protocol, settings
from blurb.regression import rules
from blurb.store.record import read_predictions
from blurb.system import files, parquet, text_files
from blurb.system.files import FORGOTTEN, hidden_name, new_folder, remove_forgotten, replacing_file


def test_a_replaced_file_keeps_its_content_if_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "table.npz"
    with replacing_file(path) as aside:
        aside.write_text("old")
        assert not path.exists()

    def fail() -> None:
        with replacing_file(path) as aside:
            aside.write_text("half of the new")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    assert path.read_text() == "old"
    assert [inside.name for inside in path.parent.iterdir()] == ["table.npz"]


def test_a_new_folder_appears_whole_and_the_first_of_two_processes_wins(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    with new_folder(path) as aside:
        aside.mkdir()
        (aside / "config.json").write_text("mine")
        path.mkdir()  # as another process would, meanwhile
        (path / "config.json").write_text("theirs")
    assert (path / "config.json").read_text() == "theirs"
    assert [inside.name for inside in tmp_path.iterdir()] == ["checkpoint"]


def test_a_new_folder_that_cannot_be_put_in_place_is_an_error_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checkpoint"
    path.write_text("a file of that name")
    with pytest.raises(OSError, match="checkpoint"), new_folder(path) as aside:
        aside.mkdir()
    assert [inside.name for inside in tmp_path.iterdir()] == ["checkpoint"]


def test_only_our_own_temporary_files_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    mine = [
        tmp_path / name
        for name in (".results.csv.2026-11-01", ".results.csv.77", ".results.csv.mine.tmp")
    ]
    ours = [hidden_name(path), hidden_name(path)]
    for file in (*mine, *ours):
        file.write_text("x")
        os.utime(file, (1, 1))
    os.utime(ours[1], (FORGOTTEN, FORGOTTEN))
    remove_forgotten(path, FORGOTTEN + 2)
    assert sorted(tmp_path.iterdir()) == sorted([*mine, ours[1]])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (one, "it has the number")
            for one in ('{"a": NaN}', '{"a": [-Infinity]}', '{"a": {"b": Infinity}}')
        ),
        ('{"a": {"b": 1, "b": 2}}', "the key 'b' has two values"),
    ],
)
def test_what_json_has_not_is_damage(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(StoreError, match=rf"a\.json: cannot be read: {told}"):
        files.read_json(tmp_path / "a.json")


def test_an_infinite_number_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1e999}')
    with pytest.raises(StoreError, match=r"b\.json: cannot be written"):
        files.write_json(tmp_path / "b.json", files.read_json(tmp_path / "a.json"))
    assert not (tmp_path / "b.json").exists()


# Every reader of a user's TOML file refuses what is none in one sentence with the name of the file.


READERS: dict[str, Callable[[str], Any]] = {
    "task file": tasks.load,
    "protocol": protocol.load_protocol_file,
    "rules": lambda name: rules.load_rules(Path(name)),
}
BAD = {
    "digits": (b"seeds = " + b"9" * 5_000, "invalid TOML"),
    "brackets": (b"seeds = " + b"[" * 100_000, "nested too deeply"),
    "no TOML": (b"a = 1\nb =\n", "line 2"),
    "no UTF-8": (b"a = 1\nb = '\xff'\n", ":2: this line is not UTF-8"),
    "too large": (b"#" * (text_files.MOST_BYTES + 1), "too large"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_toml_is_told(reader: str, case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    content, message = BAD[case]
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        READERS[reader](str(path))
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.toml", "no such file|there is no such|does not exist"),
        ("folder.toml", "cannot read|does not exist"),
    ],
)
def test_no_file_and_a_folder_are_told(name: str, told: str, reader: str, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(SettingsError, match=told) as caught:
        READERS[reader](str(tmp_path / name))
    assert "Errno" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes("\ufeffsplit = 'test'\n".encode())
    assert rules.load_rules(path).split == "test"


def test_a_number_of_hundreds_of_digits_is_no_float(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for reader, text in (("rules", "max_drop = "), ("protocol", "[all]\nlr = ")):
        path.write_text(text + "9" * 400)
        with pytest.raises(SettingsError, match=r"must be a number, at least 0.* \(got 999"):
            READERS[reader](str(path))


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 100_000])
def test_a_setting_may_be_nonsense_too(value: str) -> None:
    with pytest.raises(SettingsError, match="epochs must be a whole number"):
        settings.parse_overrides({"epochs": value})


# What comes out of a Parquet file is limited. The oracle is Arrow's own reader, and sizes that are counted by hand.


def write(path: Path, **columns: object) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd")  # type: ignore[arg-type]
    return path


def repeated(text: str, count: int) -> pyarrow.Array:
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count), pyarrow.array([text]))


def test_ordinary_content_comes_out_as_arrow_has_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.parquet",
        id=["a", "b", "a"],
        tags=[["O", "B"], [], ["O"]],
        scores=[[[0.5, 0.25]], [], [[1.0]]],
        gold=[{"x": "é"}, None, {"x": "y"}],
        number=[1, 2, None],
    )
    expected = pyarrow.parquet.read_table(path).to_pydict()
    assert parquet.columns(path.read_bytes()) == expected
    assert parquet.columns(path.read_bytes(), ("number", "id")) == {
        name: expected[name] for name in ("number", "id")
    }
    with pytest.raises(ValueError, match="it has 3 rows; at most 2 are expected"):
        parquet.columns(path.read_bytes(), rows=2)


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="counts threads as Linux shows them"
)
def test_reading_starts_no_threads(tmp_path: Path) -> None:
    """A thread of Arrow's may abort a process that ends, so that a check that passed exits with 134."""
    path = write(tmp_path / "x.parquet", id=["a"] * 50_000, tags=[["O", "B"]] * 50_000)
    code = (
        "import os, pathlib, sys, pyarrow.parquet; from blurb.system import parquet; "
        "count = lambda: len(os.listdir('/proc/self/task')); before = count(); "
        "parquet.columns(pathlib.Path(sys.argv[1]).read_bytes()); print(count() - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"


@pytest.mark.parametrize("nested", [False, True])
def test_a_text_that_is_repeated_counts_each_time(nested: bool, tmp_path: Path) -> None:
    texts = repeated(("y" * 1_000_000), 40)
    cells = (
        pyarrow.ListArray.from_arrays(pyarrow.array(range(41), pyarrow.int32()), texts)
        if nested
        else texts
    )
    path = write(tmp_path / "x.parquet", prediction=cells)
    assert path.stat().st_size < 5_000
    with pytest.raises(ValueError, match="more than 30,000,000 bytes"):
        parquet.columns(path.read_bytes(), size=30_000_000)
    assert len(parquet.columns(path.read_bytes(), size=50_000_000)["prediction"]) == 40


def test_a_list_of_many_values_is_refused_by_their_number(tmp_path: Path) -> None:
    tags = pyarrow.ListArray.from_arrays(
        pyarrow.array([0, 5_000_000], pyarrow.int32()), repeated("O", 5_000_000)
    )
    with pytest.raises(ValueError, match="more than 100,000,000 bytes"):
        parquet.columns(write(tmp_path / "x.parquet", tags=tags).read_bytes(), size=100_000_000)


def test_the_store_of_a_stranger_has_no_bomb(tmp_path: Path) -> None:
    """Before it was unpacked whole: a hundred million rows of one label are some hundred kilobytes."""
    path = tmp_path / "predictions.parquet"
    rows = pyarrow.table(
        {"split": pyarrow.repeat("test", 5_000_000), "id": pyarrow.repeat("x", 5_000_000)}
    )
    with pyarrow.parquet.ParquetWriter(path, rows.schema, compression="zstd") as writer:
        for _ in range(3):
            writer.write_table(rows, row_group_size=5_000_000)
    with pytest.raises(StoreError, match=r"15,000,000 rows; at most 10,000,000 are expected"):
        read_predictions(path)

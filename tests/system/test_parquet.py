"""What comes out of a Parquet file is limited. The oracle is Arrow's own reader, and sizes that are counted by hand."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from blurb.messages.errors import StoreError
from blurb.store.record import read_predictions
from blurb.system import parquet

LONG = "y" * 1_000_000


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
    assert parquet.columns(path) == expected
    assert parquet.columns(io.BytesIO(path.read_bytes()), ("number", "id")) == {
        name: expected[name] for name in ("number", "id")
    }
    with pytest.raises(ValueError, match="it has 3 rows; at most 2 are expected"):
        parquet.columns(path, rows=2)


@pytest.mark.parametrize("nested", [False, True])
def test_a_text_that_is_repeated_counts_each_time(nested: bool, tmp_path: Path) -> None:
    texts = repeated(LONG, 40)
    cells = (
        pyarrow.ListArray.from_arrays(pyarrow.array(range(41), pyarrow.int32()), texts)
        if nested
        else texts
    )
    path = write(tmp_path / "x.parquet", prediction=cells)
    assert path.stat().st_size < 5_000
    with pytest.raises(ValueError, match="more than 30,000,000 bytes"):
        parquet.columns(path, size=30_000_000)
    assert len(parquet.columns(path, size=50_000_000)["prediction"]) == 40


def test_a_list_of_many_values_is_refused_by_their_number(tmp_path: Path) -> None:
    tags = pyarrow.ListArray.from_arrays(
        pyarrow.array([0, 5_000_000], pyarrow.int32()), repeated("O", 5_000_000)
    )
    with pytest.raises(ValueError, match="more than 100,000,000 bytes"):
        parquet.columns(write(tmp_path / "x.parquet", tags=tags), size=100_000_000)


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

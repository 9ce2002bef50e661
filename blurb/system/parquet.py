"""Reads Parquet files of strangers; limits the unpacked size, as a kilobyte may hold a gigabyte."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from blurb.messages import BlurbError, DataError
from blurb.system.files import read_bytes
from blurb.system.text_files import HEAD_BYTES, refuse_binary

if TYPE_CHECKING:
    import pyarrow.parquet

MOST_ROWS = 10_000_000
"""Default maximum, more than any file of predictions has."""
MOST_BYTES = 2_000_000_000
"""Default maximum size of the content in Python."""
ANSWERS = 500_000_000
"""Maximum size of somebody's answers; those to a test set take a few million bytes."""
UNREADABLE = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    NotImplementedError,
    OverflowError,
    MemoryError,
    RecursionError,
)
"""Errors of `columns` for a file that cannot be read: Arrow's, and those of dates beyond Python's."""
CELL = 32
"""Minimum bytes of a value in Python."""
BATCH = 10_000
TOO_LARGE = "it holds more than {:,} bytes when it is unpacked"


def columns(
    content: bytes,
    names: Sequence[str] | None = None,
    rows: int = MOST_ROWS,
    size: int = MOST_BYTES,
) -> dict[str, list[Any]]:
    """The columns of a Parquet file as lists.

    :param content: of the file
    :param names: the columns to read; None: all
    :param rows: maximum number of rows
    :param size: maximum size of these columns in bytes, as they come out
    :raises ValueError: for a larger file; one of `UNREADABLE` for what Arrow cannot read
    """
    with _open_parquet(content) as file:
        texts = [file.schema.column(place) for place in range(len(file.schema))]
        paths = [column.path for column in texts if column.physical_type == "BYTE_ARRAY"]
        rows_there = file.metadata.num_rows
        groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
        chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
        declared = sum(
            max(CELL * chunk.num_values, chunk.total_uncompressed_size) for chunk in chunks
        )
        doubled = [
            name for name in file.schema_arrow.names if file.schema_arrow.names.count(name) > 1
        ]
        missing = [name for name in names or () if name not in file.schema_arrow.names]
    if rows_there > rows:
        raise ValueError(f"it has {rows_there:,} rows; at most {rows:,} are expected")
    if doubled or missing:
        raise ValueError(
            f"the column '{doubled[0]}' is doubled"
            if doubled
            else f"there is no column '{missing[0]}'"
        )
    if declared > size:
        raise ValueError(TOO_LARGE.format(size))
    requested = list(names or file.schema_arrow.names)
    used = 0
    # A repeated text stays one object.
    with _open_parquet(content, read_dictionary=paths) as file:
        for batch in file.iter_batches(BATCH, columns=requested, use_threads=False):
            used += sum(map(_size_of_values, batch.columns))
            if used > size:
                raise ValueError(TOO_LARGE.format(size))
    with _open_parquet(content) as file:
        return cast(
            dict[str, list[Any]],
            file.read(requested, use_threads=False).select(requested).to_pydict(),
        )


def names(path: Path) -> list[str]:
    """The columns of a file, also those that have the same name.

    :raises DataError: if the file cannot be read
    """
    with _open_answers(path) as content, _open_parquet(content) as file:
        return list(file.schema_arrow.names)


def records(path: Path, wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each row, from 1, and its values of some columns.

    :raises DataError: if the file cannot be read, or is larger than `ANSWERS` when it is read
    """
    with _open_answers(path) as content:
        cells = columns(content, wanted, size=ANSWERS)
    for place, row in enumerate(zip(*(cells[name] for name in wanted), strict=True), 1):
        yield place, dict(zip(wanted, row, strict=True))


@contextlib.contextmanager
def _open_answers(path: Path) -> Iterator[bytes]:
    """The content of a file of answers; whatever goes wrong while it is read becomes a DataError."""
    try:
        content = read_bytes(path)
        if not content.startswith(b"PAR1"):
            refuse_binary(content[:HEAD_BYTES], path)
        yield content
    except BlurbError:
        raise
    except UNREADABLE as error:
        raise DataError(f"cannot be read as Parquet: {first_line(error)}.", path) from None


def _open_parquet(content: bytes, **options: Any) -> pyarrow.parquet.ParquetFile:
    """A file in memory, for reading without threads.

    Those of Arrow may abort a process that ends (apache/arrow#34314), and its exit code would say nothing.
    """
    # read_table and filter would load pandas, a third of a second.
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), **options)


def _size_of_values(array: pyarrow.Array) -> int:
    """The bytes that the values of an array need in Python."""
    import pyarrow.compute

    if isinstance(array, pyarrow.DictionaryArray):
        lengths = pyarrow.compute.binary_length(array.dictionary).take(array.indices)
        return int(pyarrow.compute.sum(lengths).as_py() or 0) + CELL * len(array)
    if isinstance(array, pyarrow.ListArray | pyarrow.LargeListArray):
        return _size_of_values(array.flatten()) + CELL * len(array)
    if isinstance(array, pyarrow.StructArray):
        return sum(map(_size_of_values, array.flatten())) + CELL * len(array)
    return int(array.nbytes) + CELL * len(array)


def first_line(error: Exception) -> str:
    """Arrow's message, without the lines in which it repeats itself."""
    return (str(error).splitlines() or [repr(error)])[0].rstrip(".")

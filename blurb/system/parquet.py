"""Reads Parquet files of strangers: bounded by what comes out of a file, which may be a thousand times its size."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.messages.errors import BlurbError, DataError
from blurb.system.files import ordinary
from blurb.system.sniffing import READ, refuse

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

UNREADABLE = (ValueError, TypeError, OverflowError, RecursionError, LookupError, MemoryError)
"""What the value of a stranger may raise while it is read."""
LARGEST = 500_000_000
"""Bytes of all values that are read, as Python holds them; the predictions for a test set take a few million."""
OBJECT = 50
"""Bytes that Python needs for a value beside its text."""
ROWS = 1_000
"""Rows that are decoded at a time."""


def names(path: Path) -> list[str]:
    """The columns of a file, also those that have the same name.

    :raises DataError: if the file cannot be read
    """
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def records(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of each row, from 1, and its values of some columns.

    :raises DataError: (file, row) if the file cannot be read, or is larger than `LARGEST` when it is read
    """
    with _opened(path) as probed:
        leaves = [leaf for leaf in _leaves(probed) if leaf.path_in_schema.split(".")[0] in columns]
        _check(path, sum(leaf.num_values * OBJECT + leaf.total_uncompressed_size for leaf in leaves))
        texts = {leaf.path_in_schema for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"}
    place = total = 0
    with _opened(path, read_dictionary=sorted(texts)) as file:  # a text that occurs often is then held once
        for batch in file.iter_batches(ROWS, columns=list(columns)):
            total += sum(map(_size, batch.columns))
            _check(path, total)
            for row in zip(*batch.columns, strict=True):
                place += 1
                yield place, {name: _value(cell, path, place) for name, cell in zip(columns, row, strict=True)}


@contextlib.contextmanager
def _opened(path: Path, **options: Any) -> Iterator[ParquetFile]:
    """A file; whatever goes wrong while it is read becomes a DataError."""
    from pyarrow.parquet import ParquetFile

    try:
        with open(path, "rb", opener=ordinary) as opened:
            head = opened.read(READ)
            if not head.startswith(b"PAR1"):
                refuse(head, path)
            with ParquetFile(opened, **options) as file:
                yield file
    except BlurbError:
        raise
    except (OSError, NotImplementedError, *UNREADABLE) as error:  # Arrow's errors are of these
        raise DataError(f"cannot be read as Parquet: {(str(error).splitlines() or [''])[0]}", path) from None


def _leaves(file: ParquetFile) -> Iterator[Any]:
    groups = (file.metadata.row_group(place) for place in range(file.metadata.num_row_groups))
    return (group.column(place) for group in groups for place in range(group.num_columns))


def _size(array: Any) -> int:
    """Bytes of an array without its dictionaries, which may hold a long text once for many rows."""
    import pyarrow.compute as compute
    from pyarrow import types

    if types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary)
        return int(compute.sum(compute.take(lengths, array.indices)).as_py() or 0) + len(array) * OBJECT
    if types.is_list(array.type) or types.is_large_list(array.type):
        return _size(array.flatten())
    if types.is_struct(array.type):
        return sum(map(_size, array.flatten()))
    return int(array.nbytes) + len(array) * OBJECT


def _check(path: Path, size: int) -> None:
    if size > LARGEST:
        raise DataError(f"its values have {size:,} bytes when they are unpacked; predictions take a few million.", path)


def _value(cell: Any, path: Path, place: int) -> Any:
    try:
        return cell.as_py()
    except UNREADABLE:
        raise DataError(f"a value of type {cell.type} that cannot be read.", path, place) from None

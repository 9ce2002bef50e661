"""Segments: entries of an index as a batch in Arrow's format, in a file with its SHA-256 at the end.

Damaged ones, halves, and those of another version are none: what they had is read from the folders.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb.store.index.entry import STAMP, TrialFacts, facts_of
from blurb.store.record import admits

if TYPE_CHECKING:
    import pyarrow

VERSION = b"1"
DIGEST = hashlib.sha256().digest_size


class Segment:
    """The columns of a segment, as memory that entries point into.

    :raises ValueError: if they are not as `batch_of` makes them
    """

    def __init__(self, batch: pyarrow.RecordBatch) -> None:
        needed = [*(batch.column(name) for name in NEEDED), batch.column("figures").values]
        if any(column.null_count or column.offset for column in needed):
            raise ValueError("no segment of an index")
        self.batch = batch
        self.keys: list[str] = batch.column("key").to_pylist()
        self.times = _memory(batch.column("time"), "q")
        self.stamps = _memory(batch.column("stamp"), "B")
        about = batch.column("about")
        self.codes = _memory(about.indices, "i")
        self.facts: list[TrialFacts] = [facts_of(text) for text in about.dictionary.to_pylist()]
        figures = batch.column("figures")
        self.starts = _memory(figures, "i")
        self.figures = _memory(figures.values, "d")
        sizes = [facts.size for facts in self.facts]
        if any(self.starts[row + 1] - self.starts[row] != sizes[code] for row, code in enumerate(self.codes)):
            raise ValueError("no segment of an index")
        self._check_figures()

    def _check_figures(self) -> None:
        """Raises a ValueError for a figure that there cannot be: an index is no way around the checks of a trial."""
        values, starts = np.frombuffer(self.figures, np.float64), np.frombuffer(self.starts, np.int32)
        rows: dict[tuple[str, int], list[int]] = {}
        for row, (key, code) in enumerate(zip(self.keys, self.codes, strict=True)):
            rows.setdefault((key.split("/")[1], code), []).append(row)
        for (task, code), alike in rows.items():
            names = self.facts[code].names
            table = values[starts[alike][:, None] + np.arange(len(names))]  # (trials, figures)
            for name, low, high in zip(names, table.min(axis=0), table.max(axis=0), strict=True):
                if not (admits(task, name, float(low)) and admits(task, name, float(high))):  # NaN is in both
                    raise ValueError(f"{name} of {task} cannot be {low} or {high}")


NEEDED = ("key", "time", "stamp", "about", "figures")
"""The columns that have a value in every row."""


def schema() -> pyarrow.Schema:
    """The columns of a segment.

    `key` is folder, task and hash; `time` that of the folder and `stamp` of its files; `about` the text of `Facts`;
    `figures` are fractions and counts, in the order of `Facts.places`; `predicted` are the seconds of the estimate.
    """
    import pyarrow as pa

    return pa.schema(
        {
            "key": pa.string(),
            "time": pa.int64(),
            "stamp": pa.binary(STAMP),
            "about": pa.dictionary(pa.int32(), pa.string()),
            "figures": pa.list_(pa.float64()),
            "started": pa.string(),
            "train_seconds": pa.float64(),
            "predict_seconds": pa.float64(),
            "predicted": pa.float64(),
        },
        metadata={"blurb-index": VERSION},
    )


def batch_of(entries: Sequence[Mapping[str, Any]]) -> pyarrow.RecordBatch:
    """Entries as a batch, made of buffers: to make it of Python's lists, pyarrow would load pandas."""
    import pyarrow as pa

    kinds = schema()
    return pa.RecordBatch.from_arrays(
        [_column([entry.get(kind.name) for entry in entries], kind.type) for kind in kinds], schema=kinds
    )


def _column(values: Sequence[Any], kind: pyarrow.DataType) -> pyarrow.Array:
    """The array of a column of `schema`."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        known = {value: code for code, value in enumerate(dict.fromkeys(values))}
        codes = _column([known[value] for value in values], kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, _column(list(known), kind.value_type))
    if pa.types.is_list(kind):
        inner = _column([number for each in values for number in each], kind.value_type)
        return pa.ListArray.from_arrays(_offsets(values), inner)
    if pa.types.is_string(kind):
        texts = [(value or "").encode() for value in values]
        content = [_offsets(texts).buffers()[1], pa.py_buffer(b"".join(texts))]
    elif pa.types.is_fixed_size_binary(kind):
        content = [pa.py_buffer(b"".join(values))]
    else:
        numbers = np.array([value or 0 for value in values], kind.to_pandas_dtype())
        content = [pa.py_buffer(numbers)]
    there = np.array([value is not None for value in values], bool)
    valid = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little").tobytes())
    return pa.Array.from_buffers(kind, len(values), [valid, *content])


def _offsets(values: Sequence[Any]) -> pyarrow.Array:
    """Where each of the values begins, and the end of the last."""
    import pyarrow as pa

    ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
    return pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])


def together(batches: Sequence[tuple[pyarrow.RecordBatch, Sequence[int]]]) -> pyarrow.RecordBatch:
    """These rows of these batches as one."""
    import pyarrow as pa

    parts = [batch.take(pa.array(rows, pa.int64())) for batch, rows in batches]
    whole = pa.Table.from_batches(parts, schema()).unify_dictionaries().combine_chunks()
    return whole.to_batches()[0] if len(whole) else batch_of([])


def packed(batch: pyarrow.RecordBatch) -> bytes:
    """The content of a file."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content + hashlib.sha256(content).digest()


def unpacked(content: bytes) -> Segment | None:
    """The segment in a file; None if it is damaged, of another version, or none."""
    import pyarrow as pa

    if hashlib.sha256(memoryview(content)[:-DIGEST]).digest() != content[-DIGEST:]:
        return None
    try:
        with pa.ipc.open_stream(pa.py_buffer(content).slice(0, len(content) - DIGEST)) as stream:
            if not stream.schema.equals(schema(), check_metadata=True):
                return None
            batch = stream.read_next_batch()
        batch.validate(full=True)  # the store may be somebody else's
        return Segment(batch)
    except (pa.ArrowException, StopIteration, ValueError, TypeError, LookupError, OSError, RecursionError):
        return None


def _memory(column: pyarrow.Array, kind: str) -> memoryview:
    """The values of a column without nulls; of a list, where each begins."""
    buffer = column.buffers()[1]
    return memoryview(buffer if buffer is not None else b"").cast("B").cast(kind)  # type: ignore[call-overload,no-any-return]

"""An entry of the index: what is known of a finished trial, and of its folder when it was read."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb.grouping import by_key
from blurb.messages import StoreError
from blurb.store.record import Record, admits_figure
from blurb.store.store import FILES
from blurb.store.trial import Provenance
from blurb.tasks import SCORED, Split, Task

if TYPE_CHECKING:
    import pyarrow

STAMP = 16
"""Bytes of a stamp."""
EXACT = 2**53
"""Whole numbers up to this are exact as floating-point numbers."""


@dataclass(frozen=True)
class TrialFacts:
    """The fields of a trial but its figures and times; trials that differ in the seed alone share them.

    :param metric: the main metric
    :param scores: split -> names of the metrics, in the order of the figures
    :param majority: the same, of the majority answer, whose figures follow
    :param data: hash of the data, and `verdict` on it
    :param declaration: of the task, if that came from a file
    :param environment: device, threads and cpus
    :param predicted: learner and type of its estimate, if there was one
    """

    metric: str
    metrics_version: Any
    scores: Mapping[str, list[str]]
    majority: Mapping[str, list[str]]
    data: str
    verdict: str
    settings: Mapping[str, Any]
    declaration: Mapping[str, Any] | None
    environment: Mapping[str, Any]
    predicted: list[str] | None

    @cached_property
    def places(self) -> Mapping[Split, Mapping[str, tuple[int, int | None]]]:
        """Split -> metric -> place of its figure, and of that of the majority answer."""
        starts, count = {}, 0
        for names in (self.scores, self.majority):
            for split in SCORED:
                starts[split, names is self.scores] = count
                count += len(names[split])
        return {
            split: {
                name: (
                    starts[split, True] + place,
                    starts[split, False] + self.majority[split].index(name)
                    if name in self.majority[split]
                    else None,
                )
                for place, name in enumerate(self.scores[split])
            }
            for split in SCORED
        }

    @cached_property
    def names(self) -> list[str]:
        """The name of each figure of a trial, in order."""
        return [
            name
            for names in (self.scores, self.majority)
            for split in SCORED
            for name in names[split]
        ]

    @property
    def text(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True)

    def task(self, name: str) -> Task:
        """The task of that name; of a task file, as it was declared when the trial ran."""
        return Provenance(declaration=self.declaration).task(name)


class IndexEntry:
    """A row of a segment; light, as a store may have very many."""

    __slots__ = ("facts", "row", "segment", "start")

    def __init__(self, segment: Segment, row: int) -> None:
        self.segment = segment
        self.row = row
        self.facts = segment.facts[segment.codes[row]]
        self.start = segment.starts[row]

    @property
    def stamp(self) -> bytes:
        """Of its files (`stamp`)."""
        return bytes(self.segment.stamps[STAMP * self.row : STAMP * (self.row + 1)])

    @property
    def key(self) -> str:
        """Folder of the model, task and hash, with slashes."""
        return self.segment.keys[self.row]

    def figure(self, place: int) -> float:
        """The figure at a place of its facts."""
        return self.segment.figures[self.start + place]

    def value(self, column: str) -> Any:
        """One of `started`, `train_seconds`, `predict_seconds` and `predicted`; None if it is not known."""
        return self.segment.batch.column(column)[self.row].as_py()


def time_of(folder: str) -> int | None:
    """The modification time of a folder, which changes when a file in it is replaced; None if it is not there."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return None


def stamp(folder: str) -> bytes:
    """Size and modification time of every file of a trial, as a hash; of a file that is missing, zeros."""
    return hashlib.blake2b(b"".join(_sizes(folder)), digest_size=STAMP).digest()


def _sizes(folder: str) -> Iterator[bytes]:
    for name in (*FILES, "DONE.json"):
        try:
            found = os.stat(f"{folder}/{name}")
            yield struct.pack("<qq", found.st_size, found.st_mtime_ns)
        except OSError:
            yield bytes(16)


def entry_content(record: Record) -> dict[str, Any]:
    """The content of an entry but for the state of the folder, read from the files of a trial.

    :raises StoreError: if they cannot be understood
    """
    try:
        provenance, metrics = record.provenance, record.metrics
        scores: dict[str, list[str]] = {split: list(metrics[split]) for split in SCORED}
        majority: dict[str, list[str]] = {
            split: list(metrics["majority"][split]) for split in SCORED
        }
        facts = TrialFacts(
            str(metrics["metric"]),
            metrics["metrics_version"],
            scores,
            majority,
            record.trial.data,
            provenance.data_verdict,
            record.trial.settings,
            provenance.declaration,
            {name: provenance.environment.get(name) for name in ("device", "threads", "cpus")},
            [provenance.predicted.learner, provenance.predicted.type]
            if provenance.predicted
            else None,
        )
        task = record.trial.task
        figures = [
            _number(metrics[split][name], task, name) for split in SCORED for name in scores[split]
        ]
        given = metrics["majority"]
        figures += [
            _number(given[split][name], task, name) for split in SCORED for name in majority[split]
        ]
        return {
            "about": facts.text,
            "figures": figures,
            "started": str(provenance.started).encode(errors="replace").decode(),
            "train_seconds": provenance.train_seconds,
            "predict_seconds": provenance.predict_seconds,
            "predicted": provenance.predicted.seconds if provenance.predicted else None,
        }
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise StoreError(
            f"{record.path} cannot be understood ({type(error).__name__}: {error})."
        ) from error


def _number(value: Any, task: str, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= EXACT:
        raise ValueError(f"{value!r} is no figure")
    if not admits_figure(task, name, value):
        raise ValueError(f"{name} of {task} cannot be {value!r}")
    return float(value)


def facts_of(text: str) -> TrialFacts:
    """The facts of a text; ValueError, TypeError or KeyError if it has none."""
    facts = TrialFacts(**json.loads(text))
    _ = facts.places
    texts = (facts.metric, facts.data, facts.verdict)
    mappings = (
        facts.settings,
        facts.environment,
        {} if facts.declaration is None else facts.declaration,
    )
    if not (
        all(isinstance(each, str) for each in texts)
        and all(isinstance(each, dict) for each in mappings)
    ):
        raise TypeError("a fact has the wrong type")
    return facts


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
        sizes = [len(facts.names) for facts in self.facts]
        if any(
            self.starts[row + 1] - self.starts[row] != sizes[code]
            for row, code in enumerate(self.codes)
        ):
            raise ValueError("no segment of an index")
        self._check_figures()

    def _check_figures(self) -> None:
        """Raises a ValueError for a figure that there cannot be: an index is no way around the checks of a trial."""
        values, starts = (
            np.frombuffer(self.figures, np.float64),
            np.frombuffer(self.starts, np.int32),
        )
        kinds = zip((key.split("/")[1] for key in self.keys), self.codes, strict=True)
        rows = by_key((kind, row) for row, kind in enumerate(kinds))
        for (task, code), alike in rows.items():
            names = self.facts[code].names
            table = values[starts[alike][:, None] + np.arange(len(names))]  # (trials, figures)
            for name, low, high in zip(names, table.min(axis=0), table.max(axis=0), strict=True):
                if not (
                    admits_figure(task, name, float(low)) and admits_figure(task, name, float(high))
                ):  # NaN is in both
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
        [_column([entry.get(kind.name) for entry in entries], kind.type) for kind in kinds],
        schema=kinds,
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
        content = [pa.py_buffer(np.array([value or 0 for value in values], kind.to_pandas_dtype()))]
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
    except (
        pa.ArrowException,
        StopIteration,
        ValueError,
        TypeError,
        LookupError,
        OSError,
        RecursionError,
    ):
        return None


def _memory(column: pyarrow.Array, kind: str) -> memoryview:
    """The values of a column without nulls; of a list, where each begins."""
    buffer = column.buffers()[1]
    return memoryview(buffer if buffer is not None else b"").cast("B").cast(kind)  # type: ignore[call-overload,no-any-return]

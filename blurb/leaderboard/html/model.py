"""What the page shows, as plain data: nothing here knows of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from blurb.results.row_scores import Origin, RowScores

BASES = {
    "both": "seeds and test units",
    "units": "test units only",
    "seeds": "seeds only",
    "": "no interval",
}
"""What an interval rests on."""
Curve = tuple[float, ...]


@dataclass(frozen=True)
class Value:
    """One number with its 95 % interval.

    :param basis: a key of `BASES`
    """

    mean: float
    low: float | None = None
    high: float | None = None
    basis: str = ""


@dataclass(frozen=True)
class Dataset:
    """One dataset of one row, as far as it is known.

    :param seeds: seed -> score on test, times 100; empty for numbers without runs
    :param planned: how many seeds there are to be; 0 if that is not known
    :param curves: seed -> score on dev after every epoch
    """

    test: Value
    seeds: Mapping[int, float] = field(default_factory=dict)
    planned: int = 0
    dev: float | None = None
    majority: float | None = None
    metric: str = ""
    data: str = ""
    curves: Mapping[int, Curve] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """How one dataset of a row was made.

    :param trials: seed -> hash of the trial
    :param seconds: of training, all seeds together; None if it was not noted
    """

    task: str
    trials: Mapping[int, str]
    data: str
    verdict: str
    seconds: float | None = None
    units: int | None = None
    cut: int | None = None


@dataclass(frozen=True)
class Made:
    """How a row was made.

    :param command: that asks for the same trials; `MODEL`, `DATA`, `RAW` and `PROTOCOL.toml` stand for paths, which are
        nobody's business
    :param facts: name and value: hashes, versions, hardware, time
    """

    command: str
    facts: Sequence[tuple[str, str]]
    parts: Sequence[Part]


KINDS = {Origin.STORE: "store", Origin.PUBLISHED: "published"}


@dataclass(frozen=True)
class Entry:
    """One row of the page.

    :param detail: configuration, or the source of a published row, without the folders of anybody's machine
    :param made: how; of rows of the store
    """

    row: RowScores
    detail: str
    datasets: Mapping[str, Dataset]
    types: Mapping[str, Value]
    score: Value | None
    made: Made | None = None

    @property
    def kind(self) -> str:
        """`store`, `file` (a table) or `published`."""
        return KINDS.get(self.row.origin, "file")

    @property
    def model(self) -> str:
        """Its name."""
        return self.row.model

    @property
    def label(self) -> str:
        """The name that tells it from all others."""
        return f"{self.model} · {self.detail}" if self.detail else self.model

    @property
    def runs(self) -> str:
        """How many runs the datasets have: `5`, or `5 to 10`."""
        counts = self.row.run_counts
        return " to ".join(dict.fromkeys((str(counts[0]), str(counts[-1])))) if counts else ""

    @property
    def complete(self) -> bool:
        """All datasets and seeds are there."""
        return self.row.complete

    @property
    def capped(self) -> bool:
        """Scored on a part of the examples: never the best of anything."""
        return self.row.capped

    @property
    def notes(self) -> list[str]:
        """What a reader should know before comparing it."""
        if self.row.published:
            return [self.row.version, *self.row.remarks]
        doubts = "" if self.row.data in ("verified", "synthetic") else f"data not verified: {self.row.data}"
        return [note for note in (self.row.note, doubts) if note]


@dataclass(frozen=True)
class Duel:
    """Two entries of a board, by place: for each name of `Duels.names` half the interval, p, and why not."""

    first: int
    other: int
    lines: Sequence[tuple[float | None, float | None, str]]


@dataclass(frozen=True)
class Duels:
    """All pairs of rows that have runs, of the best rows if there are many.

    :param names: datasets, task types of several datasets, the score
    :param with_units: the choice of the test units is in the errors
    :param left_out: rows with runs that are in no pair, as there are too many
    """

    names: Sequence[str]
    with_units: bool
    pairs: Sequence[Duel]
    left_out: int = 0


@dataclass(frozen=True)
class Ablation:
    """One axis of one model: a line a cell, a column a dataset.

    :param lines: text of the cell, then dataset -> the line of the file
    """

    axis: str
    model: str
    tasks: Sequence[str]
    lines: Sequence[tuple[str, Mapping[str, Mapping[str, str]]]]


@dataclass(frozen=True)
class Board:
    """The rows of one suite, best first; rows of two suites are never compared, nor are probes and fine-tuned rows.

    :param probe: all its rows are of frozen encoders
    """

    suite: str
    tasks: Sequence[str]
    entries: Sequence[Entry]
    duels: Duels
    probe: bool = False


@dataclass(frozen=True)
class Page:
    """Everything on the page."""

    title: str
    boards: Sequence[Board]
    ablations: Sequence[Ablation] = ()

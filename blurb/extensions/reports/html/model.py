"""The content of the page as plain data, independent of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from blurb.extensions.reports.generalisation import SeenRecord
from blurb.leaderboard.intervals import Value
from blurb.leaderboard.ranking import Board, RankedRow
from blurb.learners import RowKind
from blurb.results import groups
from blurb.results.row import Origin, Published, Row
from blurb.results.score import SCORE, DatasetScores
from blurb.tasks import TYPES

Curve = tuple[float, ...]


@dataclass(frozen=True)
class PageDataset:
    """One dataset of one row.

    :param data: verdict on its data
    :param curves: seed -> score on dev after every epoch
    """

    test: Value
    scores: DatasetScores
    data: str
    curves: Mapping[int, Curve]


@dataclass(frozen=True)
class DatasetProvenance:
    """The provenance of one dataset of a row.

    :param trials: seed -> hash of the trial
    :param seconds: seconds of training for all seeds; None if unknown
    """

    task: str
    trials: Mapping[int, str]
    data: str
    verdict: str
    seconds: float | None
    units: int | None
    cut: int | None


@dataclass(frozen=True)
class RowProvenance:
    """The provenance of a row.

    :param command: command for the same trials; `MODEL`, `DATA`, `RAW` and `PROTOCOL.toml` replace private paths
    :param facts: name and value: hashes, versions, hardware, time
    """

    command: str
    facts: Sequence[tuple[str, str]]
    datasets: Sequence[DatasetProvenance]


def winners(
    values: Mapping[int, float], standings: Sequence[groups.Standing], key: str
) -> set[int]:
    """The places of the best values of a column among those that they may be ranked with, two or more; ties all win.

    :param values: place -> value, as printed
    :param standings: of all places
    :param key: of the column
    """
    places = list(values)
    best: set[int] = set()
    for part in groups.parts([standings[place] for place in places], key):
        rivals = {places[at]: values[places[at]] for at in part.places}
        if len(rivals) > 1:
            best |= {place for place, value in rivals.items() if value == max(rivals.values())}
    return best


KINDS = {Origin.STORE: "store", Origin.PUBLISHED: "published", Origin.BOARD: "board"}


class Listing(Protocol):
    """Words of whoever keeps a row on a board."""

    @property
    def scores(self) -> Row: ...
    @property
    def sentences(self) -> Sequence[str]: ...
    @property
    def signals(self) -> Sequence[str]: ...
    @property
    def verifier(self) -> str: ...
    @property
    def facts(self) -> Sequence[tuple[str, str]]: ...
    def citation(self, title: str) -> str: ...


class ListedBoard(Board, Protocol):
    """A board with what it says of its rows: the value of `--board`."""

    @property
    def listings(self) -> Sequence[Listing]: ...


class Curves(Protocol):
    """Curves of checkpoints: the value of `--series`."""

    def charts(self) -> Sequence[SeriesChart]: ...


@dataclass(frozen=True)
class PageRow(RankedRow):
    """One row of the page.

    :param detail: configuration, or the source of a published row, without private paths
    :param provenance: provenance, for rows of the store
    :param listing: files and history, for rows of a board
    """

    detail: str
    datasets: Mapping[str, PageDataset]
    provenance: RowProvenance | None = None
    listing: Listing | None = None

    @property
    def score(self) -> Value | None:
        """The score, if all task types are whole."""
        return self.values.get(SCORE)

    @property
    def types(self) -> dict[str, Value]:
        """The means of the whole task types."""
        return {kind: self.values[kind] for kind in TYPES if kind in self.values}

    @property
    def kind(self) -> str:
        """`store`, `board`, `file` (a table) or `published`."""
        return KINDS.get(self.row.origin, "file")

    @property
    def verifier(self) -> str:
        """Who recomputed the figures of a row of a board; empty if nobody did."""
        return "" if self.listing is None or self.standing.claimed else self.listing.verifier

    @property
    def label(self) -> str:
        """A name that is unique on the page."""
        return f"{self.row.model} · {self.detail}" if self.detail else self.row.model

    @property
    def runs(self) -> str:
        """The numbers of runs of the datasets: `5`, or `5 to 10`."""
        counts = self.row.run_counts
        return " to ".join(dict.fromkeys((str(counts[0]), str(counts[-1])))) if counts else ""

    @property
    def notes(self) -> list[str]:
        """Notes to read before comparing the row."""
        row = self.row
        if isinstance(row, Published):
            return [row.version, *row.remarks]
        said = "; ".join(filter(None, (self.standing.remark, row.note)))
        return list(filter(None, (said, row.doubts)))


@dataclass(frozen=True)
class PairwiseComparison:
    """The comparison of two entries of a board, given by index.

    `lines` has for each name in `PairwiseComparisons.names`: half-width of the 95 % interval, p-value, and the reason
    if there is no verdict.

    :param remarks: what differs between the rows, in this order and turned round
    """

    first: int
    other: int
    lines: Sequence[tuple[float | None, float | None, str]]
    remarks: tuple[str, str]


@dataclass(frozen=True)
class PairwiseComparisons:
    """The pairwise comparisons of rows with runs; only of the best rows if there are many.

    :param names: datasets, task types with several datasets, the score
    :param with_units: whether the intervals include the choice of test examples
    :param left_out: number of rows with runs that are not compared, as there are too many
    """

    names: Sequence[str]
    with_units: bool
    pairs: Sequence[PairwiseComparison]
    left_out: int


@dataclass(frozen=True)
class PageAblation:
    """One ablation of one model: a line per cell, a column per dataset.

    :param lines: text of the cell, and dataset -> line of the file
    """

    axis: str
    model: str
    tasks: Sequence[str]
    lines: Sequence[tuple[str, Mapping[str, Mapping[str, str]]]]


SeriesPoint = tuple[int, float, float, tuple[float, float] | None]
"""Step, value, trend, and the ends of the 95 % interval of the trend; None if it is unknown."""


@dataclass(frozen=True)
class SeriesChart:
    """The curves of runs by one measure, of a `series.csv`.

    :param runs: name, and its points
    """

    title: str
    logarithmic: bool
    runs: Sequence[tuple[str, Sequence[SeriesPoint]]]


@dataclass(frozen=True)
class Leaderboard:
    """The rows of one suite, best first. Suites are never mixed, nor are rows that have a board apart, as probes.

    :param apart: what its rows have in common, if they have this board of their own
    :param ranks: column -> name of a row -> its rank there, `2` or `2-4`
    """

    suite: str
    title: str
    tasks: Sequence[str]
    entries: Sequence[PageRow]
    comparisons: PairwiseComparisons
    apart: RowKind | None
    ranks: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Page:
    """The content of the page.

    :param series: the curves of checkpoints, a chart a dataset
    :param withdrawn: the rows that were taken from the board, a sentence each
    :param seen: the figures of seen and unseen strings, of any rows
    """

    title: str
    boards: Sequence[Leaderboard]
    ablations: Sequence[PageAblation] = ()
    withdrawn: Sequence[str] = ()
    series: Sequence[SeriesChart] = ()
    seen: Sequence[SeenRecord] = ()

    @property
    def of_board(self) -> bool:
        """Whether its rows are those of a board."""
        return any(entry.listing for board in self.boards for entry in board.entries)

"""How many seeds to run: `blurb.plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from blurb import tasks as known
from blurb.messages.errors import ErrorCollector, item_of
from blurb.options import Option
from blurb.planning.options import OUTPUT
from blurb.planning.seeds import Aim, SeedLine, plan_seeds
from blurb.records import Tabular, columns
from blurb.results.references import RowReference, rows_of
from blurb.tasks import SCORED, ScoredSplit

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class SeedPlan(Tabular):
    """The seeds for each dataset, and first for the score if the row has all thirteen.

    :param against: name of the row to compare with
    :param lines: as `blurb plan --format json` prints them
    """

    against: str
    lines: tuple[SeedLine, ...]

    def __getitem__(self, name: str) -> SeedLine:
        """The line of a dataset, or of `score`."""
        return item_of({line["name"]: line for line in self.lines}, name)

    def to_pandas(self) -> DataFrame:
        """A line a dataset; columns as the keys of `lines`."""
        from pandas import DataFrame

        return DataFrame(list(self.lines), columns=columns(SeedLine))

    def __repr__(self) -> str:
        seeds = ", ".join(f"{line['name']} {line['seeds'] or '?'}" for line in self.lines)
        return f"<Seeds on each side, against {self.against}: {seeds}>"


def plan(
    against: Annotated[
        RowReference | Sequence[RowReference],
        Option(
            help="Row to compare with; of others, repeated, the runs tell of the variance, too.",
            metavar="ROW",
            complete="rows_anywhere",
            many=True,
        ),
    ],
    *,
    detect: Annotated[float | None, Option(help="True difference to find.", metavar="POINTS")] = None,
    power: Annotated[float, Option(help="Chance to find it.")] = 0.8,
    level: Annotated[float, Option(help="Significance level of a comparison.")] = 0.05,
    sd: Annotated[
        float | None, Option(help="Standard deviation between runs, where no row has several runs.", metavar="POINTS")
    ] = None,
    seeds: Annotated[int | None, Option(help="Also say what so many seeds of each row can find.", metavar="N")] = None,
    hours: Annotated[
        float | None, Option(help="Also say what the seeds can find that a new row has in this time.")
    ] = None,
    tasks: Annotated[
        str | Sequence[str] | None,
        Option(help="Datasets (names or types).  [default: all of the row]", complete="tasks"),
    ] = None,
    split: Annotated[ScoredSplit, Option(help="Split to plan for.", choices=SCORED)] = "test",
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> SeedPlan:
    """Says how many seeds tell a difference from a row, and what difference a number of seeds tells.

    The variance is that between the runs of the rows, pooled; numbers of seeds are of each side of a comparison by
    Student's two-sided test (noncentral t if the deviation is stated, Stein's quantiles if it was estimated). Costs are
    what runs of the first row took on the machine that ran them.

    :param against: the row to compare with; of a list, the others tell of the variance, too
    :param detect: true difference to find, in points
    :param power: chance to find it
    :param level: of each comparison, before the correction over the datasets
    :param sd: standard deviation between runs in points, where no row has several
    :param seeds: what can be afforded: seeds of each row; or
    :param hours: time for the seeds of a new row, one run after the other
    :param tasks: datasets (names or types); by default all of the first row
    :param output: the store of references without a folder
    :raises SettingsError: for numbers that cannot be, and rows without runs by their nature
    """
    errors = ErrorCollector()
    aim = errors.tried(Aim, detect, power, level, sd, seeds, hours)
    chosen = None if tasks is None else errors.tried(known.select, tasks)
    several = isinstance(against, Sequence) and not isinstance(against, str)
    rows = errors.tried(rows_of, tuple(against) if several else (against,), output)  # type: ignore[arg-type]
    errors.tell()
    assert aim is not None
    assert rows is not None
    names = None if chosen is None else [task.name for task in chosen]
    return SeedPlan(rows[0].name, tuple(plan_seeds(rows, aim, split, names)))

"""How many seeds to run: `blurb.plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb import tasks as known
from blurb.messages.errors import ErrorCollector, item_of
from blurb.planning.seeds import Aim, SeedLine, plan_seeds
from blurb.records import columns
from blurb.results.references import Row, rows_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from blurb.tasks import Split


@dataclass(frozen=True, repr=False)
class SeedPlan:
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

    def _repr_html_(self) -> str:
        return str(self.to_pandas().to_html(index=False, na_rep="", float_format="{:.2f}".format, border=0))


def plan(
    against: Row | Sequence[Row],
    *,
    detect: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
    sd: float | None = None,
    seeds: int | None = None,
    hours: float | None = None,
    tasks: str | Sequence[str] | None = None,
    split: Split = "test",
    output: Path | str = "runs",
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

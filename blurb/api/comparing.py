"""Comparisons of rows: `blurb.compare` and `blurb.check`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from blurb import records, regression, tasks as known
from blurb.data.loading import check_folder
from blurb.messages import ErrorCollector, SettingsError, item_of, opt
from blurb.options import Argument, Option
from blurb.planning.options import ACROSS_OPTION, OUTPUT
from blurb.planning.seeds import Aim, SeedLine, plan_seeds
from blurb.planning.steps import find_folders
from blurb.records import RecordTable, Tabular, make_frame, record_columns
from blurb.regression.looks import decide_in_series
from blurb.regression.rules import RULES, Rules, read_rules
from blurb.results import comparability
from blurb.results.comparison import ComparisonLine, ScoreComparison, compare_rows
from blurb.results.decomposition import Decomposition, PartLine, decompose_difference
from blurb.results.row import Row
from blurb.row_files.references import RowReference, row_of, rows_of
from blurb.row_files.seen import Corpora, unseen_scores
from blurb.tasks import SCORED, ScoredSplit

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Comparison", "check", "compare", "row_of"]
ROW = Argument(complete="rows_anywhere")
SPLIT = Option(help="Split to compare.", choices=SCORED)


def compare(
    first: RowReference,
    other: RowReference,
    *,
    split: Annotated[ScoredSplit, SPLIT] = "test",
    output: Annotated[Path | str, OUTPUT] = "runs",
    runs_only: bool = False,
    unseen: bool = False,
    data: Path | str | None = None,
    raw: Path | str | None = None,
    suite: Path | str | None = None,
) -> Comparison:
    """Compares two rows dataset by dataset: which differences are more than chance?

    :param first: a row of `Results`, `Results` with one row, or a reference as of `blurb compare`
    :param output: the store of references without a folder
    :param runs_only: leave out the variance from the choice of test examples
    :param unseen: compare F1 of the strings that train has not, of the datasets that have it
    :param data: for `unseen`, the data folder; `raw` likewise the original releases, of ChemProt and DDI
    :param suite: for `unseen`, the folder of the suite of the rows, if it is none that comes with blurb
    :raises SettingsError: if a reference fits no row, or several
    """
    first_row, other_row = rows_of((first, other), output)
    if unseen:
        corpora = open_corpora((first_row, other_row), data, raw, suite)
        return compare_unseen(first_row, other_row, split, not runs_only, corpora)
    if data or raw or suite:
        wrong = opt("data" if data else "raw" if raw else "suite")
        raise SettingsError(f"{wrong} is for {opt('unseen')}", fix="leave it out, or add that.")
    lines = compare_rows(first_row, other_row, split, with_units=not runs_only)
    return Comparison(first_row, other_row, split, tuple(lines))


def compare_unseen(
    first: Row, other: Row, split: ScoredSplit, with_units: bool, corpora: Corpora
) -> Comparison:
    """Compares F1 of unseen strings, on the datasets for which both rows have it."""
    (one, own), (two, theirs) = (unseen_scores(row, split, corpora) for row in (first, other))
    lines = compare_rows(
        one,
        two,
        split,
        with_units,
        examples=lambda row, name, _: (own if row is one else theirs).get(name),
    )
    datasets = one.datasets.keys() | two.datasets.keys()
    return Comparison(first, other, split, tuple(line for line in lines if line.name in datasets))


def open_corpora(
    rows: Sequence[Row],
    data: Path | str | None,
    raw: Path | str | None,
    suite: Path | str | None = None,
) -> Corpora:
    """The data of rows of one suite, whose tasks are then known by name.

    :param suite: its folder or name, if it does not come with blurb
    :raises SettingsError: if they are of several suites, or a needed folder is not given
    """
    typed = [] if suite is None else [known.load_suite(suite).name]
    suites = sorted({*typed, *(row.suite for row in rows)})
    if len(suites) != 1:
        raise SettingsError(f"The rows must be of one suite (got {', '.join(suites) or 'no row'}).")
    known.suite_of(suites[0])
    every = [task for row in rows for name in row.datasets if (task := known.known_task(name))]
    folders = Path(data) if data else None, Path(raw) if raw else None
    folder, originals = find_folders(suites[0], *folders, every, has_suite=False)
    check_folder(folder)
    return Corpora(folder, originals)


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """The differences of two rows, the first minus the other.

    :param lines: each dataset, then task types and score
    """

    first: Row
    other: Row
    split: ScoredSplit
    lines: tuple[ScoreComparison, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """All that differs between the rows, and what is not known of both."""
        return tuple(comparability.remarks(self.first, self.other))

    @property
    def decomposition(self) -> Decomposition | None:
        """Where the difference of the scores comes from; None unless both rows have all datasets, or all but BioASQ."""
        return decompose_difference(self.lines)

    def parts(self) -> DataFrame:
        """The decomposition as a table, one line per task type and dataset; empty if the rows are not complete."""
        found = self.decomposition
        lines = [records.of(PartLine, part) for part in found.parts] if found else []
        return make_frame(lines, record_columns(PartLine))

    def __getitem__(self, name: str) -> ScoreComparison:
        """The line of a dataset, a task type or `score`."""
        return item_of({line.name: line for line in self.lines}, name)

    def to_pandas(self, level: float = 0.05) -> DataFrame:
        """One line per dataset: both means, the difference with its 95 % interval, p (corrected by Holm), a verdict."""
        return make_frame(self.table(level), record_columns(ComparisonLine))

    def __repr__(self) -> str:
        verdicts = Counter(line.verdict(0.05) for line in self.lines)
        found = (
            ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
            or "nothing to compare"
        )
        return f"<Comparison of {self.first.name} with {self.other.name}, {self.split}: {found}>"

    def table(self, level: float = 0.05) -> list[tuple[Any, ...]]:
        """The cells of each line, as in `comparison.Line`; None where nothing is known."""
        return [
            (
                self.first.name,
                self.other.name,
                line.name,
                line.first,
                line.other,
                line.difference,
                *(line.interval or (None, None)),
                line.p,
                line.comparison.detectable,
                *line.runs,
                line.comparison.paired,
                str(line.verdict(level)),
                line.reason,
                list(self.remarks),
            )
            for line in self.lines
        ]


def check(
    candidate: Annotated[RowReference, ROW],
    baseline: Annotated[
        RowReference,
        Option(
            help="Row to compare with: MODEL, FOLDER[:ROW] or FILE.csv[:ROW].",
            complete="rows_anywhere",
        ),
    ],
    rules: Annotated[
        Path | str | Rules | None,
        Option(help="TOML file of the rules.  [default: blurb-check.toml, if it exists]"),
    ] = None,
    *,
    split: Annotated[
        ScoredSplit | None,
        Option(help="Split to compare, overrides the rules.  [default: dev]", choices=SCORED),
    ] = None,
    rule: Annotated[
        str | None,
        Option(
            help="A drop is a regression if it is beyond the tolerance or noise, beyond both (and), or beyond noise "
            "alone, overrides the rules.  [default: or]",
            choices=RULES,
        ),
    ] = None,
    max_drop: Annotated[
        float | None,
        Option(help="Points that a dataset may drop, overrides the rules.", low=0, unit=" points"),
    ] = None,
    tasks: Annotated[
        str | Sequence[str] | None,
        Option(
            help="Datasets to judge (names or types).  [default: all of the baseline]",
            complete="tasks",
        ),
    ] = None,
    across: Annotated[Sequence[str], ACROSS_OPTION] = (),
    state: Annotated[
        Path | str | None,
        Option(
            help="Count this check as one of a series against the baseline, all of which share the level: FILE "
            "remembers them.",
            metavar="FILE",
        ),
    ] = None,
    looks: Annotated[
        int | None,
        Option(
            help="Checkpoints that the series of --state will check.  [default: as the file says, or any number]",
            metavar="N",
        ),
    ] = None,
    sd: Annotated[
        float | None,
        Option(
            help="Standard deviation between runs of one checkpoint, where no checkpoint has several.",
            metavar="POINTS",
        ),
    ] = None,
    output: Annotated[Path | str, OUTPUT] = "runs",
) -> regression.Decision:
    """Checks whether a row is worse than another by more than the seeds explain, as `blurb check` does.

    :param candidate: a row of `Results`, `Results` with one row, or a reference as of `blurb check`
    :param rules: rules or a TOML file of them; by default `blurb-check.toml` of the working folder, if it exists
    :param split: over that of the rules
    :param max_drop: points that a dataset may drop, over the rules
    :param output: the store of references without a folder
    :param tasks: datasets to judge (names or types), over the rules; by default those that the baseline planned
    :param across: what may differ between the rows all the same: protocol, recipe, overrides, unknown
    :param rule: what makes a drop a regression: "or" (beyond `max_drop` or noise), "and" (beyond both), "noise"
    :param state: file of a series of checks against one baseline, which share one level; made by the first of them
    :param looks: number of checkpoints that will be checked in that series; by default that of its file, or any number
    :param sd: standard deviation between runs, in points, to take where no runs show it
    :raises SettingsError: for a rule or a row that cannot be read, or a series that was begun with others
    :raises StoreError: for a state file that was edited or is damaged
    """
    start, errors, rows = time.perf_counter(), ErrorCollector(), list[Row]()
    with errors:
        rows = rows_of((candidate, baseline), output)
    with errors:
        chosen = read_rules(
            rules, split, max_drop, tasks, across, rule, looks, sd, state is not None, rows
        )
    errors.stop()
    one, two = rows
    decision = (
        regression.decide_check(one, two, chosen)
        if state is None
        else decide_in_series(one, two, chosen, Path(state))
    )
    return replace(decision, checked_at=datetime.now(UTC), seconds=time.perf_counter() - start)


@dataclass(frozen=True, repr=False)
class SeedPlan(RecordTable):
    """The seeds for each dataset, and first for the score if the row has all thirteen.

    :param against: name of the row to compare with
    :param lines: as `blurb plan --format json` prints them
    """

    record = SeedLine
    against: str
    lines: tuple[SeedLine, ...]

    def __getitem__(self, name: str) -> SeedLine:
        """The line of a dataset, or of `score`."""
        return item_of({line["name"]: line for line in self.lines}, name)

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
    detect: Annotated[
        float | None, Option(help="True difference to find.", metavar="POINTS")
    ] = None,
    power: Annotated[float, Option(help="Chance to find it.")] = 0.8,
    level: Annotated[float, Option(help="Significance level of a comparison.")] = 0.05,
    sd: Annotated[
        float | None,
        Option(
            help="Standard deviation between runs, where no row has several runs.", metavar="POINTS"
        ),
    ] = None,
    seeds: Annotated[
        int | None, Option(help="Also say what so many seeds of each row can find.", metavar="N")
    ] = None,
    hours: Annotated[
        float | None,
        Option(help="Also say what the seeds can find that a new row has in this time."),
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
    errors, rows = ErrorCollector(), list[Row]()
    with errors:
        aim = Aim(detect, power, level, sd, seeds, hours)
    several = isinstance(against, Sequence) and not isinstance(against, str)
    with errors:
        rows = rows_of(tuple(against) if several else (against,), output)  # type: ignore[arg-type]
    with errors:
        names = (
            None
            if tasks is None
            else known.select_names(
                tasks, {name for row in rows for name in row.datasets}, typed=True
            )
        )
    errors.stop()
    return SeedPlan(rows[0].name, tuple(plan_seeds(rows, aim, split, names)))

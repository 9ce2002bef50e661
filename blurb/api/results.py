"""`Results`: the rows of a run, a store or a table, for use in Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from blurb import tasks
from blurb.messages import DataError, SettingsError
from blurb.records import html_of, make_frame
from blurb.results import from_store, leaderboard_csv
from blurb.results.row import Row
from blurb.results.score import TYPE_OF
from blurb.row_files.references import file_rows, pick_row, trial_of
from blurb.store.record import PREDICTIONS, read_predictions
from blurb.store.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from blurb.execution.job import TrialOutcome
    from blurb.regression import Decision

FIRST = ("model", "protocol", "score", tasks.TWELVE, *tasks.TYPES)
"""The first columns of `Results.leaderboard`."""
TIDY = ("model", "configuration", "task", "seed", "split", "metric", "value")


@dataclass(frozen=True, repr=False)
class Results:
    """Rows; in a notebook a table of their means, and of the datasets that are in none.

    :param rows: each a model under one configuration, see `blurb.results.row.Row`
    :param path: the store or table that they are of
    :param failed: of `blurb.run`: the trials that failed, with the reason in `message`
    :param decisions: of `blurb.run(check=...)`: a decision a row, if no trial failed
    :param others: of `blurb.run`: the other rows of the store
    :param submitted: of `blurb.run`: the trials that other machines will run, with the place in `message`
    """

    rows: tuple[Row, ...]
    path: Path
    failed: tuple[TrialOutcome, ...] = ()
    decisions: tuple[Decision, ...] = field(default=())
    others: tuple[Row, ...] = ()
    submitted: tuple[TrialOutcome, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> DataFrame:
        """One line per score of a run, columns `TIDY`; scores are times 100, counts as they are.

        Rows without runs (of a `leaderboard.csv` or a paper) have their means, with an empty seed.
        """
        lines: list[tuple[object, ...]] = []
        for row in self.rows:
            for name, dataset in row.datasets.items():
                start = (row.model, row.configuration.text, name)
                for seed, run in sorted(dataset.runs.items()):
                    for split, figures in run.figures.items():
                        lines += [
                            (*start, seed, split, metric, figure.value)
                            for metric, figure in figures.items()
                        ]
                if not dataset.runs:
                    lines += [
                        (*start, None, split, dataset.metric, mean)
                        for split, mean in dataset.means.items()
                    ]
        return make_frame(lines, TIDY).astype({"seed": "Int64"})

    def leaderboard(self) -> DataFrame:
        """One line per row: model, protocol and numbers first, then all columns of `leaderboard.csv` (docs/csv.md).

        The numbers have all their digits; those of the file are rounded.
        """
        columns = leaderboard_csv.columns_of(self.rows)
        numbers = [
            *leaderboard_csv.NUMBERS,
            *(name for name in columns if name not in leaderboard_csv.COLUMNS),
        ]
        first = [*FIRST, *(name for name in columns if name in numbers)]
        lines = [
            leaderboard_csv.line_of(row) | leaderboard_csv.figures_of(row) for row in self.rows
        ]
        frame = make_frame(lines, tuple(dict.fromkeys([*first, *columns])))
        return frame.astype(dict.fromkeys(numbers, float))

    def plot(self, path: Path | str | None = None, split: tasks.Split = "test") -> Figure | None:
        """The scores of all rows by dataset, with single runs, the 95 % interval of their mean and the paper's best.

        :param path: a file to write (.png, .svg, .pdf); None returns the figure, which a notebook shows
        :raises SettingsError: without Matplotlib, or for another kind of file
        """
        from blurb.api.door import additions

        figure: Figure | None = additions.get("Results.plot")(self.rows, path, split)
        return figure

    def predictions(self, model: str, task: str, seed: int | None = None) -> DataFrame:
        """The predictions of a trial on dev and test: one line per example, labels as names.

        :param model: model or name of a row
        :param seed: None for the first
        :raises UnknownName: or SettingsError if there is no such trial
        """
        return make_frame(read_predictions(self.trial(model, task, seed) / PREDICTIONS))

    def trial(self, model: str, task: str, seed: int | None = None) -> Path:
        """The folder of a trial; parameters and errors as of `predictions`."""
        return trial_of(pick_row(self.rows, model, str(self.path)), task, seed).path

    def __repr__(self) -> str:
        names = ", ".join(row.name for row in self.rows) or "no rows"
        lost = f", {len(self.failed)} failed trials" if self.failed else ""
        return f"<Results of {self.path}: {names}{lost}>"

    def _repr_html_(self) -> str:
        figures = [(row, row.means(), row.type_means()) for row in self.rows]
        # Datasets whose score is in no mean of the table have columns of their own.
        alone = dict.fromkeys(
            name for _, means, types in figures for name in means if TYPE_OF.get(name) not in types
        )
        columns = ("row", *tasks.TYPES, "score", *alone)
        lines = [
            (row.name, *map(types.get, tasks.TYPES), row.score, *map(means.get, alone))
            for row, means, types in figures
        ]
        return html_of(make_frame(lines, columns).astype(dict.fromkeys(columns[1:], float)))


def load_results(path: Path | str = "runs") -> Results:
    """The rows of a store, of a `results.csv` or of a `leaderboard.csv`.

    :raises DataError: if there is no such folder or file, or (with file and line) if it is none of them
    :raises SettingsError: if a store has no finished row
    """
    path = Path(path)
    if path.is_file():
        return Results(tuple(file_rows(path)), path)
    if not path.is_dir():
        raise DataError("no such file or folder.", path)
    rows = tuple(from_store.read(Store(path)))
    if not rows:
        raise SettingsError(
            "no finished row yet", fix="blurb run and blurb score --add make rows.", where=path
        )
    return Results(rows, path)

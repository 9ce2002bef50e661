"""`blurb compare`: differences between rows, with intervals and significance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blurb.cli import _complete
from blurb.cli._options import STORE
from blurb.terminal.output import FORMATS, show

if TYPE_CHECKING:
    from blurb.results.comparison import ScoreComparison

COLUMNS = ("dataset", "first", "other", "difference", "low", "high", "p", "could see", "runs", "verdict")
TITLES = tuple({"could see": "detectable", "difference": "change"}.get(column, column) for column in COLUMNS)
"""Headings in the terminal; CSV and JSON keep their column names."""


@click.command(name="compare")
@click.argument("rows", nargs=-1, shell_complete=_complete.rows_anywhere, required=True)
@click.option(
    "--split", type=click.Choice(["dev", "test"]), default="test", show_default=True, help="Split to compare."
)
@STORE
@click.option("--level", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Significance level.")
@click.option("--runs-only", is_flag=True, help="Ignore the variance from the choice of test examples.")
@click.option(
    "--max-drop", type=click.FloatRange(min=0), help="Also report means that dropped by more points than this."
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Also write a forest plot: .png, .svg or .pdf (needs the extra 'plots').")  # fmt: skip
@click.option("--format", "form", type=FORMATS, default="table", help="Output format.")
def command(
    rows: tuple[str, ...], split: str, output: Path, level: float, runs_only: bool, max_drop: float | None,
    plot: Path | None, form: str,
) -> None:  # fmt: skip
    """Compare the first row with each of the others: MODEL, FOLDER[:ROW], FILE.csv[:ROW] or published:MODEL.

    The null hypothesis is that both are the same encoder, fine-tuned with different seeds. p is two-sided and corrected
    over the datasets (Holm); low and high are the 95 % interval of the difference over runs and test examples;
    'detectable' ('could see' in csv and json) is the true difference that is found with a probability of 80 %. A
    published number has no runs, so it gets no verdict except from --max-drop.
    """
    from blurb import api
    from blurb.errors import SettingsError
    from blurb.plots import forest
    from blurb.results import comparison

    if len(rows) < 2:
        raise SettingsError("Name at least two rows to compare.")
    if plot is not None:
        forest.check(plot)
    first, *others = [api.row_of(row, output) for row in rows]
    found = {
        other.name: api.compare(first, other, split=split, runs_only=runs_only).lines  # type: ignore[arg-type]
        for other in others
    }
    table = [
        (first.name, name, *_cells(line, level, max_drop)) for name, lines in found.items() for line in lines
    ]  # fmt: skip
    if form == "table":
        for name in found:
            click.echo(f"{name} minus {first.name}, {split}")
            _print([row[2:] for row in table if row[1] == name])
            if comparison.has_paired(found[name]):
                click.echo(comparison.PAIRED)
    else:
        show(("row", "other row", *COLUMNS), table, form)
    if plot is not None:
        forest.write(first.name, found, plot, level)
        click.echo(f"Plot: {plot}", err=True)


def _print(lines: Sequence[tuple[str, ...]]) -> None:
    """The comparison of two rows; numbers of runs only in a sentence if they are the same everywhere."""
    place = COLUMNS.index("runs")
    counts = {line[place] for line in lines}
    if len(counts) > 1:
        show(TITLES, lines, "table", numbers=TITLES[1:9])
        return
    titles, *rest = ((*line[:place], *line[place + 1 :]) for line in (TITLES, *lines))
    show(titles, rest, "table", numbers=titles[1:8])
    click.echo(f"Runs: {counts.pop()} on each.")


def _cells(line: ScoreComparison, level: float, max_drop: float | None) -> tuple[str, ...]:
    from blurb.wording import probability, signed

    def number(value: float | None, write: Callable[[float], str] = "{:.2f}".format) -> str:
        return "" if value is None else write(value)

    low, high = line.comparison.interval or (None, None)
    verdict = line.verdict(level) + (" (paired)" if line.comparison.paired else "")
    if max_drop is not None and line.difference is not None:
        verdict += (
            f"; dropped by more than {max_drop:g}" if -line.difference > max_drop else f"; drop within {max_drop:g}"
        )
    return (
        line.name, number(line.before), number(line.after), number(line.difference, signed), number(low, signed),
        number(high, signed), probability(line.p), number(line.comparison.detectable), "/".join(map(str, line.runs)),
        verdict,
    )  # fmt: skip

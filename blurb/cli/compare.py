"""`blurb compare`: differences between rows, with intervals and significance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click

from blurb.api.comparing import SPLIT, compare, compare_unseen, open_corpora
from blurb.cli._made import click_command
from blurb.messages import (
    ErrorCollector,
    SettingsError,
    format_number,
    format_p,
    format_signed,
    group_reasons,
)
from blurb.options import Argument, Option
from blurb.planning.options import OUTPUT
from blurb.records import record_columns
from blurb.results import comparison
from blurb.results.decomposition import Decomposition
from blurb.row_files.references import rows_of
from blurb.tasks import ScoredSplit
from blurb.terminal.output import Picture, print_rows

NOT_CORRECTED = (
    "Each interval (95 %) is of its line alone; p is corrected over the datasets (Holm)."
)
TITLES = (
    "dataset",
    "first",
    "other",
    "change",
    "low",
    "high",
    "p",
    "detectable",
    "runs",
    "verdict",
)


@click_command("compare", prints=list[comparison.Compared])
def command(
    rows: Annotated[tuple[str, ...], Argument(complete="rows_anywhere")],
    *,
    split: Annotated[ScoredSplit, SPLIT] = "test",
    output: Annotated[Path, OUTPUT] = Path("runs"),
    level: Annotated[float, Option(help="Significance level.", low=0, most=1)] = 0.05,
    runs_only: Annotated[
        bool, Option(help="Ignore the variance from the choice of test examples.")
    ] = False,
    unseen: Annotated[
        bool, Option(help="Compare F1 of the strings that train has not (docs/what-was-learnt.md).")
    ] = False,
    data: Annotated[
        Path | None, Option(help="--unseen: folder of the datasets.", path="dir")
    ] = None,
    raw: Annotated[
        Path | None, Option(help="--unseen: folder of the original releases.", path="dir")
    ] = None,
    suite: Annotated[
        str | None, Option(help="--unseen: folder of the suite of the rows, if it is your own.")
    ] = None,
    max_drop: Annotated[
        float | None,
        Option(
            help="Also report means that dropped by more points than this.", low=0, unit=" points"
        ),
    ] = None,
    form: str,
    plot: Picture | None = None,
) -> None:
    """Compare the first row with each of the others.

    A row is MODEL, FOLDER[:ROW], FILE.csv[:ROW] or published:MODEL.

    The null hypothesis is that both are the same encoder, fine-tuned with different seeds. p is two-sided and corrected
    over the datasets (Holm); low and high are the 95 % interval of the difference over runs and test examples;
    'detectable' is the true difference that is found with a probability of 80 %. A published number has no runs, so it
    gets no verdict except from --max-drop.
    """
    if len(rows) < 2:
        raise SettingsError("Name at least two rows to compare.")
    wrong = ErrorCollector()
    if plot is not None:
        with wrong:
            plot.check()
    with wrong:
        meant = rows_of(rows, output)
    wrong.stop()
    first, *others = meant
    if unseen:
        corpora = open_corpora(meant, data, raw, suite)  # read once for all rows
        comparisons = [
            compare_unseen(first, other, split, not runs_only, corpora) for other in others
        ]
    else:
        comparisons = [
            compare(first, other, split=split, runs_only=runs_only, data=data, raw=raw, suite=suite)
            for other in others
        ]
    if form == "table":
        for compared in comparisons:
            what = ", F1 of strings that train has not" if unseen else ""
            click.echo(f"{first.name} minus {compared.other.name}, {split}{what}")
            for remark in compared.remarks:
                click.echo(f"The rows differ: {remark}.")
            _print_comparison([_cells_of_line(line, level, max_drop) for line in compared.lines])
            # A mean has the reason of one of its datasets, so datasets suffice.
            names = {line.name for line in compared.lines}
            unknown = [line for line in compared.lines if line.p is None and line.part not in names]
            for text in (
                *group_reasons((line.name, line.reason) for line in unknown),
                *group_reasons((line.name, line.unseen(level)) for line in compared.lines),
            ):
                click.echo(text)
            _print_parts(compared.decomposition)
            if any(line.interval for line in compared.lines):
                click.echo(NOT_CORRECTED)
            for text in comparison.sentences(
                compared.lines, first.name, compared.other.name, level
            ):
                click.echo(text)
            if comparison.has_paired(compared.lines):
                click.echo(comparison.PAIRED)
    else:
        pairs = ((compared.lines, compared.table(level)) for compared in comparisons)
        table = [
            (*cells, _is_within_limit(line, max_drop))
            for both in pairs
            for line, cells in zip(*both, strict=True)
        ]
        print_rows(record_columns(comparison.Compared), table, form)
    if plot is not None:
        plot.write(
            first.name, {compared.other.name: compared.lines for compared in comparisons}, level
        )
        click.echo(f"Plot: {plot.path}", err=True)


def _print_comparison(lines: Sequence[tuple[str, ...]]) -> None:
    """The comparison of two rows; numbers of runs only in a sentence if they are the same everywhere."""
    place = TITLES.index("runs")
    counts = {line[place] for line in lines}
    if len(counts) > 1:
        print_rows(TITLES, lines, numbers=TITLES[1:9])
        return
    titles, *rest = ((*line[:place], *line[place + 1 :]) for line in (TITLES, *lines))
    print_rows(titles, rest, numbers=titles[1:8])
    click.echo(f"Runs: {counts.pop()} on each.")


def _print_parts(whole: Decomposition | None) -> None:
    """Where the difference of the scores comes from; nothing if they are not complete."""
    if whole is None:
        return
    click.echo(
        f"Where the difference of the {whole.of} comes from, in its points ({format_signed(whole.total)}):"
    )
    intervals = any(part.interval for part in whole.parts)
    rows = []
    for part in whole.parts:
        ends = [format_signed(end) for end in part.interval] if part.interval else ["", ""]
        name = part.name if part.name == part.type else f"  {part.name}"
        share = "" if part.share is None else f"{part.share:.0%}"
        rows.append((name, format_signed(part.points), *(ends if intervals else ()), share))
    titles = ("part", "points", *(("low", "high") if intervals else ()), "share")
    print_rows(titles, rows, numbers=titles[1:])
    for sentence in whole.sentences:
        click.echo(sentence)


def _cells_of_line(
    line: comparison.ScoreComparison, level: float, max_drop: float | None
) -> tuple[str, ...]:
    low, high = line.interval or (None, None)
    verdict = line.verdict(level) + (" (paired)" if line.comparison.paired else "")
    within = _is_within_limit(line, max_drop)
    if within is not None:
        verdict += (
            f"; drop within {max_drop:g}" if within else f"; dropped by more than {max_drop:g}"
        )
    return (
        line.name,
        format_number(line.first),
        format_number(line.other),
        format_number(line.difference, format_signed),
        format_number(low, format_signed),
        format_number(high, format_signed),
        format_p(line.p),
        format_number(line.comparison.detectable),
        "/".join(map(str, line.runs)),
        verdict,
    )


def _is_within_limit(line: comparison.ScoreComparison, max_drop: float | None) -> bool | None:
    """Whether a mean dropped by no more than the limit; None without one, or without a difference."""
    return None if max_drop is None or line.difference is None else -line.difference <= max_drop

"""`blurb plan`: how many seeds a difference takes, and what a number of seeds tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from blurb.api.comparing import plan
from blurb.cli._made import click_command
from blurb.messages import count_noun, format_duration, format_number, group_reasons
from blurb.planning.seeds import SeedLine
from blurb.records import record_columns
from blurb.terminal.output import print_rows

FEW = 4
"""Degrees of freedom of five runs; docs/seeds.md says what fewer cost."""
TITLES = ("dataset", "sd", "df", "seeds", "there", "time", "detectable")


@click_command("plan", plan, prints=list[SeedLine])
def command(*, form: str, **given: Any) -> None:
    """Estimate how many seeds detect a difference.

    For each dataset, and for the score of a row of all thirteen: the runs that each of two rows needs, so that a true
    difference of --detect points is found with the chance --power by a two-sided test between runs (Student's). The
    variance is that of the runs of --against, whose few runs ask for more seeds than a known deviation would; the time
    is what its runs took. See docs/seeds.md.
    """
    planned = plan(**given)
    if form != "table":
        print_rows(record_columns(SeedLine), [tuple(line.values()) for line in planned.lines], form)
        return
    click.echo(f"Seeds on each side, against {planned.against}, {given['split']}")
    cells = [_cells_of_line(line) for line in planned.lines]
    known = [
        place for place in range(len(TITLES)) if place < 3 or any(line[place] for line in cells)
    ]
    titles = [TITLES[place] for place in known]
    print_rows(
        titles, [tuple(line[place] for place in known) for line in cells], numbers=titles[1:]
    )
    for text in (
        *group_reasons((line["name"], line["reason"]) for line in planned.lines),
        *_explain_numbers(planned.lines, given["detect"], given["sd"], given["power"]),
    ):
        click.echo(text)


def _cells_of_line(line: SeedLine) -> tuple[str, ...]:
    return (
        line["name"],
        format_number(line["sd"]),
        format_number(line["degrees_of_freedom"], "{:.0f}".format),
        format_number(line["seeds"], str),
        f"{line['seeds_there']}",
        format_number(line["seconds"], format_duration),
        format_number(line["detectable"]),
    )


def _explain_numbers(
    lines: Sequence[SeedLine], detect: float | None, sd: float | None, power: float
) -> Iterator[str]:
    """Where runs tell the deviation and not --sd; where they are so few that this is what the seeds pay for.

    Then the numbers, and that the other row needs as many seeds.
    """
    runs = {
        line["name"]: line["degrees_of_freedom"]
        for line in lines
        if line["degrees_of_freedom"] is not None
    }
    if sd is not None and runs:
        yield f"{', '.join(runs)}: --sd {sd:g} is not used, as there are runs that tell the deviation."
    few = [name for name, degrees in runs.items() if degrees < FEW]
    if few and detect is not None:
        yield (
            f"{', '.join(few)}: few runs tell the deviation (df), which asks for more seeds. Run five seeds of the "
            "row, or name more rows with --against, and plan again."
        )

    planned = {line["name"]: line["seeds"] for line in lines if line["seeds"] is not None}
    if planned and detect is not None:
        yield (
            f"With these seeds on each side a true difference of {detect:g} points is found in {power:.0%} of cases, "
            "before the correction over the datasets."
        )
    short = [
        line for line in lines if line["seeds"] is not None and line["seeds_there"] < line["seeds"]
    ]
    if short:
        most = max(line["seeds"] or 0 for line in short)
        yield f"The row has fewer on {count_noun(len(short), 'line')} of this table: it needs --seeds {most}, too."
    afforded = next((line["affordable"] for line in lines if line["detectable"] is not None), None)
    if afforded is not None:
        yield f"Last column: what {count_noun(afforded, 'seed')} on each side find in {power:.0%} of cases."

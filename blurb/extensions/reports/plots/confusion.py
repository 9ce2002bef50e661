"""The confusion matrix of a trial: gold answers down, predictions across, shaded by the share of each gold answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.reports.errors import ReportTable
from blurb.extensions.reports.plots._style import QUIET, save, start_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELL = 0.62
"""Width of a cell in print, in inches."""
DARK = 0.55
"""Share of a gold answer from which its count is printed in white."""


def write(title: str, table: ReportTable, path: Path) -> None:
    """Writes the plot.

    :param table: of `Report.confusion`: a name and counts in each row
    """
    save(path, lambda: _draw(title, table), [table.columns, list(table.rows)])


def _draw(title: str, table: ReportTable) -> Figure:
    gold, predicted = [str(row[0]) for row in table.rows], table.columns[1:]
    counts = [[int(str(cell)) for cell in row[1:]] for row in table.rows]
    shares = [[count / max(1, sum(row)) for count in row] for row in counts]
    figure, (axes,) = start_figure(1.6 + CELL * len(predicted), 1.1 + 0.75 * CELL * len(gold))
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for place, row in enumerate(counts):
        for other, count in enumerate(row):
            colour = "white" if shares[place][other] > DARK else "black" if count else QUIET
            axes.text(
                other, place, f"{count:,}", ha="center", va="center", color=colour, fontsize=7
            )
    axes.set_xticks(
        range(len(predicted)), predicted, rotation=30 if max(map(len, predicted)) > 8 else 0
    )
    axes.set_yticks(range(len(gold)), gold)
    axes.tick_params(length=0)
    axes.set_xlabel(
        f"predicted; shade: share of each gold answer\n{table.title.partition(' (')[0]}", fontsize=7
    )
    axes.set_ylabel("gold")
    axes.set_title(title, loc="left")
    return figure

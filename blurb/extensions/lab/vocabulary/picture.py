"""The plot of a vocabulary report: what each tokenizer makes of a word, and how many mentions it keeps whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.lab.vocabulary import VocabularyReport
from blurb.extensions.reports.plots import _style
from blurb.extensions.reports.plots._style import GRID, check

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check", "draw", "figures", "write"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676")
"""The palette of Okabe and Ito; the marks differ, too."""
MARKS = "osD^vPX"


def write(reports: Sequence[VocabularyReport], path: Path) -> None:
    """Writes the plot in the format given by the suffix of `path`; creates its folder if necessary."""
    _style.write(path, lambda: draw(reports), figures(reports))


def figures(reports: Sequence[VocabularyReport]) -> list[list[object]]:
    """What is drawn: model, dataset, sub-tokens, words, mentions, whole mentions."""
    return [
        [report.name, task, one.pieces, one.words, one.mentions, one.whole]
        for report in reports
        for task, one in report.datasets.items()
    ]


def draw(reports: Sequence[VocabularyReport]) -> Figure:
    """Two panels, a row a dataset, a mark a tokenizer."""
    from matplotlib.figure import Figure

    tasks = list(reports[0].datasets)
    named = [task for task in tasks if reports[0].datasets[task].mentions]
    figure = Figure(figsize=(6.3, 1.1 + 0.2 * len(tasks)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    for number, report in enumerate(reports):
        colour, mark = COLOURS[number % 7], MARKS[number % 7]
        look: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": "none", "markersize": 4.5}
        counts = report.datasets
        left.plot(
            [counts[task].pieces / max(1, counts[task].words) for task in tasks],
            range(len(tasks)),
            label=report.name,
            **look,
        )
        shares = [100 * counts[task].whole / counts[task].mentions for task in named]
        right.plot(shares, range(len(named)), **look)
    _lanes(left, tasks, "sub-tokens a word")
    _lanes(right, named, "mentions without a split word, %")
    figure.legend(loc="outside lower left", ncols=min(3, len(reports)), frameon=False, fontsize=7)
    return figure


def _lanes(axes: Axes, names: Sequence[str], label: str) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(label)

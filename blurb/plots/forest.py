"""The forest plot of a comparison: one row per dataset with the difference and its 95 % interval."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.files import write_whole
from blurb.plots.ablation import OURS, PAPER, QUIET, STYLE, UNDATED, check
from blurb.results.comparison import ScoreComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check", "write"]

WIDTH = 3.6
"""Width of a panel in print, in inches."""


def write(first: str, found: Mapping[str, Sequence[ScoreComparison]], path: Path, level: float) -> None:
    """Writes the plot, with one panel for each row compared with the first.

    :param found: row -> its lines
    """
    import matplotlib.style
    from matplotlib.figure import Figure

    content = io.BytesIO()
    with matplotlib.style.context(["default", STYLE]):
        shown = [[line for line in lines if line.difference is not None] for lines in found.values()]
        rows = max(1, *map(len, shown)) if shown else 1
        figure = Figure(figsize=(WIDTH * len(found), 1.1 + 0.21 * rows), layout="constrained")
        panels = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, name, lines in zip(panels, found, shown, strict=True):
            _panel(axes, first, name, lines, level)
        figure.savefig(content, format=path.suffix[1:], metadata=UNDATED[path.suffix])
    write_whole(path, content.getvalue())


def _panel(axes: Axes, first: str, name: str, lines: Sequence[ScoreComparison], level: float) -> None:
    """Draws one comparison: filled marks are differences, hollow ones show none, crosses cannot be judged."""
    title = f"{name}\nminus {first}"
    title = "\n".join(part for one in title.split("\n") for part in textwrap.wrap(one, 46))
    axes.set_title(title, loc="left", parse_math=False)  # a name may have dollars in it
    axes.axvline(0, color=QUIET, linewidth=0.8)
    for row, line in enumerate(lines):
        interval = line.comparison.interval
        judged = line.p is not None
        different = line.p is not None and line.p < level
        colour = QUIET if not judged else PAPER if (line.difference or 0) < 0 and different else OURS
        if interval:
            axes.plot(interval, (row, row), color=colour, linewidth=1.2)
        axes.plot(
            [line.difference or 0.0], [row], marker="o" if judged else "x", color=colour, markersize=4.5,
            markerfacecolor=colour if different else "white", linestyle="none",
        )  # fmt: skip
    axes.set_yticks(range(len(lines)), [line.name for line in lines], parse_math=False)
    axes.set_ylim(max(len(lines), 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(
        "difference in points, 95 % interval\nfilled: different, hollow: none shown, ×: cannot judge", fontsize=7
    )

"""The plot of `blurb data stats`: the input lengths of every dataset (docs/extensions/reports.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.extensions.reports.plots._style import (
    GRID,
    PAPER,
    QUIET,
    draw_grid,
    number_ticks,
    save,
    start_figure,
)
from blurb.extensions.reports.stats import Described
from blurb.tasks import SPLITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"train": "#0072B2", "dev": "#56B4E9", "test": "#009E73"}
"""Blues and green of Okabe and Ito; the order of the lanes distinguishes them, too."""
LANES = {"train": -0.24, "dev": 0.0, "test": 0.24}
LIMIT = "maximum length"
PUBLISHED = ("Table 8, Wiki + Books vocabulary", "Table 8, PubMed vocabulary")


def write(splits: Sequence[Described], path: Path) -> None:
    """Writes the plot in the format given by the suffix of `path`; creates its folder if necessary."""
    figures = [[each["task"], each["split"], each["words"], each["sub_tokens"]] for each in splits]
    save(path, lambda: draw(splits), figures)


def draw(splits: Sequence[Described]) -> Figure:
    """One row per dataset, one lane per split: 5 to 95 % of inputs thin, middle half thick, median, mean, longest.

    In sub-tokens if they were counted, with the limit and the paper's averages; otherwise in words.
    """
    names = list(dict.fromkeys(split["task"] for split in splits))
    subtokens = all(split["sub_tokens"] for split in splits)
    figure, (axes,) = start_figure(6.3, 1.15 + 0.36 * len(names))
    axes.set_xscale("log", base=2)
    for split in splits:
        sizes = split["sub_tokens"] if subtokens and split["sub_tokens"] else split["words"]
        place = names.index(split["task"]) + LANES[split["split"]]
        line: dict[str, Any] = {"color": COLOURS[split["split"]], "solid_capstyle": "butt"}
        axes.plot([sizes["p5"], sizes["p95"]], [place, place], linewidth=0.9, **line)
        middle = [sizes["p25"], sizes["p75"]]
        axes.plot(middle, [place, place], linewidth=3.6, label=split["split"], **line)
        axes.plot(sizes["p50"], place, "|", color="white", markersize=3.6, markeredgewidth=1.0)
        axes.plot(
            sizes["mean"],
            place,
            "o",
            color=line["color"],
            markersize=2.6,
            markeredgecolor="white",
            markeredgewidth=0.4,
        )
        axes.plot(
            sizes["longest"], place, "|", color=line["color"], markersize=4, markeredgewidth=0.9
        )
    for row, name in enumerate(names if subtokens else ()):
        split = next(split for split in splits if split["task"] == name)
        if split["limit"]:
            ends = [row - 0.42, row + 0.42]
            axes.plot([split["limit"]] * 2, ends, color="black", linewidth=1.2, label=LIMIT)
        if split["table_8"]:
            published = split["table_8"]["wiki_books"], split["table_8"]["pubmed"]
            for value, marker, label in zip(published, "Dd", PUBLISHED, strict=True):
                axes.plot(
                    value,
                    row - 0.42,
                    marker,
                    color=PAPER,
                    markersize=3.5,
                    markerfacecolor="none",
                    markeredgewidth=0.8,
                    label=label,
                )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.65)
    axes.tick_params(axis="y", length=0)
    for row in range(1, len(names)):
        axes.axhline(row - 0.53, color=GRID, linewidth=0.6, zorder=0)
    draw_grid(axes, "x")
    number_ticks(axes)
    axes.set_xlabel(
        "sub-tokens per input, including special tokens" if subtokens else "words per input"
    )
    _legend(figure, axes)
    return figure


def _legend(figure: Figure, axes: Axes) -> None:
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    marks = dict(zip(reversed(labels), reversed(handles), strict=True))
    shown = {label: marks[label] for label in (*SPLITS, LIMIT, *PUBLISHED) if label in marks}
    grey = {"color": QUIET, "linestyle": "none"}
    if LIMIT in shown:  # it stands upright in the picture
        shown[LIMIT] = Line2D(
            [], [], marker="|", markersize=8, markeredgewidth=1.2, color="black", linestyle="none"
        )
    shown |= {
        "middle half, with the median": Line2D([], [], color=QUIET, linewidth=3.6),
        "5 to 95 % of the inputs": Line2D([], [], color=QUIET, linewidth=0.9),
        "mean": Line2D([], [], marker="o", markersize=2.6, **grey),  # type: ignore[arg-type]
        "longest": Line2D([], [], marker="|", markersize=4, **grey),  # type: ignore[arg-type]
    }
    figure.legend(
        list(shown.values()),
        list(shown),
        loc="outside lower left",
        ncols=4,
        frameon=False,
        fontsize=7,
    )

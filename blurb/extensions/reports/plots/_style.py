"""The style of all plots, and how they are written: in print size, with the same bytes for the same figures."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blurb.messages import SettingsError, opt
from blurb.system.files import json_hash, write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS, PAPER, QUIET = "#0072B2", "#D55E00", "#767676"
"""Blue and vermilion of Okabe and Ito, which colour-blind readers can distinguish; the shapes differ, too."""
GRID = "#E6E6E6"
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "svg.hashsalt": "blurb",
    "pdf.fonttype": 42,
    "figure.dpi": 200,
    "text.parse_math": False,
}
"""Added to Matplotlib's own defaults, independent of the user's matplotlibrc; publishers require TrueType in a PDF.

A name may have dollars in it, which are no formula."""
UNDATED = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata to omit, so that equal scores give identical files."""
FIGURES = {".png": "Figures", ".svg": "Identifier", ".pdf": "Keywords"}
"""The field of the metadata that names the figures of a plot: what a format has a place for."""


def check(path: Path | None) -> None:
    """Raises a SettingsError if no plot could be written there, for one that is asked for; writes nothing."""
    if path is None:
        return
    if path.suffix not in FIGURES:
        raise SettingsError(f"{opt('plot')} must end in {', '.join(FIGURES)} (got '{path.name}').")
    if find_spec("matplotlib") is None:
        raise SettingsError("A picture needs Matplotlib: pip install matplotlib.")


def save(path: Path, draw: Callable[[], Figure], figures: Any) -> None:
    """Writes a plot in the format given by the suffix of `path`; creates its folder if necessary.

    :param figures: what is drawn, as JSON has it; its hash stands in the file, so that a plot that is older than the
        table beside it can be found
    """
    import matplotlib.style

    content = io.BytesIO()
    metadata = {**UNDATED[path.suffix], FIGURES[path.suffix]: digest(figures)}
    with matplotlib.style.context(["default", STYLE]):
        draw().savefig(content, format=path.suffix[1:], metadata=metadata)
    write_whole(path, content.getvalue())


def plotted(path: Path | str | None, draw: Callable[[], Figure], figures: Any) -> Figure | None:
    """A plot in a file, or without one the figure in the style of all plots, for whoever shows it."""
    check(Path(path or "plot.png"))
    if path is not None:
        save(Path(path), draw, figures)
        return None
    import matplotlib.style

    with matplotlib.style.context(["default", STYLE]):
        return draw()


def start_figure(
    width: float, height: float, down: int = 1, across: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure of this size in inches, and its panels, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(down, across, squeeze=False).flat)


def lanes(axes: Axes, count: int) -> None:
    """Lays out an axis with so many rows, the first on top."""
    axes.set_ylim(max(count, 1) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    draw_grid(axes, "y")


def number_ticks(axes: Axes) -> None:
    """Writes the ticks of a logarithmic x axis as numbers: Matplotlib writes formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_grid(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Draws thin lines at the ticks of an axis, behind all else."""
    axes.grid(axis=axis, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def digest(figures: Any) -> str:
    """The hash of what a plot shows: 16 hexadecimal digits."""
    return json_hash(figures)[:16]

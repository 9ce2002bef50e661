"""What a picture shows, as text: the data and words that were drawn, whatever Matplotlib makes of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.golden._compact import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")


def instead_of_pixels(patch: pytest.MonkeyPatch) -> None:
    """Every figure that is saved becomes JSON; without Matplotlib only the cases that draw differ."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return

    def save(self: Figure, file: io.BytesIO, **options: Any) -> None:
        file.write(f"{compact({'format': options['format'], **told(self)})}\n".encode())

    patch.setattr(Figure, "savefig", save)


def told(figure: Figure) -> dict[str, Any]:
    """Title, legend and panels of a figure."""
    title = figure.get_suptitle()
    legends = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    return {"title": title, "legends": legends, "panels": [panel(axes) for axes in figure.axes]}


def panel(axes: Axes) -> dict[str, Any]:
    """Words and data of a panel, in the order in which they were drawn."""
    return {
        "title": axes.get_title() or axes.get_title(loc="left"),
        "x label": axes.get_xlabel(),
        "y label": axes.get_ylabel(),
        "y ticks": [text.get_text() for text in axes.get_yticklabels()],
        "texts": [text.get_text() for text in axes.texts],
        "lines": [
            {
                "label": str(line.get_label()).partition("_child")[0],  # numbered by Matplotlib
                "x": _numbers(line.get_xdata()),
                "y": _numbers(line.get_ydata()),
                "marker": str(line.get_marker()),
                "colour": str(line.get_color()),
                "face": str(line.get_markerfacecolor()),
            }
            for line in axes.lines
        ],
        "collections": [
            {
                "kind": type(each).__name__,
                "label": str(each.get_label()).partition("_child")[0],
                "points": _points(each),
            }
            for each in axes.collections
        ],
        "bars": [
            _numbers([bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()])
            for bar in _bars(axes)
        ],
    }


def _bars(axes: Axes) -> list[Any]:
    from matplotlib.patches import Rectangle

    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def _points(collection: Any) -> list[Any]:
    """Segments of lines, else places of marks."""
    if hasattr(collection, "get_segments"):
        return [_numbers(np.asarray(segment).ravel()) for segment in collection.get_segments()]
    return [_numbers(point) for point in np.asarray(collection.get_offsets())]


def _numbers(values: Any) -> list[float]:
    """To six digits."""
    return [float(f"{float(value):.6g}") for value in values]

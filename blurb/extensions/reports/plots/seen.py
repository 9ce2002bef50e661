"""The gap between strings that train has and strings that it has not: F1 of both, a lane a dataset and row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.data.seen import CLASSES
from blurb.extensions.reports.generalisation import SeenRecord
from blurb.extensions.reports.plots._style import (
    OURS,
    PAPER,
    draw_estimate,
    finish_lanes,
    lanes,
    save,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LANE = 0.22
"""Height of a lane in print, in inches."""


def write(lines: Sequence[SeenRecord], path: Path) -> None:
    """Writes the plot; datasets without F1, such as PICO, are left out."""
    shown = [line for line in lines if line.f1 is not None]
    save(
        path,
        lambda: _draw(shown),
        [[line.row, line.task, line.strings, line.f1, line.f1_low, line.f1_high] for line in shown],
    )


def _draw(lines: Sequence[SeenRecord]) -> Figure:
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(line.task for line in lines))
    rows = list(dict.fromkeys(line.row for line in lines))
    places = {
        (task, row): at for at, (task, row) in enumerate((t, r) for t in datasets for r in rows)
    }
    figure = Figure(figsize=(5.6, 1.0 + LANE * len(places)), layout="constrained")
    axes = figure.subplots()
    lanes(axes, len(places))
    ends: dict[tuple[str, str], list[float]] = {}
    for strings, look in zip(CLASSES, ((OURS, "o"), (PAPER, "D")), strict=True):
        for line in (line for line in lines if line.strings == strings):
            assert line.f1 is not None
            at = places[line.task, line.row]
            ends.setdefault((line.task, line.row), []).append(line.f1)
            label = f"{strings} in train" if at == 0 else None
            draw_estimate(axes, at, line.f1, (line.f1_low, line.f1_high), look, label)
    for key, values in ends.items():
        axes.plot(values, [places[key]] * len(values), color="#B0B0B0", linewidth=0.7, zorder=0)
    names = [task if len(rows) == 1 else f"{task}  {row}" for task, row in places]
    finish_lanes(axes, names, "F1, with 95 % intervals over runs and test examples", rows)
    return figure

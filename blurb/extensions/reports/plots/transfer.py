"""Models on other corpora of their entity: F1, a lane for each corpus that they learnt from and were tested on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.reports.plots._style import (
    OURS,
    PAPER,
    draw_estimate,
    finish_lanes,
    lanes,
    save,
)
from blurb.extensions.reports.transfer import TransferRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LANE = 0.17
"""Height of a lane in print, in inches."""


def write(lines: Sequence[TransferRecord], path: Path) -> None:
    """Writes the plot: the lanes of an entity together, within it those of a tested set, its own models first."""
    shown = sorted((line for line in lines if line.f1 is not None), key=_place)
    figures = [(*_place(line), line.left_out, line.f1, line.f1_low, line.f1_high) for line in shown]
    save(path, lambda: _draw(shown), figures)


def _place(line: TransferRecord) -> tuple[str, str, str, bool, str]:
    is_home = line.trained_on == line.tested_on
    return line.entity, line.tested_on, line.row, not is_home, line.trained_on


def _draw(lines: Sequence[TransferRecord]) -> Figure:
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(line.row for line in lines))
    figure = Figure(
        figsize=(6.3 if len(rows) == 1 else 9.0, 1.0 + LANE * len(lines)), layout="constrained"
    )
    axes = figure.subplots()
    lanes(axes, len(lines))
    named = set[bool]()
    names = []
    for at, line in enumerate(lines):
        assert line.f1 is not None
        is_home = line.trained_on == line.tested_on
        label = "trained on its own train split" if is_home else "trained on another corpus"
        look = (OURS, "o") if is_home else (PAPER, "D")
        interval = line.f1_low, line.f1_high
        draw_estimate(axes, at, line.f1, interval, look, None if is_home in named else label)
        named.add(is_home)
        if line.left_out:
            axes.text(101, at, f"{line.left_out:,} left out", va="center", fontsize=6)
        words = [*([line.row] if len(rows) > 1 else []), line.tested_on]
        names.append("  ".join(words if is_home else [*words, f"from {line.trained_on}"]))
        if at and line.entity != lines[at - 1].entity:
            axes.axhline(at - 0.5, color="black", linewidth=0.6)
    title = "F1 of exact spans on test, with 95 % intervals over runs and test sentences"
    finish_lanes(axes, names, title, rows)
    return figure

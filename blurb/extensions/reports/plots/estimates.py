"""F1 with its interval, a lane each: of strings that train has and has not, and of models on other corpora."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.data.seen import CLASSES
from blurb.extensions.reports.plots._style import OURS, PAPER, lanes, save, start_figure
from blurb.grouping import by_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from blurb.extensions.reports.generalisation import SeenRecord
    from blurb.extensions.reports.transfer import TransferRecord

SEEN_LANE, TRANSFER_LANE = 0.22, 0.17
"""Height of a lane in print, in inches."""


def write_seen(lines: Sequence[SeenRecord], path: Path) -> None:
    """Writes the gap between strings that train has and has not, a lane a dataset and row.

    Datasets without F1, such as PICO, are left out.
    """
    shown = [line for line in lines if line.f1 is not None]
    save(
        path,
        lambda: _draw_seen(shown),
        [[line.row, line.task, line.strings, line.f1, line.f1_low, line.f1_high] for line in shown],
    )


def _draw_seen(lines: Sequence[SeenRecord]) -> Figure:
    datasets = list(dict.fromkeys(line.task for line in lines))
    rows = list(dict.fromkeys(line.row for line in lines))
    places = {pair: at for at, pair in enumerate(product(datasets, rows))}
    figure, (axes,) = start_figure(5.6, 1.0 + SEEN_LANE * len(places))
    lanes(axes, len(places))
    for strings, look in zip(CLASSES, ((OURS, "o"), (PAPER, "D")), strict=True):
        for line in (line for line in lines if line.strings == strings):
            at = places[line.task, line.row]
            _draw_estimate(axes, at, line, look, f"{strings} in train" if at == 0 else None)
    for pair, ends in by_key(((line.task, line.row), line.f1 or 0.0) for line in lines).items():
        axes.plot(ends, [places[pair]] * len(ends), color="#B0B0B0", linewidth=0.7, zorder=0)
    names = [task if len(rows) == 1 else f"{task}  {row}" for task, row in places]
    _finish_lanes(axes, names, "F1, with 95 % intervals over runs and test examples", rows)
    return figure


def write_transfer(lines: Sequence[TransferRecord], path: Path) -> None:
    """Writes models on other corpora, a lane for each corpus that they learnt from and were tested on.

    The lanes of an entity stand together, within it those of a tested set, its own models first.
    """
    shown = sorted((line for line in lines if line.f1 is not None), key=_place)
    figures = [(*_place(line), line.left_out, line.f1, line.f1_low, line.f1_high) for line in shown]
    save(path, lambda: _draw_transfer(shown), figures)


def _place(line: TransferRecord) -> tuple[str, str, str, bool, str]:
    is_home = line.trained_on == line.tested_on
    return line.entity, line.tested_on, line.row, not is_home, line.trained_on


def _draw_transfer(lines: Sequence[TransferRecord]) -> Figure:
    rows = list(dict.fromkeys(line.row for line in lines))
    height = 1.0 + TRANSFER_LANE * len(lines)
    figure, (axes,) = start_figure(6.3 if len(rows) == 1 else 9.0, height)
    lanes(axes, len(lines))
    named = set[bool]()
    names = []
    for at, line in enumerate(lines):
        is_home = line.trained_on == line.tested_on
        label = "trained on its own train split" if is_home else "trained on another corpus"
        look = (OURS, "o") if is_home else (PAPER, "D")
        _draw_estimate(axes, at, line, look, None if is_home in named else label)
        named.add(is_home)
        if line.left_out:
            axes.text(101, at, f"{line.left_out:,} left out", va="center", fontsize=6)
        words = [*([line.row] if len(rows) > 1 else []), line.tested_on]
        names.append("  ".join(words if is_home else [*words, f"from {line.trained_on}"]))
        if at and line.entity != lines[at - 1].entity:
            axes.axhline(at - 0.5, color="black", linewidth=0.6)
    _finish_lanes(
        axes,
        names,
        "F1 of exact spans on test, with 95 % intervals over runs and test sentences",
        rows,
    )
    return figure


def _draw_estimate(
    axes: Axes,
    at: float,
    line: SeenRecord | TransferRecord,
    look: tuple[str, str],
    label: str | None,
) -> None:
    """A marker in a lane, and its interval as a bar if there is one.

    :param look: colour and marker
    """
    colour, marker = look
    if line.f1_low is not None and line.f1_high is not None:
        ends = [line.f1_low, line.f1_high]
        axes.plot(ends, [at, at], color=colour, linewidth=2.5, alpha=0.35)
    style = {"markersize": 4, "linestyle": "none", "clip_on": False}
    axes.plot(line.f1, at, marker, color=colour, label=label, **style)  # type: ignore[arg-type]


def _finish_lanes(axes: Axes, names: Sequence[str], label: str, rows: Sequence[str]) -> None:
    """The names of lanes, an axis of per cents, the legend, and the name of a row that is alone as the title."""
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(0, 100)
    axes.set_xlabel(label)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=7)
    if len(rows) == 1:
        axes.figure.suptitle(rows[0], x=0.02, ha="left", fontsize=8)

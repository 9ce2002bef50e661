"""The curves of `blurb series` on the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from blurb.extensions.reports.html.model import SeriesChart, SeriesPoint
from blurb.messages.errors import DataError
from blurb.messages.spelling import opt
from blurb.results import csv_files
from blurb.statistics.smoothing import logarithmic
from blurb.store.record import within

NEEDED = ("run", "step", "protocol", "dataset", "measure", "value", "trend", "trend_half")
SHOWN = ("score", "figure")
"""Measures on the page; the losses of heads are in the table."""


@dataclass(frozen=True)
class SeriesFolder:
    """The tables of `blurb series` in a folder, as the page takes them."""

    folder: Path

    def charts(self) -> list[SeriesChart]:
        """A chart for each dataset and figure; errors as of `read`."""
        return read(self.folder)


def read(folder: Path) -> list[SeriesChart]:
    """Reads the tables that `blurb series` wrote to a folder, a chart for each dataset and figure.

    Of several protocols the first one is shown, by which all checkpoints were scored.

    :raises DataError: with file and line for what is no such table
    """
    if not (paths := sorted(folder.rglob("series.csv"))):
        raise DataError(f"no series.csv here; {opt('series')} needs the {opt('out')} folder of blurb series.", folder)
    return [chart for path in paths for chart in _charts(path)]


def _charts(path: Path) -> list[SeriesChart]:
    columns, lines = csv_files.read(path)
    if missing := [column for column in NEEDED if column not in columns]:
        raise DataError(f"not a table of blurb series, as columns are missing: {', '.join(missing)}.", path, 1)
    points: dict[str, dict[str, list[SeriesPoint]]] = {}
    first = next((line["protocol"] for _, line in lines if line["protocol"]), "")
    for number, line in lines:
        if line["measure"] not in SHOWN or line["protocol"] not in ("", first):
            continue
        try:
            trend = float(line["trend"])
            half = float(line["trend_half"]) if line["trend_half"] else None
            ends = None if half is None else (trend - half, trend + half)
            if ends and line["measure"] == SHOWN[0]:
                ends = within(*ends, line["dataset"])
            point = int(line["step"]), float(line["value"]), trend, ends
        except (ValueError, TypeError) as error:
            raise DataError("step, value and trend must be numbers.", path, number) from error
        points.setdefault(line["dataset"], {}).setdefault(csv_files.original(line["run"]), []).append(point)
    steps = ([step for step, *_ in own] for runs in points.values() for own in runs.values())
    spaced = logarithmic(*steps)
    return [SeriesChart(dataset, spaced, list(runs.items())) for dataset, runs in points.items()]

"""Grids of an ablation: tables 12 to 14 of Gu et al. (`ablations.csv`) and our own; and the tables of a run."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from blurb.grouping import by_key
from blurb.messages import format_p, format_signed
from blurb.results import schema
from blurb.results.row import Row
from blurb.statistics.welch import welch_test
from blurb.store.trial import short_weights
from blurb.system.files import write_whole

POOLING_INPUT = "markers"
"""The axis `pooling` is the part of Table 14 with this relation input, the only one with three poolings."""

OURS = {
    "rate": ("lr", (1e-5, 3e-5, 8e-5, 2e-4, 5e-4)),
    "warmup": ("warmup", (0.0, 0.06, 0.1, 0.2)),
    "word-borders": ("word_borders", ("blanks", "prefix", "none")),
}
"""Axes without a published table: the setting and its values."""


@dataclass(frozen=True)
class Cell:
    """One configuration of a grid.

    :param settings: settings of the cell, by name
    :param published: dataset -> score of the paper's PubMedBERT, times 100
    """

    settings: Mapping[str, Any]
    published: Mapping[str, float]

    @property
    def text(self) -> str:
        """The cell as text: `relation_input=markers pooling=cls`."""
        return " ".join(f"{key}={value}" for key, value in self.settings.items())


@dataclass(frozen=True)
class Grid:
    """One axis; the first cell is the default, to which the others are compared.

    :param source: the published table
    """

    axis: str
    source: str
    cells: tuple[Cell, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets of the published table, in its order; none without published scores."""
        return tuple(self.cells[0].published)

    def unpublished(self) -> Grid:
        """The same cells without the published scores, for other data."""
        return replace(self, cells=tuple(replace(cell, published={}) for cell in self.cells))


def grid(axis: str) -> Grid:
    """The published grid of an axis."""
    if axis in OURS:
        setting, values = OURS[axis]
        return Grid(axis, "", tuple(Cell({setting: value}, {}) for value in values))
    if axis == "pooling":
        whole = grid("relation")
        return Grid(
            axis,
            f"{whole.source}, {POOLING_INPUT}",
            tuple(cell for cell in whole.cells if cell.settings["relation_input"] == POOLING_INPUT),
        )
    text = Path(__file__).with_name("ablations.csv").read_text(encoding="utf-8")
    lines = [line for line in csv.DictReader(text.splitlines()) if line["axis"] == axis]
    published = by_key(
        (line["settings"], (line["dataset"], float(line["score"]))) for line in lines
    )
    cells = tuple(
        Cell(dict(pair.split("=") for pair in pairs.split()), dict(scores))
        for pairs, scores in published.items()
    )
    return Grid(axis, f"{lines[0]['source']}, {lines[0]['version']}", cells)


SCHEMA = 1
SHOWN = (
    "cell",
    "task",
    "mean",
    "sd",
    "seeds",
    "difference",
    "p",
    "verdict",
    "published",
    "published_difference",
)
NUMBERS = ("mean", "sd", "seeds", "difference", "p", "published", "published_difference")
COLUMNS = (
    "schema",
    "axis",
    "model",
    "weights",
    "protocol",
    "overrides",
    "precision",
    "data",
    *SHOWN,
)


def lines(
    grid: Grid, results: Sequence[Row | None], datasets: Sequence[str]
) -> list[dict[str, str]]:
    """A line per cell and dataset, in the order of the grid.

    :param results: the row of each cell in the store, None if missing
    """
    table = []
    for index, (cell, result) in enumerate(zip(grid.cells, results, strict=True)):
        for dataset in datasets:
            values = _values_of(result, dataset)
            line = {"cell": cell.text, "task": dataset, "seeds": str(len(values))}
            if values:
                line["mean"] = f"{statistics.fmean(values):.2f}"
            if len(values) > 1:
                line["sd"] = f"{statistics.stdev(values):.2f}"
            published = cell.published.get(dataset)
            if published is not None:
                line["published"] = f"{published:.2f}"
            if index:
                comparison = welch_test(values, _values_of(results[0], dataset))
                line["verdict"] = comparison.verdict
                if comparison.difference is not None:
                    line["difference"] = format_signed(comparison.difference)
                if comparison.p is not None:
                    line["p"] = f"{comparison.p:.4f}"
                if published is not None:
                    line["published_difference"] = format_signed(
                        published - grid.cells[0].published[dataset]
                    )
            else:
                line["verdict"] = "default"
            if result is not None:
                made = result.configuration
                line |= {
                    "model": result.model,
                    "weights": short_weights(result.weights),
                    "protocol": made.protocol,
                    "overrides": made.overrides_text,
                    "precision": made.precision,
                    "data": result.data,
                }
            table.append({"schema": str(SCHEMA), "axis": grid.axis, **line})
    return table


def write(grid: Grid, found: list[dict[str, str]], folder: Path, caption: str) -> tuple[Path, Path]:
    """Writes both files of an axis to a folder, which is created if necessary; replaces an earlier ablation."""
    folder.mkdir(parents=True, exist_ok=True)
    table, page = folder / f"{grid.axis}.csv", folder / f"{grid.axis}.md"
    schema.write(table, COLUMNS, found)
    rules = ["---:" if column in NUMBERS else "---" for column in SHOWN]
    rows = "\n".join(f"| {' | '.join(row)} |" for row in [titles(), rules, *map(readable, found)])
    has_published = any("published" in line for line in found)
    source = f"Published: PubMedBERT in {grid.source}. " if has_published else ""
    text = (
        f"# Ablation: {grid.axis}\n\n{caption}\n\n{rows}\n\n"
        f"{source}Differences are from the first cell; the verdict is Welch's t-test "
        "over seeds at 5 %, without the choice of test examples.\n"
    )
    write_whole(page, text.encode())
    return table, page


def titles() -> list[str]:
    """The column headings of the readable table."""
    return [column.replace("_", " ") for column in SHOWN]


def readable(line: Mapping[str, str]) -> list[str]:
    """The cells of a line in the readable table, with rounded p-values (the CSV file has four digits)."""
    p = line.get("p", "")
    return [format_p(float(p)) if column == "p" and p else line.get(column, "") for column in SHOWN]


def _values_of(result: Row | None, dataset: str) -> list[float]:
    return result.values(dataset) if result is not None else []

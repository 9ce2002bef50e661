"""The grids of Tables 12 to 14 of Gu et al., from `ablations.csv`, whose rows have the order of the cells."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

POOLING_INPUT = "markers"
"""The axis `pooling` is the part of Table 14 with this relation input, the only one with three poolings."""


@dataclass(frozen=True)
class Cell:
    """One configuration of a grid.

    :param settings: settings of the cell, by name
    :param published: dataset -> score of the paper's PubMedBERT, times 100
    """

    settings: Mapping[str, str]
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
    if axis == "pooling":
        whole = grid("relation")
        part = tuple(cell for cell in whole.cells if cell.settings["relation_input"] == POOLING_INPUT)
        return Grid(axis, f"{whole.source}, {POOLING_INPUT}", part)
    lines = [line for line in _lines() if line["axis"] == axis]
    published: dict[str, dict[str, float]] = {}
    for line in lines:
        published.setdefault(line["settings"], {})[line["dataset"]] = float(line["score"])
    cells = tuple(
        Cell(dict(pair.split("=") for pair in settings.split()), scores) for settings, scores in published.items()
    )
    return Grid(axis, f"{lines[0]['source']}, {lines[0]['version']}", cells)


@cache
def _lines() -> list[dict[str, str]]:
    text = (files("blurb.planning") / "ablations.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))

"""The committed table of searches: what is stated is not below what happened. The oracle is the simulated change."""

from __future__ import annotations

import re

import pytest

from benchmarks.bisecting import CELLS, OUT, SEARCHES, Cell, line, outcome

BEFORE = dict(zip(CELLS, (
    124, 327, 525, 930, 1361, 548, 1608, 1916, 1952, 697, 724, 2000, 838, 2000, 405, 1808, 1809, 1924, 1998, 1919,
    1987, 1848, 1932, 1999,
), strict=True))  # fmt: skip
"""Answers of the same searches at bba888fd, which stated an error of 5 % and were wrong in up to 57 % of them."""


def committed() -> dict[Cell, tuple[int, float, float, float]]:
    """Answers, stated error, share of wrong answers and its standard error, of each cell."""
    rows = [row for row in OUT.read_text().splitlines() if re.match(r"\| [0-9]", row)]
    cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]
    assert len(rows) == len(CELLS)
    figures = [
        (int(row[6].replace(",", "")), float(row[8]), *map(float, row[9].split(" ± ")))
        for row in cells
    ]
    return {cell: (*found,) for cell, found in zip(CELLS, figures, strict=True)}  # type: ignore[misc]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_what_is_stated_is_not_below_what_happened(cell: Cell) -> None:
    answers, stated, wrong, error = committed()[cell]
    assert stated >= wrong - 2 * error
    if cell.deviations > 1.99:
        assert answers >= 0.75 * BEFORE[cell]


@pytest.mark.costly
@pytest.mark.parametrize("place", [4, 7, 18])
def test_the_table_is_that_of_the_code(place: int) -> None:
    assert line(CELLS[place], outcome(CELLS[place], SEARCHES)) in OUT.read_text().splitlines()

"""The grids are those of the paper, their numbers written out by hand (docs/benchmark.md, "Published tables")."""

from __future__ import annotations

import pytest

from blurb import tasks
from blurb.heads import heads, poolings
from blurb.inputs.relations import STRATEGIES
from blurb.inputs.tagging import SCHEMES
from blurb.planning import ablations

GRIDS = {
    "head": (["linear", "bilstm"], "bc5-chem bc5-disease jnlpba chemprot ddi gad"),
    "tagging": (["bio", "bioul", "io"], "bc5-chem bc5-disease jnlpba"),
    "relation": (
        [
            "dummify cls",
            "dummify mention",
            "original cls",
            "original mention",
            "markers cls",
            "markers mention",
            "markers entity-start",
        ],
        "chemprot ddi",
    ),
    "pooling": (["markers cls", "markers mention", "markers entity-start"], "chemprot ddi"),
}
SCORES = {
    "head": [[93.33, 85.62, 79.10, 77.24, 82.36, 83.96], [93.12, 85.64, 79.10, 75.40, 81.70, 83.42]],
    "tagging": [[93.33, 85.62, 79.10], [93.37, 85.59, 79.02], [93.11, 85.63, 79.05]],
    "relation": [
        [77.24, 82.36],
        [77.22, 82.08],
        [50.52, 37.00],
        [75.48, 79.42],
        [77.72, 82.22],
        [77.22, 82.42],
        [77.58, 82.18],
    ],
    "pooling": [[77.72, 82.22], [77.22, 82.42], [77.58, 82.18]],
}


@pytest.mark.parametrize("axis", GRIDS)
def test_cells_and_numbers_of_the_paper_in_its_order(axis: str) -> None:
    grid = ablations.grid(axis)
    cells, datasets = GRIDS[axis]
    assert [" ".join(cell.settings.values()) for cell in grid.cells] == cells
    assert " ".join(grid.datasets) == datasets
    assert [list(cell.published.values()) for cell in grid.cells] == SCORES[axis]
    assert [task.name for task in tasks.select(grid.datasets)] == list(grid.datasets)


def test_every_cell_can_be_run() -> None:
    known = {"head": heads.names(), "pooling": poolings.names(), "tagging": SCHEMES, "relation_input": STRATEGIES}
    for axis in GRIDS:
        for cell in ablations.grid(axis).cells:
            assert all(value in known[key] for key, value in cell.settings.items())

"""Grids against the paper by hand (docs/benchmark.md, "Published tables"); their tables against NumPy and SciPy."""

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from blurb import tasks
from blurb.heads import heads, poolings
from blurb.inputs.relations import STRATEGIES
from blurb.inputs.tagging import SCHEMES
from blurb.planning import ablations
from blurb.results.row import Row
from tests.results import invented
from tests.rewriting import csv_lines

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
    "head": [
        [93.33, 85.62, 79.10, 77.24, 82.36, 83.96],
        [93.12, 85.64, 79.10, 75.40, 81.70, 83.42],
    ],
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
    assert [task.name for task in tasks.select_tasks(grid.datasets)] == list(grid.datasets)


def test_every_cell_can_be_run() -> None:
    known = {
        "head": heads.names(),
        "pooling": poolings.names(),
        "tagging": SCHEMES,
        "relation_input": STRATEGIES,
    }
    for axis in GRIDS:
        for cell in ablations.grid(axis).cells:
            assert all(value in known[key] for key, value in cell.settings.items())


TAGGING = ablations.grid("tagging")
DATASET = TAGGING.datasets[0]
RUNS = [[79.0, 79.6, 79.3], [80.2, 80.9, 80.4], [78.8]]
ROWS: list[Row | None] = [invented.row("m", {DATASET: values}) for values in RUNS]


def published(axis: str) -> dict[tuple[str, str], float]:
    """(settings, dataset) -> score, as the shipped file has it."""
    text = (files("blurb.planning") / "ablations.csv").read_text(encoding="utf-8")
    return {
        (line["settings"], line["dataset"]): float(line["score"])
        for line in csv.DictReader(text.splitlines())
        if line["axis"] == axis
    }


def test_a_line_has_our_figures_beside_the_published_ones() -> None:
    lines = ablations.lines(TAGGING, ROWS, [DATASET])
    assert [line["cell"] for line in lines] == [cell.text for cell in TAGGING.cells]
    printed = published("tagging")
    default = printed[TAGGING.cells[0].text, DATASET]
    for line, values in zip(lines, RUNS, strict=True):
        assert (line["mean"], line["seeds"]) == (f"{np.mean(values):.2f}", str(len(values)))
        assert line.get("sd") == (f"{np.std(values, ddof=1):.2f}" if len(values) > 1 else None)
        assert float(line["published"]) == printed[line["cell"], DATASET]
    assert lines[0]["verdict"] == "default"
    assert {"difference", "p", "published_difference"} & set(lines[0]) == set()
    expected = stats.ttest_ind(RUNS[1], RUNS[0], equal_var=False)
    assert float(lines[1]["p"]) == pytest.approx(expected.pvalue, abs=5e-5)
    assert (lines[1]["difference"], lines[1]["verdict"]) == ("+1.20", "significant")
    assert float(lines[1]["published_difference"]) == pytest.approx(
        float(lines[1]["published"]) - default, abs=0.005
    )
    # One run has the variance of the others
    pooled = stats.ttest_ind(RUNS[2], RUNS[0], equal_var=True)
    assert float(lines[2]["p"]) == pytest.approx(pooled.pvalue, abs=5e-5)
    assert lines[2]["verdict"] == "not significant"


def test_cells_without_runs_have_no_figures_and_no_verdict() -> None:
    lines = ablations.lines(TAGGING, [ROWS[0], None, invented.row("m", {"gad": [1.0]})], [DATASET])
    for line in lines[1:]:
        assert (line["seeds"], line["verdict"]) == ("0", "cannot judge")
        assert {"mean", "sd", "difference", "p"} & set(line) == set()
    without_default = ablations.lines(TAGGING, [None, *ROWS[1:]], [DATASET])
    assert [line["verdict"] for line in without_default] == [
        "default",
        "cannot judge",
        "cannot judge",
    ]


@pytest.mark.parametrize("axis", GRIDS)
def test_every_grid_has_a_line_a_cell_and_dataset(axis: str) -> None:
    """All that the paper prints, and a dataset that it does not."""
    grid = ablations.grid(axis)
    names = [*grid.datasets, "bioasq"]
    lines = ablations.lines(grid, [None] * len(grid.cells), names)
    assert [(line["cell"], line["task"]) for line in lines] == [
        (cell.text, name) for cell in grid.cells for name in names
    ]
    printed = published("relation" if axis == "pooling" else axis)
    assert {
        (line["cell"], line["task"]): float(line["published"])
        for line in lines
        if "published" in line
    } == {
        key: score for key, score in printed.items() if key[0] in {cell.text for cell in grid.cells}
    }
    bare = ablations.lines(grid.unpublished(), [None] * len(grid.cells), names)
    assert not any("published" in line or "published_difference" in line for line in bare)


@pytest.mark.extensions
def test_what_was_written_is_what_the_page_reads(tmp_path: Path) -> None:
    from blurb.extensions.reports.html.collect import read_ablations

    found = ablations.lines(TAGGING, ROWS, [DATASET])
    table, page = ablations.write(TAGGING, found, tmp_path / "deep", "A caption.")
    assert (table.name, page.name) == ("tagging.csv", "tagging.md")
    lines = csv_lines(table)
    assert tuple(lines[0]) == ablations.COLUMNS
    said = [
        [{key: cell for key, cell in line.items() if cell} for line in side]
        for side in (lines, found)
    ]
    assert said[0] == said[1]
    (shown,) = read_ablations(table.parent)
    assert (shown.axis, shown.model) == ("tagging", "m")
    text = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in text if line.startswith("|")]
    assert len(rows) == 2 + len(found)
    assert {row.count("|") for row in rows} == {len(ablations.SHOWN) + 1}
    assert "A caption." in text
    again = ablations.lines(TAGGING.unpublished(), ROWS, [DATASET])
    ablations.write(TAGGING.unpublished(), again, tmp_path / "deep", "Another.")
    assert "PubMedBERT" not in page.read_text(encoding="utf-8")


def test_p_is_shown_as_everywhere() -> None:
    shown = dict(
        zip(ablations.titles(), ablations.readable({"p": "0.0312", "cell": "x"}), strict=True)
    )
    assert (shown["p"], shown["cell"], shown["mean"]) == ("0.031", "x", "")
    assert "published difference" in shown
    assert ablations.readable({"p": "0.0000"})[ablations.SHOWN.index("p")] == "<0.001"

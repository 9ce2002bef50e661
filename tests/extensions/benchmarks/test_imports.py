"""Every benchmark can be started: its modules are imported, as nothing else of the tests needs them."""

import importlib
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchmarks
from benchmarks.bisecting import CELLS, OUT, SEARCHES, Cell, line, outcome
from benchmarks.scale.driver import PHASES
from blurb.cli import cli
from blurb.store import index

ROOT = Path(benchmarks.__path__[0])
MODULES = sorted(ROOT.rglob("*.py"))
OPTIONAL = {
    "ray",
    "matplotlib",
    "spacy",
    "torchcrf",
    "seqeval",
    "pytorch_crf",
    "nltk",
    "playwright",
}
"""Libraries that a benchmark of its own may need."""


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_module_is_imported(file: Path) -> None:
    """Also of programs, which run nothing when they are imported."""
    name = ".".join(("benchmarks", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        pytest.skip(f"{error.name} is not installed")


def test_a_store_of_scale_is_read_through_an_index_that_the_first_view_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, each `show`, `runs` and `export` read all trials from their folders again."""
    PHASES["driver"](tmp_path, 65)
    PHASES["fill"](tmp_path, 65)
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    runs, read = tmp_path / "runs", index.read_folder
    for words in (["leaderboard", "show", "--no-intervals"], ["runs"], ["export", "markdown"]):
        shutil.rmtree(tmp_path / "home" / "trials", ignore_errors=True)
        typed = [*words, "--output", str(runs)]
        outputs = []
        for _ in range(2):
            outputs.append(CliRunner().invoke(cli, typed, catch_exceptions=False).output)
            assert list((tmp_path / "home" / "trials").glob("*.sqlite")), words
            monkeypatch.setattr(index, "read_folder", lambda *_: pytest.fail("a folder was read"))
        monkeypatch.setattr(index, "read_folder", read)
        assert outputs[0] == outputs[1]


# The committed table of searches: what is stated is not below what happened. The oracle is the simulated change.


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

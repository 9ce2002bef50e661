"""The pictures of docs/results are of the figures beside them: each names the hash of what it shows."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from blurb.extensions.reports.plots._style import digest
from tests.rewriting import csv_lines

pytest.importorskip("matplotlib")

from benchmarks import pictures
from benchmarks.study import report as study
from tests.cli.in_process import done

ABLATIONS = sorted((pictures.RESULTS / "ablations").glob("*/*.png"))


def test_the_page_is_of_the_tables() -> None:
    assert pictures.PAGE.read_text(encoding="utf-8") == pictures.page(), (
        "run python -m benchmarks.pictures"
    )


def test_the_picture_of_the_page_is_of_the_page() -> None:
    assert pictures.stamped(pictures.PICTURE) == digest(pictures.PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ABLATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ablations_are_of_their_tables(path: Path) -> None:
    lines = [
        [line[name] for name in ("cell", "task", "mean", "sd", "seeds")]
        for line in csv_lines(path.with_suffix(".csv"))
    ]
    assert pictures.stamped(path) == digest(lines)


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=float)


def alike(first: Path, other: Path) -> bool:
    """Whether two pictures show the same; another version of Matplotlib may move an edge by a pixel."""
    one, two = pixels(first), pixels(other)
    return one.shape == two.shape and float(np.abs(one - two).mean()) < 0.5


@pytest.mark.parametrize("table", pictures.TWO_SEEDS, ids=lambda path: path.stem)
def test_ablations_are_as_the_code_draws_them(table: Path, tmp_path: Path) -> None:
    from blurb.extensions.reports.plots import ablation

    grid, scores, names, title = pictures.of_two_seeds(table)
    ablation.write(grid, scores, names, title, tmp_path / "now.png")
    assert pictures.stamped(tmp_path / "now.png") == pictures.stamped(table.with_suffix(".png"))
    assert alike(tmp_path / "now.png", table.with_suffix(".png")), (
        "run python -m benchmarks.pictures"
    )


@pytest.mark.costly
def test_the_pretraining_study_is_as_the_code_writes_it(test_data: Path, tmp_path: Path) -> None:
    committed = pictures.RESULTS / "lab" / "vocabulary-and-masking"
    shutil.copytree(committed, tmp_path / "study")
    words = [
        "study",
        "vocabulary-and-masking",
        "--data",
        str(test_data / "blurb"),
        "--output",
        "study",
        "--read",
    ]
    done(words, tmp_path)
    for name in ("README.md", "study.csv"):
        assert (tmp_path / "study" / name).read_text() == (committed / name).read_text()
    assert alike(tmp_path / "study" / "study.png", committed / "study.png")


def test_the_growth_of_cost_is_of_the_measurement() -> None:
    found = json.loads((pictures.RESULTS / "bench" / "bench.json").read_text(encoding="utf-8"))
    assert pictures.stamped(pictures.RESULTS / "bench" / "growth.png") == digest(
        found["growth"]["figures"]
    )


def test_the_study_is_of_its_lines() -> None:
    found = study.figures(study.scores(pictures.RESULTS / "protocol-study"))
    assert pictures.stamped(pictures.RESULTS / "protocol-study" / "agreement.png") == digest(found)


def test_the_vocabularies_are_of_their_report() -> None:
    folder = pictures.RESULTS / "vocabulary"
    found = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))["tasks"]
    columns = ("model", "task", "subtokens", "words", "mentions", "whole_mentions")
    assert pictures.stamped(folder / "vocabulary.png") == digest(
        [[line[name] for name in columns] for line in found]
    )

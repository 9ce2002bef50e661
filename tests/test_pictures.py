"""The pictures of docs/results are of the figures beside them: each names the hash of what it shows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from benchmarks import pictures
from benchmarks.study import report as study
from blurb.plots._style import digest

ABLATIONS = sorted((pictures.RESULTS / "ablations").glob("*/*.png"))


def test_the_page_is_of_the_tables() -> None:
    assert pictures.PAGE.read_text(encoding="utf-8") == pictures.page(), "run python -m benchmarks.pictures"


def test_the_picture_of_the_page_is_of_the_page() -> None:
    assert pictures.stamped(pictures.PICTURE) == digest(pictures.PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ABLATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_ablations_are_of_their_tables(path: Path) -> None:
    with path.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        lines = [[line[name] for name in ("cell", "task", "mean", "sd", "seeds")] for line in csv.DictReader(file)]
    assert pictures.stamped(path) == digest(lines)


def test_the_growth_of_cost_is_of_the_measurement() -> None:
    found = json.loads((pictures.RESULTS / "bench" / "bench.json").read_text(encoding="utf-8"))
    assert pictures.stamped(pictures.RESULTS / "bench" / "growth.png") == digest(found["growth"]["figures"])


def test_the_study_is_of_its_lines() -> None:
    found = study.figures(study.scores(pictures.RESULTS / "protocol-study"))
    assert pictures.stamped(pictures.RESULTS / "protocol-study" / "agreement.png") == digest(found)


def test_the_vocabularies_are_of_their_report() -> None:
    folder = pictures.RESULTS / "vocabulary"
    found = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))["tasks"]
    columns = ("model", "task", "subtokens", "words", "mentions", "whole_mentions")
    assert pictures.stamped(folder / "vocabulary.png") == digest([[line[name] for name in columns] for line in found])

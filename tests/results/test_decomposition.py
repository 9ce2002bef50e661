"""Where a difference comes from. Oracles: the sum of the parts, and the figures that a reader of the paper computed."""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

import blurb
from blurb.results import published
from blurb.results.comparison import compare_rows
from blurb.results.dataset_scores import DATASETS, DatasetScores
from blurb.results.decomposition import Decomposition, binomial_error, decompose_difference
from blurb.results.row import Published, Row, RowIdentity
from blurb.results.score import blurb_12, blurb_score
from blurb.row_files.references import row_of
from blurb.store.trial import Configuration
from tests.conftest import ROOT

PAPER = "published:PubMedBERT (gu2021)"
COUNTED: Mapping[str, tuple[float, ...]] = {
    "PubMedBERT general-vocabulary word-piece": (2.00, 0.04, 0.01, 0.23, 0.16, 0.09, 1.46, 1.16),
    "PubMedBERT general-vocabulary whole-word": (1.20, 0.02, -0.02, 0.10, 0.08, 0.10, 0.92, 0.93),
    "PubMedBERT word-piece": (1.55, 0.12, -0.01, 0.29, -0.03, 0.32, 0.84, 0.75),
    "PubMedBERT mixed-domain": (1.13, 0.03, -0.07, 0.12, 0.39, -0.14, 0.80, 0.71),
    "PubMedBERT half-time": (0.93, 0.05, -0.06, 0.16, 0.03, 0.03, 0.72, 0.68),
    "BioBERT": (0.82, 0.04, 0.03, 0.23, 0.46, 0.13, -0.08, 0.29),
}
"""All, NER, PICO, RE, similarity, HoC, QA, of it BioASQ: a script of a reviewer on the paper's tables."""


def parts_of(reference: str) -> Decomposition:
    found = decompose_difference(
        compare_rows(
            row_of(PAPER, "runs"), row_of(f"published:{reference} (gu2021)", "runs"), "test", False
        )
    )
    assert found is not None
    return found


@pytest.mark.parametrize("name", COUNTED)
def test_the_parts_that_were_counted_from_the_paper(name: str) -> None:
    found = parts_of(name)
    bioasq = next(part for part in found.datasets if part.name == "bioasq")
    figures = [found.total, *(part.points for part in found.types), bioasq.points]
    assert [round(figure, 2) for figure in figures] == pytest.approx(
        COUNTED[name], abs=0.0101
    )  # they round twice


def test_the_ablations_recompute_to_the_printed_scores_and_are_in_no_ranking() -> None:
    rows = published.ablations()
    assert len(rows) == 7
    for row in rows:
        assert round(blurb_score(row.means()) or 0.0, 2) == row.printed
        assert row.remarks[-1].startswith("ablation: ")
    assert not {row.name for row in rows} & {row.name for row in published.shipped()}


def row(scores: Mapping[str, float]) -> Row:
    datasets = {name: DatasetScores(name, means={"test": score}) for name, score in scores.items()}
    return Published(RowIdentity("m", Configuration("", "", {}, "", "blurb")), datasets)


@pytest.mark.parametrize("lacking", [(), ("bioasq",)])
@pytest.mark.parametrize("seed", range(20))
def test_the_parts_add_up(seed: int, lacking: tuple[str, ...]) -> None:
    draw = random.Random(seed)
    first, other = (
        {name: draw.uniform(0, 100) for name in DATASETS if name not in lacking} for _ in range(2)
    )
    found = decompose_difference(compare_rows(row(first), row(other), "test", False))
    score = blurb_12 if lacking else blurb_score
    difference = (score(first) or 0.0) - (score(other) or 0.0)
    assert found.total == pytest.approx(difference, abs=1e-9)
    for parts in (found.datasets, found.types):
        assert math.fsum(part.points for part in parts) == pytest.approx(difference, abs=1e-9)
        assert math.fsum(part.share or 0.0 for part in parts) == pytest.approx(1.0, abs=1e-9)


def test_rows_that_are_not_complete_or_equal_have_no_shares() -> None:
    scores = dict.fromkeys(DATASETS, 50.0)
    equal = decompose_difference(compare_rows(row(scores), row(scores), "test", False))
    assert {part.share for part in equal.parts} == {None}
    assert equal.sentences == []
    assert decompose_difference(compare_rows(row(scores), row({"gad": 1.0}), "test", False)) is None


def test_a_small_set_that_carries_most_is_told() -> None:
    (sentence,) = parts_of("PubMedBERT general-vocabulary whole-word").sentences
    assert sentence == (
        "bioasq with its 140 test examples carries 77% of the difference (+0.93 of +1.20); the binomial standard error "
        "of one of its figures is 0.30 points of it."
    )
    assert binomial_error("bioasq", 76.41) == pytest.approx(100 * math.sqrt(0.7641 * 0.2359 / 140))


def test_it_is_a_table_in_python() -> None:
    table = blurb.compare(PAPER, "published:PubMedBERT word-piece").parts()
    assert list(table["name"])[:2] == ["ner", "bc5-chem"]
    types = table[table["name"] == table["type"]]
    assert types["points"].sum() == pytest.approx(1.55, abs=0.005)
    assert types["share"].sum() == pytest.approx(100.0)


def test_the_page_is_what_the_command_writes() -> None:
    command = importlib.import_module("benchmarks.where_the_score_comes_from")
    page = Path(ROOT / "docs" / "where-the-score-comes-from.md").read_text(encoding="utf-8")
    assert page == command.page()
    # From the reader's points, rounded before they were divided, QA carries 54 to 77 %.
    assert "QA carries 55% to 78%, and BioASQ alone 49% to 77%" in page
    assert "at most 0.12 points" in page
    errors = [100 * math.sqrt(score / 100 * (1 - score / 100) / 140) for score in (87.56, 73.69)]
    assert f"{errors[0]:.1f} to {errors[1]:.1f} points" in page

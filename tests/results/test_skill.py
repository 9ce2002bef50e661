"""Skill: the ends are what they say they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from blurb import tasks
from blurb.results import published
from blurb.results.score import bounds, skill
from tests.rewriting import csv_lines

ROOT = Path(__file__).parent.parent.parent


def test_the_floors_are_the_best_baselines_without_an_encoder_on_the_real_test_sets() -> None:
    """Oracle: the committed rows of `baseline:constant` and `baseline:bigrams`, which scored every test set in full."""
    found = {}
    for table in ("minilm/quick", "baselines"):
        found.update({line["model"]: line for line in csv_lines(ROOT / "docs" / "results" / table / "leaderboard.csv")})
    rows = [found["baseline:constant"], found["baseline:bigrams"]]
    for name, (floor, _) in bounds().items():
        assert floor == pytest.approx(max(float(row[name]) for row in rows), abs=0.006), name
    assert set(bounds()) == {task.name for task in tasks.all() if task.paper_order} - {"bioasq"}


def test_the_ceilings_are_the_best_published_figures() -> None:
    for name, (floor, ceiling) in bounds().items():
        assert ceiling == max(row.means()[name] for row in published.shipped() if name in row.means()), name
        assert floor < ceiling


def test_the_scale() -> None:
    floor, ceiling = bounds()["gad"]
    assert skill("gad", floor) == pytest.approx(0)
    assert skill("gad", ceiling) == pytest.approx(100)
    assert skill("gad", (floor + ceiling) / 2) == pytest.approx(50)
    assert (skill("gad", 0) or 0) < 0
    assert skill("bioasq", 90) is None

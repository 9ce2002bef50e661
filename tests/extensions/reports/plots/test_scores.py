"""The picture of rows: marks, runs and intervals are where the tables have them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.lines import Line2D
from scipy import stats

import blurb
from blurb.messages.errors import SettingsError
from blurb.results.published import best_of_paper
from blurb.store.store import Store
from tests.extensions.reports.export.stores import bioasq, finish, gad
from tests.results import invented


@pytest.fixture
def results(tmp_path: Path) -> Any:
    store = Store(tmp_path / "runs")
    for seed in (1, 2, 3):
        finish(store, "gad", gad(), seed=seed)
    finish(store, "bioasq", bioasq())
    return blurb.load_results(tmp_path / "runs")


def lines(figure: Any) -> list[Line2D]:
    (axes,) = figure.axes
    return list(axes.get_lines())


def test_means_runs_and_intervals(results: Any) -> None:
    interval, runs, means, best = lines(results.plot())
    (row,) = results.rows
    values = row.values("gad")
    assert list(runs.get_xdata()) == values
    assert list(means.get_xdata()) == [
        pytest.approx(np.mean(values)),
        pytest.approx(row.means()["bioasq"]),
    ]
    expected = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert tuple(interval.get_xdata()) == pytest.approx(expected)
    assert list(best.get_xdata()) == [best_of_paper()[name][0] for name in ("gad", "bioasq")]


def test_no_interval_is_beyond_the_bounds_of_its_metric(tmp_path: Path) -> None:
    """Two seeds far apart: Student's interval of their mean is wider than the scale."""
    store = Store(tmp_path / "runs")
    right = gad()
    wrong = [{**row, "prediction": "0"} for row in right]
    for seed, rows in ((1, right), (2, wrong)):
        finish(store, "gad", rows, seed=seed)
    results = blurb.load_results(tmp_path / "runs")
    values = results.rows[0].values("gad")
    low, high = stats.t.interval(0.95, 1, np.mean(values), stats.sem(values))
    assert low < 0 or high > 100
    assert tuple(lines(results.plot())[0].get_xdata()) == pytest.approx(
        (max(low, 0), min(high, 100))
    )


def test_of_dev_nothing_is_published(results: Any) -> None:
    assert len(lines(results.plot(split="dev"))) == 3


def test_names_are_shown_as_they_are(results: Any) -> None:
    (row,) = results.rows
    figure = replace(
        results, rows=(replace(invented.named(row, model="_a$b$"), label="_a$b$"),)
    ).plot()
    assert figure.legends[0].get_texts()[0].get_text().startswith("_a$b$")


def test_files_have_equal_bytes(results: Any, tmp_path: Path) -> None:
    written = []
    for number in range(2):
        assert results.plot(tmp_path / f"{number}.svg") is None
        written.append((tmp_path / f"{number}.svg").read_bytes())
    assert written[0] == written[1]
    with pytest.raises(SettingsError, match=r"--plot must end in \.png"):
        results.plot(tmp_path / "scores.jpg")


def test_no_row_reaches_into_the_next_dataset(results: Any) -> None:
    """Twelve checkpoints: all marks of a dataset are nearer to its line than to any other."""
    names = [f"run@{place}" for place in range(12)]
    rows = [replace(invented.named(results.rows[0], model=name), label=name) for name in names]
    marks = [
        line
        for line in lines(replace(results, rows=tuple(rows)).plot())
        if str(line.get_label()).startswith("run@")
    ]
    assert len(marks) == 12
    for line in marks:
        for place, y in enumerate(line.get_ydata()):
            assert abs(y - place) < 0.5

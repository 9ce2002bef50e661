"""The curves of checkpoints on the page, from the table that `blurb series` writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blurb.extensions.reports.html import svg
from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render
from blurb.extensions.series import page
from blurb.messages.errors import DataError

HEAD = "run,step,words,tokens,protocol,dataset,measure,split,value,half,runs,trend,trend_half,noise"
WHAT = (
    ("sketch", "gad", "score"), ("sketch", "gad", "loss"), ("quick", "gad", "score"), ("", "bits per byte", "figure"),
)  # fmt: skip
POINTS = ((1, 60.0, 2.0), (10, 62.0, 1.0), (100, 65.0, 1.0), (1000, 66.0, 2.0))
LINES = [
    f"{run},{step},,,{protocol},{dataset},{measure},dev,{value},,1,{value},{half},0.5"
    for run in ("a", "b<c>")
    for protocol, dataset, measure in WHAT
    for step, value, half in POINTS
]


def _write(folder: Path, lines: list[str]) -> Path:
    (folder / "series.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    return folder


def test_scores_of_all_checkpoints_and_figures_are_charts(tmp_path: Path) -> None:
    charts = page.SeriesFolder(_write(tmp_path, LINES)).charts()
    assert [(chart.title, chart.logarithmic) for chart in charts] == [
        ("gad", True),
        ("bits per byte", True),
    ]
    assert [run for run, _ in charts[0].runs] == ["a", "b<c>"]
    assert charts[0].runs[0][1] == [
        (1, 60, 60, (58, 62)),
        (10, 62, 62, (61, 63)),
        (100, 65, 65, (64, 66)),
        (1000, 66, 66, (64, 68)),
    ]


def test_points_stand_where_their_numbers_are(tmp_path: Path) -> None:
    """On a logarithmic axis the steps 1, 10, 100, 1,000 are at equal distances; a higher score is higher up."""
    drawn = svg.series(page.SeriesFolder(_write(tmp_path, LINES)).charts()[0])
    spots = re.findall(r'<circle class="dot" cx="([\d.]+)" cy="([\d.]+)"', drawn)[:4]
    x, y = ([float(one[place]) for one in spots] for place in (0, 1))
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert x[2] - x[1] == pytest.approx(x[3] - x[2], abs=0.2)
    assert y == sorted(y, reverse=True)
    assert (y[0] - y[1]) / (y[1] - y[2]) == pytest.approx(2 / 3, abs=0.02)
    assert "b&lt;c&gt;" in drawn
    assert "b<c>" not in drawn


def test_the_page_has_them(tmp_path: Path) -> None:
    drawn = render(collect(tmp_path / "none", series=page.SeriesFolder(_write(tmp_path, LINES))))
    assert '<a href="#series">Checkpoints</a>' in drawn
    assert "a is blue, b&lt;c&gt; is grey." in drawn
    assert drawn.count('class="r0"') == 2


def test_what_is_no_such_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no series\.csv here"):
        page.SeriesFolder(tmp_path).charts()
    with pytest.raises(DataError, match=r"series\.csv:2: step, value and trend must be numbers"):
        page.SeriesFolder(_write(tmp_path, [LINES[0].replace("60.0", "high")])).charts()
    (tmp_path / "series.csv").write_text("run,step\n")
    with pytest.raises(DataError, match="columns are missing: protocol"):
        page.SeriesFolder(tmp_path).charts()

"""The dot plot of the task types."""

from __future__ import annotations

import re
from dataclasses import replace

from benchmarks.page import entry
from blurb.extensions.reports.html.collect import entry_of
from blurb.extensions.reports.html.model import PageRow
from blurb.extensions.reports.html.svg import HEIGHT, RADIUS, lowest, marks, strips
from blurb.leaderboard.intervals import Value
from blurb.results import published

OURS = entry("org/ours", level=80)


def places(picture: str) -> dict[int, tuple[float, float, float]]:
    """Row -> figure, and the place of its dot across and down."""
    found = re.findall(
        r'data-row="(\d+)" data-v="([\d.]+)">.*?<circle cx="([\d.]+)%" cy="(\d+)"', picture
    )
    return {int(row): (float(value), float(x), float(y)) for row, value, x, y in found}


def test_a_lane_a_mean_and_a_dot_a_row_at_its_place() -> None:
    entries = [OURS, *map(entry_of, published.shipped())]
    found = strips(entries, 0)
    assert [one.title for one in found] == [
        "Score",
        "blurb-12",
        "NER",
        "PICO",
        "RE",
        "STS",
        "Doc",
        "QA",
    ]
    low = lowest(entries)
    for strip, kind in zip(
        found[2:], ("ner", "pico", "relation", "similarity", "document", "qa"), strict=True
    ):
        dots = places(strip.picture)
        assert set(dots) == {place for place, one in enumerate(entries) if kind in one.types}
        for place, (value, x, y) in dots.items():
            assert value == round(entries[place].types[kind].mean, 2)
            assert abs(x - 100 * (value - low) / (100 - low)) < 0.02
            assert RADIUS <= y <= HEIGHT - RADIUS
        assert strip.shown == f"{OURS.types[kind].mean:.2f}"


def test_equal_means_lie_beside_each_other_and_the_highlighted_row_above_all() -> None:
    entries = [replace(OURS) for _ in range(3)]
    dots = places(strips(entries, 1)[0].picture)
    assert len({x for _, x, _ in dots.values()}) == 1
    assert len({y for _, _, y in dots.values()}) == 3
    assert list(dots)[-1] == 1


def with_means(name: str, mean: float) -> PageRow:
    found = entry(name)
    return replace(found, values={"qa": Value(mean)})


def test_the_axis_starts_below_all_but_baselines() -> None:
    assert lowest([with_means("m", 73.1), with_means("baseline:constant", 4.0)]) == 70
    assert lowest([with_means("baseline:constant", 4.0)]) == 0
    assert lowest([with_means("m", -12.0)]) == 0
    assert lowest([with_means("m", 100.0)]) == 90
    assert lowest([]) == 0
    (strip,) = strips([with_means("m", 73.1), with_means("baseline:constant", 4.0)], 0)
    assert list(places(strip.picture)) == [0]


def test_round_marks_from_end_to_end() -> None:
    assert [value for _, value in marks(50)] == [50, 60, 70, 80, 90, 100]
    assert marks(0)[0] == ("0", 0)
    assert marks(0)[-1] == ("100", 100)


def test_rows_without_means_have_no_plot() -> None:
    assert strips([replace(OURS, values={})], 0) == []

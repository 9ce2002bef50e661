"""The forest plot shows the lines it was given: places and colours are read back from Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from blurb.extensions.reports.plots import forest
from blurb.extensions.reports.plots._style import OURS, PAPER, QUIET
from blurb.results.comparison import ScoreComparison
from blurb.statistics.welch import WelchComparison

HIGHER = ScoreComparison("gad", 80.0, 82.0, (3, 3), WelchComparison(2.0, 0.5, 4.0), 0.01)
LOWER = ScoreComparison("ddi", 80.0, 77.0, (3, 3), WelchComparison(-3.0, 0.5, 4.0), 0.001)
SAME = ScoreComparison("hoc", 80.0, 79.9, (3, 3), WelchComparison(-0.1, 0.5, 4.0), 0.9)
OPEN = ScoreComparison("biosses", 80.0, 81.0, (1, 1), WelchComparison(1.0), None, "one run a side")
ABSENT = ScoreComparison(
    "bioasq", None, 81.0, (0, 1), WelchComparison(None), None, "not there on one side"
)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Writes a picture and gives its panels."""
    figures: list[Figure] = []
    save = Figure.savefig

    def kept(self: Figure, *given: Any, **named: Any) -> None:
        figures.append(self)
        save(self, *given, **named)

    monkeypatch.setattr(Figure, "savefig", kept)

    def write(
        found: dict[str, Sequence[ScoreComparison]], first: str = "first", name: str = "forest.png"
    ) -> list[Axes]:
        forest.write(first, found, 0.05, tmp_path / "deep" / name)
        return figures[-1].axes

    return write


def points(axes: Axes) -> dict[float, tuple[float, str, str, Any]]:
    """Row -> difference, marker, colour and filling of its point."""
    marks = [line for line in axes.lines if line.get_marker() in ("o", "x")]
    return {
        float(line.get_ydata()[0]): (  # type: ignore[index]
            float(line.get_xdata()[0]),
            str(line.get_marker()),
            str(line.get_color()),
            line.get_markerfacecolor(),  # type: ignore[index]
        )
        for line in marks
    }


def bars(axes: Axes) -> dict[float, tuple[float, float]]:
    """Row -> ends of its interval."""
    rows = [
        line
        for line in axes.lines
        if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1
    ]  # type: ignore[arg-type]
    return {float(line.get_ydata()[0]): tuple(map(float, line.get_xdata())) for line in rows}  # type: ignore[index,arg-type,misc]


def test_points_intervals_and_what_they_say(drawn: Any) -> None:
    (axes,) = drawn({"other": [HIGHER, LOWER, SAME, OPEN]})
    assert points(axes) == {
        0: (2.0, "o", OURS, OURS),
        1: (-3.0, "o", PAPER, PAPER),
        2: (-0.1, "o", OURS, "white"),
        3: (1.0, "x", QUIET, "white"),
    }
    assert bars(axes) == {
        row: line.comparison.interval for row, line in enumerate((HIGHER, LOWER, SAME))
    }
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "gad",
        "ddi",
        "hoc",
        "biosses",
    ]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top
    assert axes.get_title(loc="left").split() == ["first", "minus", "other"]


def test_a_dataset_without_a_difference_has_no_row(drawn: Any) -> None:
    first, second = drawn({"other": [ABSENT, HIGHER], "third": [LOWER, ABSENT]})
    assert [label.get_text() for axes in (first, second) for label in axes.get_yticklabels()] == [
        "gad",
        "ddi",
    ]
    (empty,) = drawn({"other": [ABSENT]})
    assert points(empty) == {}


@pytest.mark.parametrize("name", ["$\\frac$", "a_$^$", "a$b$c", "org/50 % & {x}_"])
def test_a_name_is_no_formula(name: str, drawn: Any) -> None:
    """Between two dollars Matplotlib reads TeX, and stops the command where it is none."""
    (axes,) = drawn(
        {name: [HIGHER, ScoreComparison(name, 1.0, 2.0, (1, 1), WelchComparison(1.0), None, "x")]},
        first=name,
    )
    assert not axes.get_title(loc="left").isspace()
    assert [text.get_parse_math() for text in (axes._left_title, *axes.get_yticklabels())] == [
        False
    ] * 3

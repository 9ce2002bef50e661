"""The picture of rows: marks, runs and intervals are where the tables have them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

import blurb
from blurb import tasks
from blurb.extensions.reports.plots import forest, input_lengths
from blurb.extensions.reports.plots._style import OURS, PAPER, QUIET
from blurb.extensions.reports.stats import TABLE_8, Described, lengths, measure
from blurb.messages.errors import SettingsError
from blurb.results.comparison import ScoreComparison
from blurb.results.published import best_of_paper
from blurb.statistics.welch import WelchComparison
from blurb.store.store import Store
from blurb.tasks import SPLITS, Split
from tests.cli.in_process import run
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


def test_no_interval_is_beyond_the_bounds_of_its_metric(store: Store, tmp_path: Path) -> None:
    """Two seeds far apart: Student's interval of their mean is wider than the scale."""
    right = gad()
    for seed, rows in ((1, right), (2, [{**row, "prediction": "0"} for row in right])):
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


# The picture of `blurb data stats` shows the numbers it was given; places are read back from Matplotlib.


def statistics(name: str, split: Split, subtokens: bool) -> Described:
    (described,) = measure(
        tasks.get(name),
        {split: [{"id": "0", "doc_id": "0", "text": "kalo", "label": "1", "labels": []}]},
    )
    size = {"sub_tokens": lengths([9, 17, 17, 33, 129], "abcde"), "limit": 128} if subtokens else {}
    return {**described, "words": lengths([4, 8, 8, 16, 64], "abcde"), **size}  # type: ignore[typeddict-item]


def drawn(axes: Axes, row: float) -> list[list[float]]:
    """What is in the lane: the x of every line."""
    return [
        list(map(float, line.get_xdata())) for line in axes.lines if set(line.get_ydata()) == {row}
    ]  # type: ignore[arg-type]


def labelled(axes: Axes, label: str) -> list[float]:
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_label() == label]  # type: ignore[index]


def test_lanes_limits_and_table_8() -> None:
    figure = input_lengths.draw(
        [*(statistics("gad", split, True) for split in SPLITS), statistics("hoc", "test", True)]
    )
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["gad", "hoc"]
    for row in (*input_lengths.LANES.values(), 1 + input_lengths.LANES["test"]):
        assert drawn(axes, row) == [[9, 129], [17, 33], [17], [41], [129]]
    assert labelled(axes, input_lengths.LIMIT) == [128, 128]
    for place, label in enumerate(input_lengths.PUBLISHED):
        assert labelled(axes, label) == [TABLE_8["gad"][place], TABLE_8["hoc"][place]]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first dataset on top
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:4] == ["train", "dev", "test", input_lengths.LIMIT]
    assert len(set(texts)) == len(texts)


def test_without_sub_tokens_the_lengths_are_words_and_nothing_is_compared() -> None:
    (axes,) = input_lengths.draw([statistics("gad", "test", False)]).axes
    assert drawn(axes, input_lengths.LANES["test"]) == [[4, 64], [8, 16], [8], [20], [64]]
    assert axes.get_xlabel() == "words per input"
    assert not labelled(axes, input_lengths.LIMIT)


def test_a_picture_of_another_format_is_refused_before_anything_is_read() -> None:
    result = run("data", "stats", "--data", "nowhere", "--plot", "a.gif")
    assert "--plot must end in .png" in str(result.exception)


# The forest plot shows the lines it was given: places and colours are read back from Matplotlib.


HIGHER = ScoreComparison("gad", 80.0, 82.0, (3, 3), WelchComparison(2.0, 0.5, 4.0), 0.01)
LOWER = ScoreComparison("ddi", 80.0, 77.0, (3, 3), WelchComparison(-3.0, 0.5, 4.0), 0.001)
SAME = ScoreComparison("hoc", 80.0, 79.9, (3, 3), WelchComparison(-0.1, 0.5, 4.0), 0.9)
OPEN = ScoreComparison("biosses", 80.0, 81.0, (1, 1), WelchComparison(1.0), None, "one run a side")
ABSENT = ScoreComparison(
    "bioasq", None, 81.0, (0, 1), WelchComparison(None), None, "not there on one side"
)


@pytest.fixture
def picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
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


def test_points_intervals_and_what_they_say(picture: Any) -> None:
    (axes,) = picture({"other": [HIGHER, LOWER, SAME, OPEN]})
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


def test_a_dataset_without_a_difference_has_no_row(picture: Any) -> None:
    first, second = picture({"other": [ABSENT, HIGHER], "third": [LOWER, ABSENT]})
    assert [label.get_text() for axes in (first, second) for label in axes.get_yticklabels()] == [
        "gad",
        "ddi",
    ]
    (empty,) = picture({"other": [ABSENT]})
    assert points(empty) == {}


@pytest.mark.parametrize("name", ["$\\frac$", "a_$^$", "a$b$c", "org/50 % & {x}_"])
def test_a_name_is_no_formula(name: str, picture: Any) -> None:
    """Between two dollars Matplotlib reads TeX, and stops the command where it is none."""
    (axes,) = picture(
        {name: [HIGHER, ScoreComparison(name, 1.0, 2.0, (1, 1), WelchComparison(1.0), None, "x")]},
        first=name,
    )
    assert not axes.get_title(loc="left").isspace()
    assert [text.get_parse_math() for text in (axes._left_title, *axes.get_yticklabels())] == [
        False
    ] * 3

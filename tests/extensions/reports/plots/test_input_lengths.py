"""The picture of `blurb data stats` shows the numbers it was given; places are read back from Matplotlib."""

from __future__ import annotations

from click.testing import CliRunner
from matplotlib.axes import Axes

from blurb import tasks
from blurb.cli import cli
from blurb.extensions.reports.plots import input_lengths
from blurb.extensions.reports.stats import TABLE_8, Statistics, lengths


def statistics(name: str, split: str, subtokens: bool) -> Statistics:
    words = lengths([4, 8, 8, 16, 64], [str(number) for number in range(5)])
    twice = lengths([9, 17, 17, 33, 129], [str(number) for number in range(5)])
    size = {"subtokens": twice, "limit": 128, "truncated": 1, "windowed": 0} if subtokens else {}
    return Statistics(tasks.get(name), split, 5, 5, words, {}, **size)  # type: ignore[arg-type]


def drawn(axes: Axes, row: float) -> list[list[float]]:
    """What is in the lane: the x of every line."""
    return [
        list(map(float, line.get_xdata())) for line in axes.lines if set(line.get_ydata()) == {row}
    ]  # type: ignore[arg-type]


def labelled(axes: Axes, label: str) -> list[float]:
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_label() == label]  # type: ignore[index]


def test_lanes_limits_and_table_8() -> None:
    found = [statistics("gad", split, True) for split in ("train", "dev", "test")] + [
        statistics("hoc", "test", True)
    ]
    figure = input_lengths.draw(found)
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
    result = CliRunner().invoke(cli, ["data", "stats", "--data", "nowhere", "--plot", "a.gif"])
    assert "--plot must end in .png" in str(result.exception)

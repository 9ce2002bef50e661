"""The picture shows the numbers it was given; places are read back from Matplotlib, intervals checked with SciPy."""

import sys
from pathlib import Path

import pytest
from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from scipy import stats

from blurb.extensions.reports.plots import _style, ablation
from blurb.messages.errors import SettingsError
from blurb.planning import ablations

TAGGING = ablations.grid("tagging")
RELATION = ablations.grid("relation")
SEEDS = [{"jnlpba": [79.0, 79.6, 79.3]}, {"jnlpba": [79.2, 79.1, 79.9]}, {"jnlpba": [78.8]}]


def means(axes: Axes) -> dict[float, float]:
    """Row -> mean of each cell that is there."""
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
    points = [one[0].get_xydata()[0] for one in bars]  # type: ignore[index]
    return {float(row): float(mean) for mean, row in points}


def marks(axes: Axes, label: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in axes.lines
        if line.get_label() == label
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)  # type: ignore[arg-type]
    ]


def test_means_intervals_seeds_and_the_reference_line() -> None:
    (axes,) = ablation.draw(TAGGING, SEEDS, ["jnlpba"], "model").axes
    assert means(axes) == pytest.approx({0: 79.3, 1: 79.4, 2: 78.8})
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bio", "bioul", "io"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top
    bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
    ends = [one[2][0].get_segments()[0][:, 0] for one in bars if one.has_xerr]  # type: ignore[index]
    expected = [stats.t.interval(0.95, 2, 79.3, stats.sem(SEEDS[0]["jnlpba"]))]
    expected.append(stats.t.interval(0.95, 2, 79.4, stats.sem(SEEDS[1]["jnlpba"])))
    # One seed has no interval
    assert [tuple(pair) for pair in ends] == [pytest.approx(pair) for pair in expected]
    assert sorted(x for x, _ in marks(axes, ablation.SEED)) == sorted(
        [79.0, 79.6, 79.3, 79.2, 79.1, 79.9]
    )
    assert [x for x, _ in marks(axes, ablation.DEFAULT)] == pytest.approx([79.3, 79.3])


def test_published_differences_start_from_our_default_and_never_squeeze_the_axis() -> None:
    scores = [{"chemprot": [60.0 + cell, 60.4 + cell]} for cell in range(7)]
    (axes,) = ablation.draw(RELATION, scores, ["chemprot"], "model").axes
    near = {round(y + ablation.LANE): x for x, y in marks(axes, ablation.PUBLISHED)}
    assert near[1] == pytest.approx(60.2 + 77.22 - 77.24)
    assert set(near) == {1, 3, 4, 5, 6}
    ((_, beyond),) = marks(axes, ablation.BEYOND)  # original with cls: 26.72 below the default
    assert round(beyond + ablation.LANE) == 2
    low, high = axes.get_xlim()
    assert 55 < low < high < 70


@pytest.mark.parametrize(("dataset", "least"), [("ncbi-disease", 0.0), ("biosses", -100.0)])
def test_the_axis_ends_where_the_metric_ends(dataset: str, least: float) -> None:
    """Two seeds far apart have an interval beyond every score, which nobody can have."""
    for values in ([99.0, 90.0], [least + 1, least + 9]):
        (axes,) = ablation.draw(
            TAGGING, [{dataset: values}, {dataset: values}, {}], [dataset], "model"
        ).axes
        low, high = axes.get_xlim()
        assert least <= low < high <= 100
        assert (high == 100) == (values[0] == 99)
        bars = [one for one in axes.containers if isinstance(one, ErrorbarContainer)]
        ends = [one[2][0].get_segments()[0][:, 0] for one in bars]  # type: ignore[index]
        assert all(low <= end <= high for pair in ends for end in pair)


@pytest.mark.parametrize("datasets", [["ddi"], ["chemprot", "ddi", "gad"]])
def test_the_legend_is_a_small_part_of_the_picture(datasets: list[str]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    scores = [{name: [60.0 + cell, 60.4 + cell] for name in datasets} for cell in range(7)]
    scores[6] = {name: [66.0] for name in datasets}
    figure = ablation.draw(RELATION, scores, datasets, "model")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (legend,) = figure.legends
    box = legend.get_window_extent(canvas.get_renderer())
    assert box.height < figure.bbox.height / 5
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_what_is_missing_is_left_out() -> None:
    scores = [{}, {"bc2gm": [80.0, 81.0]}, {}]
    first, second = ablation.draw(TAGGING, scores, ["jnlpba", "bc2gm"], "model").axes
    assert means(first) == {}
    assert means(second) == {1: 80.5}
    for label in (ablation.PUBLISHED, ablation.BEYOND, ablation.DEFAULT):
        assert marks(first, label) == marks(second, label) == []


@pytest.mark.parametrize("grid", [TAGGING, RELATION], ids=["3 cells", "7 cells"])
@pytest.mark.parametrize("count", range(1, 7))
def test_panels_are_wrapped_at_three_and_nothing_runs_off_the_page(
    count: int, grid: ablations.Grid
) -> None:
    datasets = ["bc5-chem", "bc5-disease", "jnlpba", "chemprot", "ddi", "gad"][:count]
    scores = [
        {dataset: [80.0 + cell / 5, 80.3] for dataset in datasets}
        for cell in range(len(grid.cells))
    ]
    figure = ablation.draw(
        grid, scores, datasets, "organisation/a-model-with-$-and-a-long-name " * 2
    )
    assert [axes.get_title() for axes in figure.axes] == datasets
    assert [bool(axes.get_yticks().size) for axes in figure.axes] == [True] * count
    assert [
        bool("".join(label.get_text() for label in axes.get_yticklabels())) for axes in figure.axes
    ] == [index % 3 == 0 for index in range(count)]
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert -0.02 <= box.x0 < box.x1 <= width + 0.02
    assert -0.02 <= box.y0 < box.y1 <= height + 0.02
    assert width < (3.5 if count == 1 else 7)


@pytest.mark.parametrize("ending", _style.FIGURES)
def test_equal_scores_give_equal_files_whatever_the_user_has_set(
    ending: str, tmp_path: Path
) -> None:
    first, second = tmp_path / f"first{ending}", tmp_path / "folder" / f"second{ending}"
    ablation.write(TAGGING, SEEDS, ["jnlpba"], "model", first)
    with rc_context({"font.size": 20, "svg.hashsalt": None, "savefig.dpi": 50}):
        ablation.write(TAGGING, SEEDS, ["jnlpba"], "model", second)
        assert rcParams["font.size"] == 20
    assert first.read_bytes() == second.read_bytes()
    assert [path.name for path in second.parent.iterdir()] == [second.name]  # nothing is left aside
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_or_with_another_ending_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _style.check(Path("figure.pdf"))
    with pytest.raises(SettingsError, match=r"\.png, \.svg, \.pdf \(got 'figure\.jpg'"):
        _style.check(Path("figure.jpg"))
    monkeypatch.setattr(_style, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=r"pip install matplotlib"):
        _style.check(Path("figure.png"))

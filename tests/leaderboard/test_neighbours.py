"""The rows that `blurb run` shows at its end: those just run, and what stands next to them."""

from collections.abc import Mapping, Sequence
from io import StringIO

import pytest
from rich.console import Console

from blurb.leaderboard.overview import NEXT, with_neighbours
from blurb.results import published
from blurb.results.row import Row
from tests.leaderboard import test_terminal
from tests.leaderboard.test_terminal import NAMES

SCORES = sorted(one.score for one in published.shipped() if one.score is not None)


def row(scores: Mapping[str, Sequence[float]], **facts: str) -> Row:
    """A row that may stand beside published ones."""
    return test_terminal.row(scores, **{"protocol": "standard", **facts})  # type: ignore[arg-type]


def lines(
    rows: Sequence[Row], others: Sequence[Row] = (), width: int = 120
) -> tuple[str, list[list[str]]]:
    """The heading, and the cells of each row."""
    text = StringIO()
    Console(width=width, file=text).print(with_neighbours(rows, others, width))
    assert max(map(len, text.getvalue().splitlines())) <= width
    heading, _, *found = (line for line in text.getvalue().splitlines() if line.strip())
    return heading, [line.split() for line in found]


def whole(score: float, model: str = "m", **changed: float) -> Row:
    scores: Mapping[str, Sequence[float]] = {name: [changed.get(name, score)] for name in NAMES}
    return row(scores, model=model)


def names(found: list[list[str]]) -> list[str]:
    return [cells[1] if cells[0].isdigit() else cells[0] for cells in found]


@pytest.mark.parametrize("place", [0, 3, len(SCORES)])
def test_the_rows_next_to_it_and_the_best(place: int) -> None:
    """Oracle: the printed scores, sorted."""
    score = SCORES[place] - 0.001 if place < len(SCORES) else SCORES[-1] + 1
    heading, found = lines([whole(score)])
    assert heading.split() == [
        "rank",
        "row",
        "score",
        "blurb-12",
        "NER",
        "PICO",
        "RE",
        "STS",
        "Doc",
        "QA",
    ]
    above, below = SCORES[place:][::-1], SCORES[:place][::-1]
    expected = [*sorted({*above[-NEXT:], *above[:1]}, reverse=True), score, *below[:NEXT]]
    assert [
        float(next(cell for cell in cells[2:] if cell.count(".") == 1 and cell[0].isdigit()))
        for cells in found
    ] == pytest.approx(expected, abs=0.0051)
    assert [cells[0] for cells in found if "m" in cells] == [str(len(above) + 1)]


def test_rows_of_the_store_are_among_them_and_parts_and_probes_are_not() -> None:
    mine, close = whole(50), whole(49.9, "close")
    probe = row(dict.fromkeys(NAMES, (50.1,)), learner="probe", model="frozen")
    _, found = lines([mine], [close, probe, row({"gad": [50.0]}, model="partial")])
    assert "close" in names(found)
    assert not {"frozen", "partial"} & {*names(found)}
    demo = row(dict.fromkeys(NAMES, (50.0,)), suite="demo", model="demo")
    assert "demo" not in names(lines([mine], [demo])[1])
    assert names(lines([demo], [mine])[1]) == ["demo"]


def test_a_task_of_ones_own_is_a_column_and_decides_where_it_is_all() -> None:
    heading, found = lines(
        [row({"genes": [70.0]})],
        [row({"genes": [80.0, 82.0]}, model="better"), row({"gad": [99.0]}, model="gad")],
    )
    assert heading.split() == ["rank", "row", "genes"]
    assert [(cells[0], cells[1], cells[-1]) for cells in found] == [
        ("1", "better", "81.00"),
        ("2", "m", "70.00"),
    ]
    both = row({**dict.fromkeys(NAMES, (50.0,)), "genes": [70.0]})
    assert lines([both], width=100)[0].split()[-2:] == ["QA", "genes"]


def test_datasets_of_types_that_are_not_whole_are_columns_as_far_as_they_fit() -> None:
    heading, found = lines([row({"gad": [80.0], "biosses": [90.0]})], width=80)
    assert heading.split() == ["rank", "row", "STS", "gad"]
    assert names(found)[0] != "m"  # 90 is not the best similarity that was published
    most = [name for name in NAMES if name not in ("jnlpba", "gad", "bioasq")]
    for width in (80, 120):
        columns = lines([row(dict.fromkeys(most, (50.0,)))], width=width)[0].split()[2:]
        assert columns[:3] == ["PICO", "STS", "Doc"]
        assert {*columns[3:]} <= {*most}
    assert {"bc5-chem", "pubmedqa"} <= {*columns}


def test_rows_of_another_protocol_stand_by_themselves() -> None:
    mine, theirs = whole(50), row(dict.fromkeys(NAMES, (90.0,)), protocol="quick", model="cheap")
    assert "cheap" not in names(lines([mine], [theirs])[1])
    assert names(lines([theirs], [mine])[1]) == ["cheap"]  # nor the published rows
    _, found = lines([mine, theirs])
    assert found[-2:] == [["quick", "lr=0.1:"], ["1", "cheap", "quick", "lr=0.1", *["90.00"] * 8]]


def test_a_row_that_is_ranked_nowhere_is_shown_all_the_same() -> None:
    capped = row(dict.fromkeys(NAMES, (50.0,)))
    for one in capped.datasets.values():
        for run in one.runs.values():
            object.__setattr__(run, "settings", {"max_eval": "64"})
    _, (cells,) = lines([capped], [whole(50, "close")])
    assert cells[0] == "m"

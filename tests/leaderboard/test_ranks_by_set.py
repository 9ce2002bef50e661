"""Ranks of a dataset from joint resamples, against brute force; the range of the score stays as it was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blurb.leaderboard import intervals, ranking
from blurb.leaderboard.ranking import RankedRow
from blurb.metrics import get
from blurb.results import from_store
from blurb.statistics import bootstrap
from blurb.statistics.welch import NORMAL, t_critical
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import NAMES, play

SHARES = {"a": 0.95, "b": 0.92, "c": 0.84, "d": 0.8, "e": 0.5}


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[RankedRow]:
    """Five rows of one run, of two datasets."""
    store = Store(tmp_path_factory.mktemp("store"))
    for name, share in SHARES.items():
        play(store, name, {"gad": share, "biosses": share}, (1,))
    return [ranking.entry(row) for row in from_store.read(store)]


def ranks(entries: list[RankedRow], column: str) -> dict[str, str]:
    return {one.entry.row.model: one.rank for one in ranking.in_parts(entries, column)}


def test_a_range_is_that_of_brute_force(entries: list[RankedRow]) -> None:
    right = {}
    for entry in entries:
        (record,) = entry.row.records_of("gad").values()
        columns = record.predictions("test")
        right[entry.row.model] = list(zip(columns["gold"], columns["prediction"], strict=True))

    def f1(pairs: list[tuple[str, str]]) -> float:
        hits = sum(gold == given == "1" for gold, given in pairs)
        return 200 * hits / sum((gold == "1") + (given == "1") for gold, given in pairs)

    drawn = bootstrap.generator("gad").integers(200, size=(2_000, 200), dtype=np.int32)
    wider = t_critical(199) / NORMAL * (200 / 199) ** 0.5
    draws = {}
    for model, pairs in right.items():
        mean = f1(pairs)
        draws[model] = [mean + wider * (f1([pairs[i] for i in one]) - mean) for one in drawn]

    def below(model: str, other: str) -> bool:
        less = sum(mine < its for mine, its in zip(draws[model], draws[other], strict=True))
        return less >= 0.975 * len(drawn)

    expected = {}
    for model in draws:
        best = 1 + sum(below(model, other) for other in draws)
        worst = len(draws) - sum(below(other, model) for other in draws)
        expected[model] = str(best) if best == worst else f"{best}-{worst}"
    assert ranks(entries, "gad") == expected
    assert len(set(expected.values())) > 2
    assert "5" in expected.values()


def test_what_is_hard_for_all_rows_separates_nobody_by_intervals_but_jointly(
    entries: list[RankedRow],
) -> None:
    """With few examples, too, whose intervals are drawn otherwise."""
    for name in ("gad", "biosses"):
        both = [entry.values[name].interval or (0, 0) for entry in (entries[1], entries[3])]
        draws = [
            intervals.joint_draws(entry.row, name, entry.values[name])
            for entry in (entries[1], entries[3])
        ]
        assert 0.2 < np.corrcoef(*draws)[0, 1] < 0.99
        assert np.std(draws[0] - draws[1]) < np.hypot(*(np.std(each) for each in draws))
        assert both[0][0] < both[1][1], "their intervals overlap"


def test_the_range_of_a_mean_is_that_of_its_intervals(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name, share in SHARES.items():
        play(store, name, dict.fromkeys(NAMES, share), (1, 2))
    rows = [ranking.entry(row) for row in from_store.read(store)]
    for column in ("score", "blurb-12", "ner"):
        ends = {one.row.model: one.values[column].interval or (0, 0) for one in rows}
        for model, told in ranks(rows, column).items():
            best = 1 + sum(low > ends[model][1] for low, _ in ends.values())
            worst = 5 - sum(high < ends[model][0] for _, high in ends.values())
            assert told == (str(best) if best == worst else f"{best}-{worst}")


def test_runs_of_two_rows_are_drawn_apart_and_figures_without_runs_are_exact() -> None:
    rows = [invented.row(name, {"gad": (70, 72, 74)}) for name in ("one", "other")]
    entries = [ranking.entry(row) for row in rows]
    draws = [intervals.joint_draws(one.row, "gad", one.values["gad"], 20_000) for one in entries]
    assert abs(np.corrcoef(*(np.clip(each, 60, 84) for each in draws))[0, 1]) < 0.05
    low, high = np.quantile(draws[0], (0.025, 0.975))
    assert (low, high) == pytest.approx(entries[0].values["gad"].interval, abs=0.4)
    exact = [
        invented.ranked(name, {"gad": mean}) for name, mean in (("x", 72), ("y", 72), ("z", 71))
    ]
    assert ranks(exact, "gad") == {"x": "1-2", "y": "1-2", "z": "3"}
    among = [*exact, *(replace(one, standing=exact[0].standing) for one in entries)]
    assert ranks(among, "gad") == {"x": "1-4", "y": "1-4", "z": "3-5", "one": "1-5", "other": "1-5"}


def test_equal_rows_are_told_apart_as_often_as_the_level_says() -> None:
    """Worlds of examples that are hard for both rows, and of runs that differ."""
    world_rng = np.random.default_rng(7)
    apart, worlds, metric = 0, 400, get("accuracy")
    for number in range(worlds):
        hard = world_rng.normal(1, 1.5, 150)
        draws = []
        for row in range(2):
            lift = world_rng.normal(0, 0.25, 3)[:, None] + world_rng.normal(0, 0.5, (3, 150))
            right = (world_rng.random((3, 150)) < 1 / (1 + np.exp(-hard - lift))).astype(float)
            counts = np.stack([right, np.ones_like(right)], -1)
            units = bootstrap.Clusters(metric, counts, tuple(map(str, range(150))), "sentences")
            own = bootstrap.generator(f"{number} {row}")
            draws.append(bootstrap.joint_draws(units, "set", own, 400))
        share = float((draws[0] > draws[1]).mean())
        apart += max(share, 1 - share) >= ranking.SURE
    assert apart / worlds <= 0.06

"""Probes side by side: a paired test over test units (oracle: every exchange), and never beside a fine-tuned row."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from blurb import metrics
from blurb.cli import cli
from blurb.leaderboard import ranking
from blurb.regression import Outcome, Rules, decide_check
from blurb.regression.rules import Limit
from blurb.results import comparison, from_store
from blurb.results.comparability import Reason
from blurb.results.row import Row
from blurb.results.tables import rebuild
from blurb.row_files.references import file_rows, table_rows
from blurb.statistics.bootstrap import Clusters, swapped
from blurb.statistics.welch import WelchComparison, combine_tests
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import CONFIGURATION, NAMES, play

PROBE = replace(CONFIGURATION, protocol="probe", protocol_hash="1" * 64, note="a probe")
SETTINGS = {"head": "linear", "max_train": 0, "max_eval": 0}


def probe(store: Store, name: str, shares: dict[str, float]) -> None:
    play(store, name, shares, seeds=(1,), configuration=PROBE, learner="probe", settings=SETTINGS)


@pytest.fixture
def folder(here: Path) -> Path:
    """Two probes that are far apart, one like the first, and a fine-tuned row of the same model."""
    store = Store(here / "runs")
    probe(store, "good", {"gad": 0.9, "ddi": 0.9})
    probe(store, "bad", {"gad": 0.4, "ddi": 0.4})
    probe(store, "alike", {"gad": 0.9, "ddi": 0.9})
    play(store, "tuned", {"gad": 0.8, "ddi": 0.8})
    rebuild(store, here / "leaderboard.csv")
    return here


def sides(folder: Path) -> dict[str, Row]:
    return {row.model: row for row in from_store.read(Store(folder / "runs"))}


def blurb(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


def few(seed: int, shift: float = 0.0) -> tuple[Clusters, Clusters]:
    """Two runs on nine documents, in the counts of an F1: right, predicted, gold."""
    random = np.random.default_rng(seed)
    gold = random.integers(1, 6, 9)
    found = []
    for extra in (0.0, shift):
        right = random.binomial(gold, min(0.9, 0.4 + extra))
        found.append(
            np.stack([right, right + random.integers(0, 3, 9), gold], 1)[None].astype(float)
        )
    names = tuple(map(str, range(9)))
    return tuple(Clusters(metrics.get("entity_f1"), counts, names, "documents") for counts in found)  # type: ignore[return-value]


@pytest.mark.parametrize(("seed", "shift"), [(0, 0.0), (1, 0.2), (2, 0.5)])
def test_the_paired_test_is_that_of_every_exchange(seed: int, shift: float) -> None:
    first, other = few(seed, shift)

    def f1(counts: Any) -> float:
        right, predicted, gold = counts.sum(0)
        return float(200 * right / (predicted + gold))

    seen = f1(other.counts[0]) - f1(first.counts[0])
    every = []
    for exchange in itertools.product((False, True), repeat=9):
        mask = np.array(exchange)[:, None]
        mine, theirs = (
            np.where(mask, one.counts[0], two.counts[0])
            for one, two in ((other, first), (first, other))
        )
        every.append(f1(theirs) - f1(mine))
    draws = swapped(first, other, "gad", 20_000)
    line = WelchComparison(seen, 1.0, 8, draws)
    assert line.p == pytest.approx(np.mean(np.abs(every) >= abs(seen) - 1e-9), abs=0.015)
    assert line.p_drop == pytest.approx(np.mean(np.array(every) <= seen + 1e-9), abs=0.015)
    assert {round(one, 6) for one in draws} <= {round(one, 6) for one in every}
    assert metrics.get("entity_f1").main == "f1"


def test_means_add_up_what_was_drawn_of_each() -> None:
    random = np.random.default_rng(0)
    draws = [random.normal(size=4000) for _ in range(2)]
    parts = [
        (0.25, WelchComparison(2.0, 1.0, 50, draws[0])),
        (0.75, WelchComparison(1.0, 1.0, 50, draws[1])),
    ]
    found = combine_tests(parts)
    assert found.difference == pytest.approx(1.25)
    assert found.swapped == pytest.approx(0.25 * draws[0] + 0.75 * draws[1])
    assert combine_tests([parts[0], (0.75, WelchComparison(1.0, 1.0, 50))]).swapped is None


def test_probes_are_told_apart_by_their_units(folder: Path) -> None:
    rows = sides(folder)
    for with_units in (True, False):
        lines = {
            line.name: line
            for line in comparison.compare_rows(rows["bad"], rows["good"], "test", with_units)
        }
        assert [lines[name].verdict(0.05) for name in ("gad", "ddi")] == ["lower", "lower"]
        assert comparison.has_paired(lines.values())
        low, high = lines["gad"].comparison.interval or (0.0, 0.0)
        assert low < (lines["gad"].difference or 0.0) < high < 0
    same = comparison.compare_rows(rows["good"], rows["good"], "test", True)
    assert [line.p for line in same] == [1.0, 1.0]


@pytest.mark.costly
def test_a_whole_row_of_probes_has_a_judged_score(store: Store) -> None:
    probe(store, "good", dict.fromkeys(NAMES, 0.9))
    probe(store, "bad", dict.fromkeys(NAMES, 0.6))
    rows = {row.model: row for row in from_store.read(store)}
    lines = {
        line.name: line for line in comparison.compare_rows(rows["bad"], rows["good"], "dev", True)
    }
    assert lines["score"].verdict(0.05) == "lower"
    assert lines["score"].reason == ""
    decision = decide_check(rows["bad"], rows["good"], Rules())
    assert (decision.outcome, decision.paired) == (Outcome.REGRESSION, True)
    assert "more than chance explains in a paired test" in decision.findings[0].reasons[0]
    assert decide_check(rows["good"], rows["bad"], Rules()).outcome == Outcome.PASS
    assert decide_check(rows["good"], rows["good"], Rules()).outcome == Outcome.PASS


def test_a_probe_and_a_fine_tuned_row_never_meet(folder: Path) -> None:
    rows = sides(folder)
    for one, two in (("good", "tuned"), ("tuned", "good")):
        for line in comparison.compare_rows(rows[one], rows[two], "test", True):
            assert line.incomparable is Reason.LEARNER
            assert line.p is None
        for rules in (Rules(), Rules(default=Limit(max_drop=90.0))):
            assert decide_check(rows[one], rows[two], rules).outcome == Outcome.CANNOT_JUDGE
    table = next(row for row in file_rows(folder / "results.csv") if row.model == "good")
    assert table.learner == "probe"
    wide = next(row for row in table_rows(folder / "leaderboard.csv") if row.model == "good")
    assert wide.learner == "probe"
    for side in (table, wide):
        assert {
            line.incomparable
            for line in comparison.compare_rows(rows["tuned"], side, "test", True)
            if line.name == "gad"
        } == {Reason.LEARNER}
        reasons = {line.reason for line in comparison.compare_rows(rows["bad"], side, "test", True)}
        assert reasons == {"comparing probes needs the predictions of both on the same examples"}
    published = invented.row("paper", means={"gad": 80.0})
    assert (
        comparison.compare_rows(published, rows["good"], "test", True, ["gad"])[0].incomparable
        is Reason.LEARNER
    )


@pytest.mark.extensions
def test_ranks_and_best_cells_are_among_their_like(folder: Path) -> None:
    entries = [
        ranking.entry(each, resampled=False) for each in from_store.read(Store(folder / "runs"))
    ]
    ranks = {one.entry.name.split()[0]: one.rank for one in ranking.in_parts(entries, "gad")}
    assert (ranks["tuned"], ranks["bad"]) == ("1", "probe 3")
    assert {ranks["good"], ranks["alike"]} == {"probe 1", "probe 2"}
    assert next(one.entry.name.split()[0] for one in ranking.in_parts(entries, "gad")) == "tuned"
    text = blurb("export", "markdown").output
    bold = [line.count("**") // 2 for line in text.splitlines() if line.startswith("| GAD")]
    assert bold == [1]  # of three probes; one fine-tuned row alone is not the best of anything
    lines = blurb("leaderboard", "show", "--no-intervals", "--sort", "gad").output
    assert lines.index("tuned") < lines.index("probe")

"""Forty looks at checkpoints that did not become worse, 2,000 times.

Oracle: the truth of the worlds that `benchmarks.gate` draws; for its arrays, the gate itself on rows and a state file.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import gate
from blurb.regression import Decision, Outcome, Rules
from blurb.regression.looks import decide_in_series
from blurb.results import comparison
from blurb.results.score import DATASETS, SCORE
from blurb.statistics.bootstrap import Clusters
from tests.conftest import ROOT
from tests.results import invented

ALLOWED = 0.07
WORLDS = 2_000


def generator(*seed: object) -> np.random.Generator:
    return np.random.default_rng(abs(hash(tuple(map(float, seed)))))  # type: ignore[arg-type]


@pytest.mark.parametrize("sets", [1, 13])
@pytest.mark.parametrize("seeds", [1, 3, 5])
@pytest.mark.parametrize("sd", [0.5, 1.0, 2.0])
def test_forty_looks_raise_few_false_alarms(sd: float, seeds: int, sets: int) -> None:
    worlds = gate.runs(generator(sd, seeds, sets), WORLDS, seeds, sd, sets)
    found = gate.alarms(*worlds, sd if seeds == 1 else None, score=sets > 1)
    assert 0.005 < gate.rate(found) <= ALLOWED


def test_any_number_of_looks_raises_few_false_alarms() -> None:
    assert gate.rate(gate.alarms(*gate.runs(generator(7), WORLDS, 3, 1.0), planned=None)) <= ALLOWED


def test_forty_looks_at_probes_raise_few_false_alarms() -> None:
    assert gate.rate(gate.probe_alarms(*gate.answers(generator(8), WORLDS, 200))) <= ALLOWED


def test_without_care_the_level_is_worn_out() -> None:
    assert gate.careless(generator(9), WORLDS) > 0.3


@pytest.mark.costly
def test_the_tables_of_the_guide_are_those_of_the_script() -> None:
    guide = (ROOT / "docs" / "extensions" / "series-gate.md").read_text(encoding="utf-8")
    for rows in (gate.false_alarms(WORLDS), gate.departures(WORLDS), gate.powers(WORLDS)):
        assert [row for row in rows if f"| {' | '.join(row)} |" not in guide] == []


def test_a_drop_of_three_points_of_the_score_is_found_within_four_looks() -> None:
    """At a run sd of 0.7 with three seeds: of every dataset, and (a score three times as noisy) of the score itself."""
    for _, first, within_four, later, later_four in gate.goal(WORLDS):
        assert min(float(within_four), float(later_four)) >= 0.8
        assert float(first) <= float(later)  # the variance is known better by and by


def row(model: str, scores: Any) -> Any:
    """A row of scores, (seeds, sets)."""
    names = DATASETS if scores.shape[1] > 1 else DATASETS[8:9]
    return invented.row(
        model, {name: scores[:, place].tolist() for place, name in enumerate(names)}, split="dev"
    )


@pytest.mark.parametrize(
    ("sets", "looks", "world"), [(1, 40, 0), (1, 40, 1), (1, 40, 2), (13, 12, 3), (13, 12, 4)]
)
@pytest.mark.parametrize("seeds", [1, 3])
def test_the_arrays_decide_as_the_gate_does(
    tmp_path: Path, sets: int, looks: int, world: int, seeds: int
) -> None:
    """In worlds in which drops come and go, so that both answers are given."""
    random = generator(10, world, seeds)
    drop = random.choice([0.0, 1.0, 2.0, 4.0], (1, looks, 1, 1))
    baseline, checkpoints = gate.runs(random, 1, seeds, 1.0, sets, drop, looks)
    stated = 1.0 if seeds == 1 else None
    expected = gate.alarms(baseline, checkpoints, stated, score=sets > 1)[0]
    rules, old, decisions = Rules(looks=gate.LOOKS, sd=stated), row("old", baseline[0]), []
    for scores in checkpoints[0]:
        decisions.append(decide_in_series(row("new", scores), old, rules, tmp_path / "looks.json"))
    assert [one.outcome is Outcome.REGRESSION for one in decisions] == expected.tolist()
    assert len(set(expected)) == 2
    assert (decisions[0].findings[0].name == SCORE) is (sets > 1)


class Accuracy:
    """Right answers and answers; the counts of two runs are exchangeable as they are."""

    correlation = False

    def score(self, sums: Any) -> Any:
        return sums[..., 0] / sums[..., 1]

    def aligned(self, first: Any, second: Any) -> Any:
        return second


def test_the_arrays_decide_of_probes_as_the_gate_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swapping answers at random has p-values whose exact form is binomial."""
    random = generator(11)
    looks, units = 12, 300
    baseline, checkpoints = gate.answers(random, 1, units, looks=looks)
    checkpoints[:, ::3] &= (
        random.random((1, 4, units)) < np.array([0.98, 0.93, 0.9, 0.85])[None, :, None]
    )
    expected = gate.probe_alarms(baseline, checkpoints)[0]

    def clusters(right: Any) -> Clusters:
        counts = np.stack([right, np.ones_like(right)], -1).astype(float)[None]
        return Clusters(Accuracy(), counts, tuple(map(str, range(units))), "questions")

    def probe(name: str, right: Any) -> Any:
        made = invented.row(name, {"gad": [100 * right.mean()]}, split="dev")
        return invented.named(made, learner="probe", weights=name)

    answers = {
        "old": baseline[0],
        **{f"run@{number}": right for number, right in enumerate(checkpoints[0])},
    }
    both = lambda name, first, other, split: (  # noqa: E731
        clusters(answers[first.model]),
        clusters(answers[other.model]),
    )
    monkeypatch.setattr(comparison, "_scored_units", both)
    old, decisions = probe("old", baseline[0]), []
    for number, right in enumerate(checkpoints[0]):
        decisions.append(
            decide_in_series(
                probe(f"run@{number}", right), old, Rules(looks=40), tmp_path / "looks.json"
            )
        )
    assert [one.outcome is Outcome.REGRESSION for one in decisions] == expected.tolist()
    assert len(set(expected)) == 2
    assert all(one.paired for one in decisions)
    draws = [
        len(swapped)
        for one in decisions
        if (swapped := one.findings[0].line.comparison.swapped) is not None
    ]
    assert draws == [10_000] * looks  # one test at 0.00125 needs no more


def test_a_probe_of_many_sets_has_as_many_draws_as_its_level_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand draws have no p below 0.0001: fourteen such, corrected, are never below a level of 0.00125."""
    units = 200
    right = np.ones(units, dtype=bool)
    fell = right & (np.arange(units) % 4 > 0)

    def clusters(values: Any) -> Clusters:
        return Clusters(
            Accuracy(),
            np.stack([values, np.ones(units)], -1)[None],
            tuple(map(str, range(units))),
            "q",
        )

    def probe(name: str, values: Any) -> Any:
        made = invented.row(name, {one: [100 * values.mean()] for one in DATASETS}, split="dev")
        return invented.named(made, learner="probe", weights=name)

    monkeypatch.setattr(comparison, "_scored_units", lambda *_: (clusters(fell), clusters(right)))
    decision = decide_in_series(
        probe("new", fell), probe("old", right), Rules(looks=40), tmp_path / "looks.json"
    )
    assert {one.outcome for one in decision.findings} == {Outcome.REGRESSION}
    assert len(decision.findings[1].line.comparison.swapped) == 10 * 14 * 800  # type: ignore[arg-type]
    late = _at_look(tmp_path / "looks.json", probe("next", fell), probe("old", right), 100_000)
    assert late.outcome is Outcome.CANNOT_JUDGE
    assert "shows no p-value below the level" in late.findings[0].reasons[0]


def _at_look(state: Path, candidate: Any, baseline: Any, looks: int) -> Decision:
    state.unlink()
    return decide_in_series(candidate, baseline, Rules(looks=looks), state)

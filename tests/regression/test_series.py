"""Looks of a series: levels, variance, state file. Oracle: SciPy's tests on numbers put together by the test itself."""

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from blurb.messages.errors import BlurbError, SettingsError, StoreError
from blurb.regression import Decision, Outcome, Rules, decide_check, looks
from blurb.regression.looks import decide_in_series
from blurb.regression.rules import Limit
from blurb.results.score import DATASETS, SCORE, dataset_weights
from tests.results import invented

PASS, REGRESSION, CANNOT = Outcome.PASS, Outcome.REGRESSION, Outcome.CANNOT_JUDGE
BASELINE = [80.0, 80.6, 79.7]
RULES = Rules(looks=40)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "looks.json"


@pytest.fixture
def look(state: Path) -> Callable[..., Decision]:
    """Checks a row with these scores on GAD, or on datasets by name."""

    def checked(
        scores: Any,
        rules: Rules = RULES,
        baseline: Any = BASELINE,
        name: str = "new",
        **changes: Any,
    ) -> Decision:
        def row(model: str, given: Any) -> Any:
            return invented.row(
                model, given if isinstance(given, dict) else {"gad": given}, split="dev"
            )

        candidate = invented.named(row(name, scores), **changes)
        return decide_in_series(candidate, row("old", baseline), rules, state)

    return checked


def drawn(seed: int, checkpoints: int, runs: int = 3, mean: float = 80.0) -> list[list[float]]:
    return np.random.default_rng(seed).normal(mean, 0.7, (checkpoints, runs)).tolist()


def test_each_look_is_a_test_with_the_variance_of_all_checkpoints_so_far(
    look: Callable[..., Decision],
) -> None:
    series = drawn(1, 5)
    for number, scores in enumerate(series, 1):
        decision = look(scores, name=f"run@{number}")
        groups = [BASELINE, *series[:number]]
        degrees = sum(len(one) - 1 for one in groups)
        error = math.sqrt(sum(np.var(one) * len(one) for one in groups) / degrees * (2 / 3))
        t = (np.mean(scores) - np.mean(BASELINE)) / error
        (finding,) = decision.findings
        assert finding.p_drop == pytest.approx(stats.t.cdf(t, degrees))
        assert (decision.turn.number, decision.level) == (number, 0.05 / 40)
        assert decision.turn.spent == pytest.approx(number * 0.05 / 40)
        assert f"{number + 1} checkpoints ({degrees} degrees" in decision.variance


def test_the_level_of_the_look_decides(look: Callable[..., Decision]) -> None:
    """A drop with p of 0.012 in Student's test of both rows: a regression alone, and none among forty."""
    fell = [79.0, 78.7, 79.3]
    assert 0.05 / 40 < stats.ttest_ind(fell, BASELINE, alternative="less").pvalue < 0.05
    assert look(fell, Rules(looks=1)).outcome is REGRESSION
    # The same candidate
    assert look(fell, name="again", rules=Rules(looks=1)).outcome is REGRESSION


def test_with_forty_looks_it_takes_more(look: Callable[..., Decision]) -> None:
    assert look([79.0, 78.7, 79.3]).outcome is PASS
    assert look([70.0, 70.7, 70.3]).outcome is REGRESSION
    (reason,) = look([70.0, 70.7, 70.3]).findings[0].reasons
    assert "level 0.0013" in reason


def test_a_second_look_at_the_same_candidate_spends_nothing_and_says_the_same(
    look: Callable[..., Decision], state: Path
) -> None:
    series = drawn(2, 4)
    decisions = [look(scores) for scores in series]
    before = state.read_bytes()
    for number, scores in enumerate(series):
        again = look(scores, name="another name")
        assert again.turn.repeated
        assert (again.turn.number, again.level) == (number + 1, decisions[number].level)
        assert again.findings == decisions[number].findings
        assert again.turn.spent == pytest.approx(4 * 0.05 / 40)
    assert state.read_bytes() == before
    more_seeds = look([*series[0], 80.1])  # is another test
    assert (more_seeds.turn.number, more_seeds.turn.repeated) == (5, False)
    assert look(series[0], weights="w" * 64).turn.number == 6


def test_single_runs_need_a_stated_deviation(look: Callable[..., Decision], state: Path) -> None:
    unknown = look([78.0], baseline=[80.0])
    assert unknown.outcome is CANNOT
    assert unknown.findings[0].reasons == ("one run each, no sd is stated, and no max_drop is set",)
    assert not state.exists()  # nothing was tested
    decision = look([78.0], replace(RULES, sd=0.7), [80.0])
    assert decision.findings[0].p_drop == pytest.approx(stats.norm.cdf(-2 / (0.7 * math.sqrt(2))))
    assert "stated, not measured: 0.7 points" in decision.variance
    # The file remembers it
    assert look([77.0], baseline=[80.0]).findings[0].p_drop == pytest.approx(
        stats.norm.cdf(-3 / (0.7 * math.sqrt(2)))
    )


def test_what_is_measured_comes_before_what_is_stated(look: Callable[..., Decision]) -> None:
    decision = look([78.0], replace(RULES, sd=0.1))
    error = math.sqrt(np.var(BASELINE, ddof=1) * (1 + 1 / 3))
    assert decision.findings[0].p_drop == pytest.approx(
        stats.t.cdf((78.0 - np.mean(BASELINE)) / error, 2)
    )
    assert "stated" not in decision.variance


def test_without_a_series_a_stated_deviation_is_for_single_runs_alone() -> None:
    rules, several = Rules(sd=0.7), invented.row("old", {"gad": BASELINE}, split="dev")
    single = invented.row("new", {"gad": [78.0]}, split="dev")
    decision = decide_check(single, invented.row("old", {"gad": [80.0]}, split="dev"), rules)
    assert decision.findings[0].p_drop == pytest.approx(stats.norm.cdf(-2 / (0.7 * math.sqrt(2))))
    assert "0.7" in decision.variance
    assert (
        decide_check(single, several, rules).findings
        == decide_check(single, several, Rules()).findings
    )


def test_all_thirteen_with_stated_deviations_have_a_score_with_the_error_of_their_mean(
    look: Callable[..., Decision],
) -> None:
    decision = look(
        {name: [79.0] for name in DATASETS},
        replace(RULES, sd=0.7),
        {name: [80.0] for name in DATASETS},
    )
    score = next(one for one in decision.findings if one.name == SCORE)
    error = 0.7 * math.sqrt(2 * sum(weight**2 for weight in dataset_weights().values()))
    assert score.line.comparison.standard_error == pytest.approx(error)
    assert score.line.comparison.p_drop == pytest.approx(stats.norm.cdf(-1 / error))
    assert score.p_drop == pytest.approx(14 * stats.norm.cdf(-1 / error))


def test_variances_that_differ_are_said_with_the_checkpoint_that_stands_out(
    look: Callable[..., Decision],
) -> None:
    for number, scores in enumerate(drawn(3, 6, 5), 1):
        calm = look(scores, name=f"run@{number}")
    assert "Bartlett's test shows no difference" in calm.variance
    wild = look([60.0, 90.0, 75.0, 85.0, 70.0], name="run@7")
    groups = [BASELINE, *drawn(3, 6, 5), [60.0, 90.0, 75.0, 85.0, 70.0]]
    assert stats.bartlett(*groups).pvalue < 0.001
    assert "not exact (gad: sd " in wild.variance
    assert "the largest of the candidate" in wild.variance
    assert "the largest of run@7 quick (look 7)" in look(drawn(4, 1, 5)[0], name="run@8").variance


def test_looks_without_a_number_go_on_and_a_stated_number_ends(
    look: Callable[..., Decision], state: Path
) -> None:
    first, second, third = drawn(5, 3)
    rules = Rules(looks=2)
    assert [look(scores, rules).turn.number for scores in (first, second)] == [1, 2]
    before = state.read_bytes()
    over = look(third, rules)
    assert over.outcome is CANNOT
    assert "all 2 looks" in over.findings[0].reasons[0]
    assert state.read_bytes() == before
    assert look(second, rules).outcome is PASS  # it was seen
    state.unlink()
    levels = [look(scores, Rules()).level for scores in (first, second, third)]
    assert levels == [pytest.approx(0.05 * k**-1.6 / 2.2857657, rel=1e-6) for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(looks=41), "looks is 40 in this series and 41"),
        (Rules(looks=1), "at least the 2 that are spent"),
        (Rules(level=0.01), "level is 0.05 in this series and 0.01"),
        (Rules(split="test"), "split is dev"),
        (Rules(sd=2.0), "sd is not stated in this series and 2.0"),
    ],
)
def test_what_a_series_was_begun_with_stays(
    look: Callable[..., Decision], state: Path, rules: Rules, message: str
) -> None:
    for scores in drawn(6, 2):
        look(scores)
    before = state.read_bytes()
    with pytest.raises(SettingsError, match=message) as error:
        look(drawn(7, 1)[0], rules)
    assert str(state) in str(error.value)
    assert error.value.fix
    assert state.read_bytes() == before


def test_another_baseline_cannot_be_judged(look: Callable[..., Decision], state: Path) -> None:
    look(drawn(8, 1)[0])
    before = state.read_bytes()
    for baseline in ([80.0, 80.6, 79.8], {"gad": BASELINE, "ddi": BASELINE}):
        decision = look(drawn(9, 1)[0], baseline=baseline)
        assert decision.outcome is CANNOT
        assert str(state) in decision.findings[0].reasons[0]
        assert "baseline" in decision.findings[0].reasons[0]
    assert state.read_bytes() == before
    assert look(drawn(9, 1)[0]).turn.number == 2


def edited(content: dict[str, Any]) -> str:
    content["looks"][0]["level"] = 0.0001
    return json.dumps(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (edited, "edited or is damaged"),
        (lambda content: json.dumps({**content, "looks": []}), "edited or is damaged"),
        (lambda content: json.dumps(content)[:-40], "cannot be read"),
        (lambda content: "", "cannot be read"),
        (lambda content: "[]", "no JSON object"),
        (lambda content: json.dumps({**content, "version": 2}), "version 2"),
        (lambda content: "{}", "no state file"),
    ],
)
def test_a_file_that_is_not_as_it_was_written_is_refused_by_name(
    look: Callable[..., Decision],
    state: Path,
    damage: Callable[[dict[str, Any]], str],
    message: str,
) -> None:
    look(drawn(10, 1)[0])
    state.write_text(damage(json.loads(state.read_text())))
    before = state.read_bytes()
    with pytest.raises(StoreError, match=message) as error:
        look(drawn(11, 1)[0])
    assert str(error.value).startswith(str(state))
    assert state.read_bytes() == before
    assert list(state.parent.iterdir()) == [state]


def test_a_file_that_was_edited_with_its_digest_is_still_read_with_care(
    look: Callable[..., Decision], state: Path
) -> None:
    look(drawn(10, 1)[0])
    content = json.loads(state.read_text())
    content.pop("digest")
    content["plan"] = {"level": 0.05}
    state.write_text(json.dumps({**content, "digest": looks._digest_of(content)}))
    with pytest.raises(StoreError, match="'looks' is missing"):
        look(drawn(11, 1)[0])


def test_a_place_where_no_file_can_be(look: Callable[..., Decision], tmp_path: Path) -> None:
    candidate = invented.row("new", {"gad": BASELINE}, split="dev")
    for place, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "looks.json", "does not exist"),
    ):
        with pytest.raises(SettingsError, match=message):
            decide_in_series(candidate, candidate, RULES, place)
    with pytest.raises(SettingsError, match="level 0"):
        decide_in_series(candidate, candidate, Rules(level=0), tmp_path / "looks.json")
    assert list(tmp_path.iterdir()) == []


TOLERANCE = Limit(max_drop=1.0)


@pytest.mark.parametrize(
    ("rule", "drop", "noisy", "expected"),
    [
        ("or", 0.5, True, PASS), ("or", 2.0, True, REGRESSION), ("or", 0.5, False, REGRESSION),
        ("and", 0.5, True, PASS), ("and", 2.0, True, PASS), ("and", 0.5, False, PASS), ("and", 2.0, False, REGRESSION),
        ("noise", 2.0, True, PASS), ("noise", 0.5, False, REGRESSION), ("noise", -2.0, False, PASS),
    ],
)  # fmt: skip
def test_the_rule_says_what_of_tolerance_and_noise_counts(
    look: Callable[..., Decision], rule: Any, drop: float, noisy: bool, expected: Outcome
) -> None:
    spread = (-3.0, 0.0, 3.0) if noisy else (-0.01, 0.0, 0.01)
    rules = Rules(default=TOLERANCE, rule=rule)
    baseline, candidate = [80 + one for one in spread], [80 - drop + one for one in spread]
    assert look(candidate, rules, baseline).outcome is expected


def test_the_rule_and_needs_both_to_be_known(look: Callable[..., Decision]) -> None:
    assert look([70.0, 70.1], Rules(rule="and")).outcome is CANNOT  # without a tolerance
    single = Rules(default=TOLERANCE, rule="and")
    assert look([79.5], single, [80.0]).outcome is PASS  # within it, whatever the noise
    assert look([70.0], single, [80.0]).outcome is CANNOT
    assert look([70.0], Rules(default=TOLERANCE, rule="noise"), [80.0]).outcome is CANNOT
    # A minimum holds
    assert (
        look([79.0, 79.1], Rules(limits={"gad": Limit(1.0, 79.5)}, rule="noise")).outcome
        is REGRESSION
    )


def test_the_power_of_and_is_one_half_where_the_true_drop_is_the_tolerance() -> None:
    """The observed drop is beyond the true one half of the time, and noise is small beside both."""
    draw = np.random.default_rng(0).normal
    rules = Rules(default=Limit(max_drop=3.0), rule="and")
    found = 0
    for _ in range(300):
        candidate, baseline = draw(77, 0.5, 5).tolist(), draw(80, 0.5, 5).tolist()
        rows = (
            invented.row(str(len(one)), {"gad": one}, split="dev") for one in (candidate, baseline)
        )
        found += decide_check(*rows, rules).outcome is REGRESSION
    assert found / 300 == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "bad",
    [{"looks": 0}, {"looks": 2.5}, {"looks": True}, {"sd": 0.0}, {"sd": -1.0}, {"sd": math.nan}, {"rule": "xor"},
     {"level": math.nan}, {"level": 1.0}, {"split": "tset"},
     {"rule": "and", "level": 0.0}],
)  # fmt: skip
def test_rules_that_cannot_be(bad: dict[str, Any]) -> None:
    with pytest.raises(BlurbError):
        Rules(**bad)


def test_checks_at_the_same_time_wait_for_each_other(
    look: Callable[..., Decision], state: Path
) -> None:
    series = drawn(13, 6)
    with ThreadPoolExecutor(6) as pool:
        decisions = list(pool.map(look, series))
    assert sorted(decision.turn.number for decision in decisions) == [1, 2, 3, 4, 5, 6]
    assert len(json.loads(state.read_text())["looks"]) == 6
    assert list(state.parent.iterdir()) == [state]


def test_the_baseline_beside_itself_is_no_checkpoint(
    look: Callable[..., Decision], state: Path
) -> None:
    decision = look(BASELINE)
    assert (decision.outcome, decision.turn) == (PASS, None)
    assert not state.exists()


def test_runs_of_one_checkpoint_count_once_in_the_variance(look: Callable[..., Decision]) -> None:
    """More seeds of a checkpoint are another look, and no other checkpoint."""
    first, other, last = drawn(12, 3, 5)
    look(first[:3], weights="a")
    look(first, weights="a")
    look(other, weights="b")
    again = look(other[:4], weights="b")
    assert (again.turn.number, again.findings[0].line.comparison.degrees_of_freedom) == (
        4,
        2 + 4 + 3,
    )
    (finding,) = look(last, weights="c").findings
    groups = [BASELINE, first, other, last]
    degrees = sum(len(one) - 1 for one in groups)
    error = math.sqrt(sum(np.var(one) * len(one) for one in groups) / degrees * (1 / 3 + 1 / 5))
    assert finding.p_drop == pytest.approx(
        stats.t.cdf((np.mean(last) - np.mean(BASELINE)) / error, degrees)
    )


def names_of(decision: Decision) -> Sequence[str]:
    return [finding.name for finding in decision.findings]


def test_other_datasets_are_another_look(look: Callable[..., Decision]) -> None:
    both = {"gad": BASELINE, "ddi": BASELINE}
    first = look(
        {"gad": [79.9, 80.1], "ddi": [80.3, 80.2]}, replace(RULES, required=("gad",)), both
    )
    second = look({"gad": [79.9, 80.1], "ddi": [80.3, 80.2]}, RULES, both)
    assert (names_of(first), first.turn.number) == (["gad"], 1)
    assert (names_of(second), second.turn.number) == (["ddi", "gad"], 2)


def test_a_link_to_a_state_file_stays_one(
    look: Callable[..., Decision], state: Path, tmp_path: Path
) -> None:
    """Replaced by a file, it would leave the other with fewer looks, whose level could be spent again."""
    kept = tmp_path / "kept.json"
    state.symlink_to(kept)
    for number, scores in enumerate(drawn(1, 2), 1):
        look(scores, name=f"run@{number}")
    assert state.is_symlink()
    assert len(looks.read(kept).looks) == 2

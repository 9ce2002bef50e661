"""Whether a candidate passes. Oracle: SciPy's one-sided Welch, Holm by its definition, and cases worked by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from blurb import tasks
from blurb.messages.errors import BlurbError
from blurb.regression import Decision, Outcome, Rules, decide_check
from blurb.regression.decision import DatasetDecision
from blurb.regression.judging import ROUNDING
from blurb.regression.rules import Limit, load_rules, read_rules
from blurb.results.comparison import ScoreComparison
from blurb.results.row import Row
from blurb.results.score import SCORE
from blurb.statistics.welch import WelchComparison
from tests.results import invented

PASS, REGRESSION, CANNOT = Outcome.PASS, Outcome.REGRESSION, Outcome.CANNOT_JUDGE
NAMES = tuple(task.name for task in tasks.all() if task.paper_order)
LOW, HIGH = [79.0, 79.4, 79.1], [80.1, 80.3, 80.2]
Scores = Mapping[str, Sequence[float]]


def row(scores: Scores, model: str = "m") -> Row:
    return invented.row(model, scores, split="dev")


def judged(candidate: Scores, baseline: Scores, rules: Rules | None = None) -> Decision:
    return decide_check(row(candidate, "new"), row(baseline, "old"), rules or Rules())


def outcomes(decision: Decision) -> dict[str, Outcome]:
    return {finding.name: finding.outcome for finding in decision.findings}


def changed(side: Row, task: str, **facts: Any) -> Row:
    """The row with other facts about the runs of a dataset."""
    dataset = side.datasets[task]
    runs = {seed: replace(run, **facts) for seed, run in dataset.runs.items()}
    return replace(side, datasets={**side.datasets, task: replace(dataset, runs=runs)})


def test_exit_codes_are_those_of_the_guide() -> None:
    assert [int(outcome) for outcome in (PASS, REGRESSION, CANNOT)] == [0, 1, 2]
    assert [outcome.words for outcome in Outcome] == ["pass", "regression", "cannot judge"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([PASS, PASS], PASS),
        ([PASS, CANNOT], CANNOT),
        ([CANNOT, REGRESSION, PASS], REGRESSION),
        ([], CANNOT),
        ([REGRESSION], REGRESSION),
        ([CANNOT], CANNOT),
    ],
)
def test_one_regression_is_one_and_a_pass_needs_that_all_could_be_judged(
    found: list[Outcome], expected: Outcome
) -> None:
    line = ScoreComparison("gad", 1.0, 1.0, (1, 1), WelchComparison(0.0))
    findings = tuple(DatasetDecision(line, outcome) for outcome in found)
    assert Decision("new", "old", Rules(), findings).outcome is expected


def test_a_drop_is_judged_one_sided_and_corrected_over_all_that_is_asked_for() -> None:
    """The k-th smallest of n p-values times n - k + 1, as SciPy gives them."""
    baseline = {"gad": HIGH, "ddi": [70.9, 70.3, 71.2], "hoc": [80.0, 80.9, 80.1], "bioasq": HIGH}
    candidate = {
        "gad": LOW,
        "ddi": [70.0, 70.6, 70.4],
        "hoc": [80.2, 80.8, 80.3, 80.1],
        "bioasq": HIGH,
        "biosses": LOW,
    }
    decision = judged(candidate, baseline)
    plain = {
        name: stats.ttest_ind(
            candidate[name], baseline[name], equal_var=False, alternative="less"
        ).pvalue
        for name in baseline
    }
    found = {finding.name: finding.p_drop for finding in decision.findings}
    assert set(found) == set(baseline)  # what the candidate has besides is nobody's business
    largest = 0.0
    for place, name in enumerate(sorted(plain, key=lambda name: plain[name])):
        largest = max(largest, min(1.0, (len(plain) - place) * plain[name]))
        assert found[name] == pytest.approx(largest, rel=1e-6)
    assert outcomes(decision) == {name: REGRESSION if name == "gad" else PASS for name in baseline}
    (reason,) = next(finding for finding in decision.findings if finding.name == "gad").reasons
    assert "1.03" in reason
    assert (decision.candidate, decision.baseline) == ("new quick", "old quick")


def test_the_level_of_the_rules_decides() -> None:
    p = stats.ttest_ind(LOW, HIGH, equal_var=False, alternative="less").pvalue
    for level, expected in ((p * 1.01, REGRESSION), (p * 0.99, PASS)):
        assert judged({"gad": LOW}, {"gad": HIGH}, Rules(level=level)).outcome is expected
    # Better is no drop
    assert judged({"gad": HIGH}, {"gad": LOW}, Rules(level=0.99)).outcome is PASS


@pytest.mark.parametrize(
    ("limit", "candidate", "expected"),
    [
        (Limit(max_drop=1.0), 79.0, PASS),  # just as much as it may
        (Limit(max_drop=1.0), 79.0 - ROUNDING / 2, PASS),  # the last digit of a table
        (Limit(max_drop=1.0), 78.99, REGRESSION),
        (Limit(max_drop=0.0), 80.0, PASS),
        (Limit(max_drop=0.0), 79.99, REGRESSION),
        (Limit(min_score=79.0), 79.0, CANNOT),  # high enough, and whether it fell is not known
        (Limit(min_score=79.0), 78.99, REGRESSION),
        (Limit(5.0, 79.0), 79.0, PASS),
        (Limit(5.0, 79.0), 78.99, REGRESSION),
        (Limit(0.5, 70.0), 79.0, REGRESSION),
        (Limit(), 80.0, CANNOT),
    ],
)
@pytest.mark.parametrize("level", [0.0, 0.05])
def test_limits_hold_for_single_runs(
    limit: Limit, candidate: float, expected: Outcome, level: float
) -> None:
    rules = Rules(level=level, limits={"gad": limit})
    assert judged({"gad": [candidate]}, {"gad": [80.0]}, rules).outcome is expected


def test_every_limit_that_is_broken_is_a_reason() -> None:
    rules = Rules(limits={"gad": Limit(0.5, 79.9)})
    (finding,) = judged({"gad": LOW}, {"gad": HIGH}, rules).findings
    assert [
        number in reason
        for number, reason in zip(("79.9", "0.5", "p 0.0"), finding.reasons, strict=True)
    ] == [True, True, True]


@pytest.mark.parametrize(
    ("candidate", "baseline", "expected"),
    [
        ([80.0, 80.0], [80.0, 80.0], PASS),  # all alike: nothing fell
        ([81.0, 81.0], [80.0, 80.0], PASS),
        ([79.0, 79.0], [80.0, 80.0], CANNOT),  # it fell, and nothing says how steady it is
        ([80.0], [80.0, 80.0], CANNOT),
        ([80.0], [80.1, 80.3, 80.2], PASS),  # with the variance of the other side
        ([70.0], [80.1, 80.3, 80.2], REGRESSION),
        ([80.0], [80.0], CANNOT),
    ],
)
def test_what_runs_that_do_not_differ_or_stand_alone_can_say(
    candidate: list[float], baseline: list[float], expected: Outcome
) -> None:
    assert judged({"gad": candidate}, {"gad": baseline}).outcome is expected


def test_without_the_test_a_limit_is_needed() -> None:
    assert judged({"gad": HIGH}, {"gad": LOW}, Rules(level=0)).outcome is CANNOT
    assert judged({"gad": HIGH}, {"gad": LOW}, Rules(level=0, default=Limit(1.0))).outcome is PASS
    assert (
        judged({"gad": LOW}, {"gad": HIGH}, Rules(level=0, default=Limit(1.0))).outcome
        is REGRESSION
    )


def test_what_is_asked_for_and_not_there_cannot_be_judged() -> None:
    both = {"gad": HIGH, "ddi": HIGH}
    assert outcomes(judged({"gad": HIGH}, both)) == {"gad": PASS, "ddi": CANNOT}
    assert outcomes(judged({"gad": HIGH}, both, Rules(required=("gad",)))) == {"gad": PASS}
    assert outcomes(judged(both, {"gad": HIGH}, Rules(required=("gad", "ddi")))) == {
        "gad": PASS,
        "ddi": CANNOT,
    }
    # A limit asks for its dataset
    rules = Rules(required=("gad",), limits={"ddi": Limit(min_score=80.0)})
    # A minimum needs no baseline
    assert outcomes(judged(both, {"gad": HIGH}, rules)) == {"gad": PASS, "ddi": PASS}
    assert outcomes(judged({"gad": HIGH}, {"gad": HIGH}, rules)) == {"gad": PASS, "ddi": CANNOT}
    assert judged({"gad": HIGH}, {}).findings == ()
    assert judged({"gad": HIGH}, {}).outcome is CANNOT


def test_a_seed_that_is_missing_on_either_side_leaves_it_open() -> None:
    whole = row({"gad": HIGH})
    short = replace(whole, datasets={"gad": replace(whole.datasets["gad"], planned=4)})
    for candidate, baseline in ((short, whole), (whole, short)):
        decision = decide_check(candidate, baseline, Rules(default=Limit(90.0)))
        assert decision.outcome is CANNOT
        assert "3 of 4" in decision.findings[0].reasons[0]


@pytest.mark.parametrize(
    "facts",
    [
        {"data_hash": "e"},
        {"metrics_version": "2"},
        {"settings": {"max_eval": "64", "plugins": ""}},
        "probe",
    ],
    ids=["data", "metrics", "units", "learner"],
)
def test_what_is_not_comparable_passes_under_no_limit(facts: Any) -> None:
    known = {"data_hash": "d", "metrics_version": "1", "settings": {"max_eval": "", "plugins": ""}}
    side = changed(row({"gad": HIGH}), "gad", **known)
    other = (
        invented.named(side, learner="probe") if facts == "probe" else changed(side, "gad", **facts)
    )
    assert decide_check(side, side, Rules()).outcome is PASS
    for candidate, baseline in ((side, other), (other, side)):
        for rules in (Rules(), Rules(default=Limit(90.0)), Rules(limits={"gad": Limit(90.0, 1.0)})):
            assert decide_check(candidate, baseline, rules).outcome is CANNOT


def test_numbers_without_runs_are_judged_by_limits_on_their_own_split() -> None:
    printed = invented.row("old", means={"gad": 80.0})
    candidate = invented.row("new", {"gad": LOW}, split="test")
    for drop, expected in ((2.0, PASS), (0.5, REGRESSION)):
        assert (
            decide_check(candidate, printed, Rules("test", default=Limit(drop))).outcome is expected
        )
    assert decide_check(candidate, printed, Rules("test")).outcome is CANNOT
    on_dev = decide_check(row({"gad": LOW}), printed, Rules("dev", default=Limit(90.0)))
    assert outcomes(on_dev) == {"gad": CANNOT}


def whole(shift: float, names: Sequence[str] = NAMES) -> dict[str, list[float]]:
    return {name: [80 + shift + spread for spread in (-0.3, 0.1, 0.2)] for name in names}


def test_the_score_comes_first_and_counts_as_one_of_all() -> None:
    """Thirteen drops that show in none of the datasets show in their mean."""
    decision = judged(whole(-0.28), whole(0.0))
    assert [finding.name for finding in decision.findings] == [SCORE, *NAMES]
    assert outcomes(decision) == {SCORE: REGRESSION, **dict.fromkeys(NAMES, PASS)}
    one = stats.ttest_ind(
        whole(-0.28)["gad"], whole(0.0)["gad"], equal_var=False, alternative="less"
    ).pvalue
    assert one > 0.05
    score = decision.findings[0]
    assert score.line.difference == pytest.approx(-0.28)
    assert score.p_drop == pytest.approx(14 * score.line.comparison.p_drop)


def test_the_score_has_limits_of_its_own_or_the_common_one() -> None:
    loose = Rules(level=0, default=Limit(1.0))
    for overall, expected in (
        (Limit(), PASS),
        (Limit(0.5), REGRESSION),
        (Limit(None, 79.5), REGRESSION),
    ):
        decision = judged(whole(-0.8), whole(0.0), replace(loose, overall=overall))
        assert outcomes(decision) == {SCORE: expected, **dict.fromkeys(NAMES, PASS)}
    assert outcomes(judged(whole(-1.1), whole(0.0), loose)) == dict.fromkeys(
        (SCORE, *NAMES), REGRESSION
    )


def test_a_limit_of_the_score_asks_for_all_thirteen() -> None:
    some = NAMES[:12]
    rules = Rules(overall=Limit(90.0))
    decision = judged(whole(0.0, some), whole(0.0, some), rules)
    assert outcomes(decision) == {SCORE: CANNOT, **dict.fromkeys(some, PASS)}
    assert decision.findings[0].name == SCORE
    assert SCORE not in outcomes(judged(whole(0.0, some), whole(0.0, some)))  # nobody asked for it
    few = judged(
        whole(-0.9),
        whole(0.0),
        Rules(required=("gad",), level=0, default=Limit(1.0), overall=Limit(0.5)),
    )
    assert outcomes(few) == {SCORE: REGRESSION, "gad": PASS}


def test_the_score_cannot_be_judged_where_one_of_its_datasets_cannot() -> None:
    odd = changed(row(whole(0.0)), "hoc", data_hash="e")
    decision = decide_check(
        odd, changed(row(whole(0.0)), "hoc", data_hash="d"), Rules(overall=Limit(0.5))
    )
    assert outcomes(decision) == {
        SCORE: CANNOT,
        **{name: CANNOT if name == "hoc" else PASS for name in NAMES},
    }
    assert decision.findings[0].reasons[0].startswith("hoc: ")


# `blurb-check.toml`. Oracle: what stands in the file, read by hand.


def rules_of(folder: Path, text: str) -> Rules:
    path = folder / "blurb-check.toml"
    path.write_text(text, encoding="utf-8")
    return load_rules(path)


def test_an_empty_file_asks_for_what_no_file_does(tmp_path: Path) -> None:
    assert rules_of(tmp_path, "") == Rules()
    assert (Rules().split, Rules().level, Rules().required) == ("dev", 0.05, None)
    assert {Rules().limit(name) for name in (*NAMES, SCORE)} == {Limit()}


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
version = 1
split = "test"
level = 0.01
rule = "and"
looks = 40
sd = 0.7
max_drop = 2
tasks = ["gad", "qa"]
[overall]
max_drop = 0.5
min_score = 70
[datasets.ncbi-disease]
min_score = 80.5
[datasets.hoc]
max_drop = 0
"""
    assert rules_of(tmp_path, text) == Rules(
        split="test",
        level=0.01,
        default=Limit(2.0),
        overall=Limit(0.5, 70.0),
        limits={"ncbi-disease": Limit(None, 80.5), "hoc": Limit(0.0)},
        rule="and",
        looks=40,
        sd=0.7,
        required=("gad", "pubmedqa", "bioasq"),
    )


@pytest.mark.parametrize(
    ("wanted", "required"),
    [
        ('"all"', NAMES),
        ('"ner"', NAMES[:5]),
        ('["biosses"]', ("biosses",)),
        ('"hoc, gad"', ("gad", "hoc")),
        ('["qa", "bioasq"]', NAMES[11:]),
    ],
)
def test_tasks_are_names_and_types_in_the_papers_order(
    wanted: str, required: tuple[str, ...], tmp_path: Path
) -> None:
    assert rules_of(tmp_path, f"tasks = {wanted}").required == required


def test_a_typed_drop_takes_the_place_of_every_one_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        "max_drop = 9\n[overall]\nmax_drop = 20\nmin_score = 70\n[datasets.gad]\nmax_drop = 30\nmin_score = 80\n"
    )
    rules = read_rules(path, max_drop=5.0)
    assert rules.limit("gad") == Limit(5.0, 80.0)
    assert rules.limit(SCORE) == Limit(5.0, 70.0)
    assert rules.limit("hoc") == Limit(5.0)
    assert read_rules(path).limit("gad") == Limit(30.0, 80.0)


def test_the_common_drop_is_that_of_all_that_have_none_of_their_own() -> None:
    rules = Rules(default=Limit(2.0), limits={"gad": Limit(None, 80.0), "hoc": Limit(0.0)})
    assert rules.limit("gad") == Limit(2.0, 80.0)
    assert rules.limit("hoc") == Limit(0.0)  # none at all, and not the common one
    assert rules.limit("ddi") == rules.limit(SCORE) == Limit(2.0)
    assert replace(rules, overall=Limit(0.5, 70.0)).limit(SCORE) == Limit(0.5, 70.0)
    assert replace(rules, overall=Limit(None, 70.0)).limit(SCORE) == Limit(2.0, 70.0)
    assert replace(rules, default=Limit()).limit("gad") == Limit(None, 80.0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("splt = 1", "'split'"),
        ("[datasets.ncbi]\nmax_drop = 1", "'ncbi-disease'"),
        ("[datasets.gad]\nmin_scor = 1", "'min_score'"),
        ("[overall]\nmaxdrop = 1", "'max_drop'"),
        ('split = "train"', "split"),
        ("level = 1", "level"),
        ("level = -0.1", "level"),
        ("level = nan", "level"),
        ("version = 2", "version must be 1"),
        ('rule = "xor"', "rule"),
        ("looks = 0", "looks"),
        ("looks = 2.5", "looks"),
        ("sd = 0", "sd"),
        ("sd = inf", "sd"),
        ("max_drop = -1", "max_drop"),
        ("max_drop = inf", "max_drop"),
        ("[datasets.gad]\nmax_drop = -0.5", "gad"),
        ("[datasets.gad]\nmin_score = nan", "min_score"),
        ("[datasets.gad]\nmin_score = 101", "min_score"),
        ("[overall]\nmin_score = -101", "min_score"),
        ("default = 1", "'default'"),
        ('limits = "gad"', "'limits'"),
        ("overall = 0.5", "overall"),
        ("datasets = 1", "datasets"),
        ("datasets.gad = 80", "gad"),
        ("[[datasets]]\ngad = 1", "datasets"),
        ("tasks = 5", "tasks"),
        ("tasks = [1]", "tasks"),
        ('tasks = "nre"', "'ner'"),
        ('tasks = ["gat"]', "'gad'"),
        ("tasks = []", "tasks"),
        ('tasks = ","', "tasks"),
        ("[", "TOML"),
    ],
)
def test_what_cannot_be_a_rule_is_refused_with_file_and_key(
    text: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(BlurbError) as caught:
        rules_of(tmp_path, text)
    assert what in str(caught.value)
    assert str(tmp_path / "blurb-check.toml") in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(BlurbError) as caught:
            load_rules(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(("file", "limit"), [("[overall]\nmax_drop = 0.5\n", 5.0), ("", None)])
def test_the_option_leaves_the_demand_for_the_score_as_it_is(
    file: str, limit: float | None, tmp_path: Path
) -> None:
    """A limit of its own asks for a score that can be judged; --max-drop takes its place, and adds none."""
    path = tmp_path / "rules.toml"
    path.write_text(f"version = 1\n{file}", encoding="utf-8")
    assert read_rules(path, max_drop=5.0).overall.max_drop == limit

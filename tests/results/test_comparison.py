"""Two rows side by side. Oracle: SciPy's Welch, Holm by its definition, sums by hand, and the predictions on disk."""

import csv
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats

from blurb import learners, tasks
from blurb.cli import cli
from blurb.regression import Outcome, Rules, decide_check
from blurb.regression.judging import flips
from blurb.regression.rules import Limit
from blurb.results import comparability, from_store, leaderboard_csv, published, results_csv, tables
from blurb.results.comparability import Reason, Use
from blurb.results.comparison import Verdict, compare_rows
from blurb.results.row import Origin, Row
from blurb.results.score import DatasetScores, Figure, Run
from blurb.row_files.references import table_rows
from blurb.store.record import read_predictions
from blurb.store.store import Store
from blurb.store.trial import Configuration
from tests.conftest import ROOT
from tests.results import invented, played
from tests.rewriting import csv_lines, write_lines

NAMES = tuple(task.name for task in tasks.all() if task.paper_order)
LOW, HIGH = (79.0, 79.4, 79.1), (80.1, 80.3, 80.2)


def row(
    scores: Mapping[str, Sequence[float]],
    model: str = "m",
    learner: str = "encoder",
    data: str = "d",
    version: str = "1",
    settings: Mapping[str, str] | None = None,
    split: str = "test",
) -> Row:
    """A row of runs about which everything is known: all data the same, all units scored."""
    known = {"max_train": "", "max_eval": ""} if settings is None else settings
    datasets = {
        name: DatasetScores(
            name,
            metric="x",
            planned=len(values),
            runs={
                seed: Run(
                    {split: {"x": Figure(value)}},
                    data_hash=data,
                    metrics_version=version,
                    settings=known,
                )  # type: ignore[dict-item]
                for seed, value in enumerate(values, 1)
            },
        )
        for name, values in scores.items()
    }
    return Row(model, invented.CONFIGURATION, datasets, Origin.RESULTS, learner=learner)


def printed(means: Mapping[str, float]) -> Row:
    """A row of numbers without runs, which are of test."""
    datasets = {
        name: DatasetScores(name, means={"test": mean}, facts=invented.FACTS)
        for name, mean in means.items()
    }
    return Row("printed", invented.CONFIGURATION, datasets, Origin.LEADERBOARD)


def mixed(first: Row, other: Row) -> Row:
    """Seeds of two rows as one, as a table could have them that somebody put together."""
    datasets = {
        name: replace(
            one,
            runs={
                **one.runs,
                **{10 + seed: run for seed, run in other.datasets[name].runs.items()},
            },
        )
        for name, one in first.datasets.items()
    }
    return replace(first, datasets=datasets)


GAD = {"gad": LOW}
DRAWN = {"max_eval": "64", "eval_seed": "2"}
CASES: list[tuple[str, Reason, Row, Row, str]] = [
    (
        "a probe and a fine-tuned encoder",
        Reason.LEARNER,
        row(GAD),
        row(GAD, learner="probe"),
        "test",
    ),
    (
        "dev against numbers of test",
        Reason.SPLIT,
        row(GAD, split="dev"),
        printed({"gad": 80.0}),
        "dev",
    ),
    ("two data", Reason.DATA, row(GAD), row(GAD, data="e"), "test"),
    (
        "seeds of one side on two data",
        Reason.DATA,
        row(GAD),
        mixed(row(GAD), row(GAD, data="e")),
        "test",
    ),
    ("two versions of the metrics", Reason.METRICS, row(GAD), row(GAD, version="2"), "test"),
    (
        "a part of the units",
        Reason.EXAMPLES,
        row(GAD),
        row(GAD, settings={"max_eval": "64"}),
        "test",
    ),
    (
        "other parts of the units",
        Reason.EXAMPLES,
        row(GAD, settings={"max_eval": "32"}),
        row(GAD, settings={"max_eval": "64"}),
        "test",
    ),
    (
        "parts drawn with other seeds",
        Reason.EXAMPLES,
        row(GAD, settings={"max_eval": "64", "eval_seed": "1"}),
        row(GAD, settings={"max_eval": "64", "eval_seed": "2"}),
        "test",
    ),
    (
        "a part, and nobody knows",
        Reason.UNKNOWN,
        row(GAD, settings={}),
        row(GAD, settings={"max_eval": "64"}),
        "test",
    ),
    (
        "a part, and nobody knows how it was drawn",
        Reason.UNKNOWN,
        row(GAD, settings={"max_eval": "64"}),
        row(GAD, settings={"max_eval": "64", "eval_seed": "2"}),
        "test",
    ),
    ("all, and nobody knows", Reason.UNKNOWN, row(GAD, settings={}), row(GAD), "test"),
    ("data that nobody knows", Reason.UNKNOWN, row(GAD, data=""), row(GAD, data="e"), "test"),
    (
        "metrics that nobody knows",
        Reason.UNKNOWN,
        row(GAD, version=""),
        row(GAD, version=""),
        "test",
    ),
    (
        "a part, and a printed number of all",
        Reason.EXAMPLES,
        printed({"gad": 80.0}),
        row(GAD, settings={"max_eval": "64"}),
        "test",
    ),
]


def test_every_kind_has_a_case() -> None:
    assert {kind for _, kind, *_ in CASES} == set(Reason) - {
        Reason.RECIPE,
        Reason.PROTOCOL,
        Reason.OVERRIDES,
        Reason.PLUGINS,
    }


@pytest.mark.parametrize(
    ("kind", "first", "other", "split"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_what_says_nothing_of_each_other_is_shown_and_never_judged(
    kind: Reason, first: Row, other: Row, split: str
) -> None:
    for one, two in ((first, other), (other, first)):
        for with_units in (True, False):
            (line,) = compare_rows(one, two, split, with_units)  # type: ignore[arg-type]
            assert line.incomparable is kind
            assert kind.value in line.reason
            assert (line.p, line.comparison.standard_error, line.comparison.interval) == (
                None,
                None,
                None,
            )
            assert line.verdict(1.0) is Verdict.UNKNOWN
            assert None not in (line.first, line.other)
            assert line.difference == pytest.approx((line.first or 0.0) - (line.other or 0.0))


@pytest.mark.parametrize(
    ("first", "other", "judged"),
    [
        (row(GAD), row(GAD), True),
        (row(GAD, settings=DRAWN), row(GAD, settings=DRAWN), True),
        (
            row(GAD, settings={"max_eval": "", "eval_seed": "1"}),
            row(GAD),
            True,
        ),  # no part, no matter how it is drawn
        (
            row(GAD, settings={"max_train": "9", "max_eval": ""}),
            row(GAD),
            True,
        ),  # other training is what is compared
        (row(GAD, learner="baseline"), row(GAD), True),
        (row(GAD, learner="probe"), row(GAD, learner="probe"), False),  # without predictions
        (row(GAD, learner="probe"), row({"gad": (50.0,)}, learner="baseline"), False),
        (printed({"gad": 80.0}), row(GAD), False),
        (printed({"gad": 80.0}), printed({"gad": 81.0}), False),
        (row({"gad": (80.0,)}), row({"gad": (81.0,)}), False),
        (row({"gad": (80.0,)}), row(GAD), True),  # the variance of the other side
        (
            row({"gad": (80.0, 80.0)}),
            row({"gad": (81.0, 81.0)}),
            False,
        ),  # no run differs from another
    ],
)
def test_what_may_be_compared_and_what_can_be_judged(first: Row, other: Row, judged: bool) -> None:
    (line,) = compare_rows(first, other, "test", with_units=False)
    assert line.incomparable is None
    assert (line.p is not None) == judged == (not line.reason)


def test_what_one_side_lacks_has_no_difference() -> None:
    lines = {
        line.name: line
        for line in compare_rows(row({"gad": LOW}), row({"ddi": HIGH}), "test", with_units=False)
    }
    assert [line.difference for line in lines.values()] == [None, None]
    assert (lines["gad"].other, lines["ddi"].first) == (None, None)
    assert (lines["gad"].runs, lines["ddi"].runs) == ((3, 0), (0, 3))


def test_p_is_that_of_welch_corrected_over_the_datasets() -> None:
    """SciPy's Welch for each dataset; then Holm by its definition, the k-th smallest of n times n - k + 1."""
    first = {"gad": LOW, "ddi": (70.0, 70.6, 70.4), "hoc": (80.0, 80.9, 80.1), "biosses": (88.0,)}
    other = {
        "gad": HIGH,
        "ddi": (70.9, 70.3, 71.2),
        "hoc": (80.2, 80.8, 80.3, 80.1),
        "biosses": (89.0,),
    }
    lines = {
        line.name: line for line in compare_rows(row(first), row(other), "test", with_units=False)
    }
    plain = {
        name: stats.ttest_ind(first[name], other[name], equal_var=False)
        for name in ("gad", "ddi", "hoc")
    }
    largest = 0.0
    for place, name in enumerate(sorted(plain, key=lambda name: plain[name].pvalue)):
        largest = max(largest, min(1.0, (3 - place) * plain[name].pvalue))
        assert lines[name].p == pytest.approx(largest, rel=1e-6)
    for name, result in plain.items():
        low, high = result.confidence_interval(0.95)
        assert lines[name].comparison.interval == pytest.approx((low, high))
        assert lines[name].difference == pytest.approx(
            statistics.fmean(first[name]) - statistics.fmean(other[name])
        )
    assert (lines["biosses"].p, lines["biosses"].difference) == (None, pytest.approx(-1.0))
    alone = {
        line.name: line
        for line in compare_rows(row(first), row(other), "test", with_units=False, only=["gad"])
    }
    assert set(alone) == {"gad"}
    assert alone["gad"].p == pytest.approx(plain["gad"].pvalue, rel=1e-6)


@pytest.mark.parametrize(
    ("first", "other", "verdict"),
    [(HIGH, LOW, "higher"), (LOW, HIGH, "lower"), (HIGH, HIGH, "no difference shown")],
)
def test_verdicts(first: Sequence[float], other: Sequence[float], verdict: str) -> None:
    (line,) = compare_rows(row({"gad": first}), row({"gad": other}), "test", with_units=False)
    assert line.verdict(0.05) == verdict
    assert line.verdict(line.p) == "no difference shown"  # not below the level


def test_datasets_come_in_the_papers_order_and_strangers_after_them() -> None:
    scores = dict.fromkeys(("zeta", "hoc", "alpha", "ncbi-disease", "bc5-chem"), LOW)
    lines = compare_rows(row(scores), row(scores), "test", with_units=False)
    assert [line.name for line in lines] == ["bc5-chem", "ncbi-disease", "hoc", "alpha", "zeta"]


def whole(shift: float) -> Row:
    """All thirteen datasets, three runs each, no two alike."""
    scores = {
        name: [60 + 2 * place + shift + spread * (1 + place / 10) for spread in (-0.3, 0.1, 0.4)]
        for place, name in enumerate(NAMES)
    }
    return row(scores)


def test_task_types_and_the_score_are_sums_with_the_error_of_their_parts() -> None:
    """By hand: weights of the formula, errors in quadrature, degrees of freedom by Satterthwaite, the tail by SciPy."""
    first, other = whole(0.0), whole(0.35)
    lines = {line.name: line for line in compare_rows(first, other, "test", with_units=False)}
    groups = {"ner": NAMES[:5], "relation": NAMES[6:9], "qa": NAMES[11:]}
    assert list(lines) == [*NAMES, *groups, "score"]  # types of one dataset are that dataset
    weights = {
        name: {one: 1 / len(datasets_by_type) for one in datasets_by_type}
        for name, datasets_by_type in groups.items()
    }
    weights["score"] = {
        name: 1 / 6 / size
        for size, start in zip([5, 1, 3, 1, 1, 2], (0, 5, 6, 9, 10, 11), strict=True)
        for name in NAMES[start : start + size]
    }
    assert sum(weights["score"].values()) == pytest.approx(1)
    for name, shares in weights.items():
        parts = []
        for one, share in shares.items():
            for side in (first, other):
                values = side.values(one)
                parts.append(share**2 * statistics.variance(values) / len(values))
        error = math.sqrt(sum(parts))
        difference = sum(
            share * (statistics.fmean(first.values(one)) - statistics.fmean(other.values(one)))
            for one, share in shares.items()
        )
        degrees_of_freedom = sum(parts) ** 2 / sum(part**2 / 2 for part in parts)
        line = lines[name]
        assert line.difference == pytest.approx(difference)
        assert line.comparison.standard_error == pytest.approx(error)
        assert line.p == pytest.approx(
            2 * stats.t.sf(abs(difference / error), degrees_of_freedom), rel=1e-5
        )
        assert line.runs == (3, 3)
    assert (lines["score"].first, lines["score"].other) == (
        pytest.approx(first.score),
        pytest.approx(other.score),
    )


def test_a_score_says_which_dataset_it_cannot_be_judged_for() -> None:
    other = whole(0.35)
    odd = replace(
        other, datasets={**other.datasets, "hoc": row({"hoc": LOW}, data="e").datasets["hoc"]}
    )
    lines = {line.name: line for line in compare_rows(whole(0.0), odd, "test", with_units=False)}
    assert lines["score"].p is None
    assert lines["score"].reason.startswith("hoc: different data")
    assert lines["ner"].p is not None
    less = replace(
        other, datasets={name: one for name, one in other.datasets.items() if name != "hoc"}
    )
    assert "score" not in {
        line.name for line in compare_rows(whole(0.0), less, "test", with_units=False)
    }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Row]:
    """`good` and `bad` with three runs, `once` with one, and what a table says of `good`."""
    folder = tmp_path_factory.mktemp("comparison")
    store = Store(folder / "runs")
    played.play(store, "good", {"gad": 0.9, "biosses": 0.9})
    played.play(store, "bad", {"gad": 0.7, "biosses": 0.7})
    played.play(store, "once", {"gad": 0.9, "biosses": 0.9}, (1,))
    tables.rebuild(store, folder / "leaderboard.csv")
    rows = {one.model: one for one in from_store.read(store)}
    (table,) = (one for one in results_csv.read(folder / "results.csv") if one.model == "good")
    return {**rows, "table": table}


def test_the_choice_of_test_units_counts_where_predictions_of_both_are_there(
    stored: Mapping[str, Row],
) -> None:
    def errors(first: str, other: str, with_units: bool) -> list[float]:
        lines = compare_rows(stored[first], stored[other], "test", with_units)
        return [line.comparison.standard_error or 0.0 for line in lines]

    plain, wide = errors("bad", "good", False), errors("bad", "good", True)
    assert all(one < two for one, two in zip(plain, wide, strict=True))
    # A table has no predictions
    assert errors("bad", "table", True) == pytest.approx(plain, abs=1e-3)


def test_a_task_that_is_not_installed_here_is_compared_by_its_runs_alone(
    stored: Mapping[str, Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plug-in that could score its predictions is gone; the figures of its runs are there."""
    plain = compare_rows(stored["bad"], stored["good"], "test", with_units=False)
    get, installed = tasks.get, [task for task in tasks.all() if task.name != "gad"]
    monkeypatch.setattr(tasks, "get", lambda name: get("gone" if name == "gad" else name))
    monkeypatch.setattr(tasks, "all", lambda: installed)
    biosses, gad = compare_rows(stored["bad"], stored["good"], "test", with_units=True)
    assert gad.comparison == plain[0].comparison
    assert biosses.comparison != plain[1].comparison
    assert flips(stored["good"], stored["bad"], "gad", "test") == ([], [])


def test_two_single_runs_are_never_judged_and_get_a_hint_of_their_units(
    stored: Mapping[str, Row],
) -> None:
    for with_units in (True, False):
        lines = compare_rows(stored["once"], stored["once"], "test", with_units)
        assert [line.p for line in lines] == [None, None]
        # Nothing to exchange: all are alike
        assert all(("p 1.000" in line.reason) == with_units for line in lines)


def test_flips_are_the_units_that_changed(stored: Mapping[str, Row]) -> None:
    """By hand from the parquet files: a wrong answer is a mistake, as a mean over runs."""
    mistakes = []
    for model in ("good", "bad"):
        found: dict[str, float] = {}
        for record in stored[model].records_of("gad").values():
            columns = read_predictions(record.path / "predictions.parquet", split="test")
            for name, gold, predicted in zip(
                columns["id"], columns["gold"], columns["prediction"], strict=True
            ):
                found[name] = found.get(name, 0.0) + (gold != predicted) / 3
        mistakes.append(found)
    change = {name: mistakes[1][name] - mistakes[0][name] for name in mistakes[0]}
    worse, better = flips(stored["good"], stored["bad"], "gad", "test")
    assert dict(worse) == pytest.approx(
        {name: value for name, value in change.items() if value >= 0.5}
    )
    assert dict(better) == pytest.approx(
        {name: value for name, value in change.items() if value <= -0.5}
    )
    assert len(worse) > len(better)
    assert [(-abs(value), name) for name, value in worse] == sorted(
        (-abs(value), name) for name, value in worse
    )
    back = flips(stored["bad"], stored["good"], "gad", "test")
    assert dict(back[1]) == pytest.approx({name: -value for name, value in worse})
    assert flips(stored["good"], stored["table"], "gad", "test") == ([], [])
    assert flips(stored["good"], stored["bad"], "hoc", "test") == ([], [])


# Comparability and notes. Oracles: the rule of docs/leaderboard.md as a table; docs/csv.md's sentences by hand.


RESULTS = ROOT / "docs" / "results"
NONE = None


def known_row(**changes: Any) -> Row:
    """A row of GAD on dev and test about which everything is known."""
    made = {
        name: changes.pop(name)
        for name in list(changes)
        if name in Configuration.__dataclass_fields__
    }
    facts = {
        name: changes.pop(name)
        for name in ("data_hash", "metrics_version", "verdict")
        if name in changes
    }
    settings = {
        name: changes.pop(name)
        for name in ("max_eval", "eval_seed", "plugins", "max_train")
        if name in changes
    }
    found = invented.row("m", {"gad": (80.1, 80.3, 80.2)}, split="dev")
    gad = found.datasets["gad"]
    runs = {
        seed: replace(run, settings={**run.settings, **settings}, **facts)
        for seed, run in gad.runs.items()
    }
    found = replace(found, datasets={"gad": replace(gad, runs=runs)})
    return invented.named(found, configuration=replace(found.configuration, **made), **changes)


PAPER = next(one for one in published.shipped() if "gad" in one.means())
USES: list[tuple[str, Row, Reason | None, Reason | None]] = [
    ("alike", known_row(), NONE, NONE),
    ("other weights", known_row(weights="f" * 64), NONE, NONE),
    ("another tokenizer", known_row(tokenizer="f" * 64), NONE, NONE),
    ("another precision", known_row(precision="bf16"), NONE, NONE),
    ("another name of one protocol", known_row(protocol="mine@12345678"), NONE, NONE),
    (
        "another protocol",
        known_row(protocol="standard", protocol_hash="1" * 64),
        Reason.PROTOCOL,
        NONE,
    ),
    (
        "another version",
        known_row(protocol="quick@2", protocol_hash="2" * 64),
        Reason.PROTOCOL,
        NONE,
    ),
    ("a changed file of one name", known_row(protocol_hash="3" * 64), Reason.PROTOCOL, NONE),
    ("an unknown protocol", known_row(protocol_hash=""), Reason.UNKNOWN, NONE),
    ("overrides", known_row(overrides={"lr": 0.1}), Reason.OVERRIDES, NONE),
    ("another recipe", known_row(recipe="2"), Reason.RECIPE, NONE),
    ("an unknown recipe", known_row(recipe=""), Reason.UNKNOWN, NONE),
    ("other code", known_row(plugins="head=12ab"), Reason.PLUGINS, NONE),
    ("a baseline", known_row(learner="baseline"), Reason.LEARNER, NONE),
    ("a probe", known_row(learner="probe"), Reason.LEARNER, Reason.LEARNER),
    ("other data", known_row(data_hash="e"), Reason.DATA, Reason.DATA),
    ("data that is not known", known_row(data_hash="", verdict=""), Reason.UNKNOWN, Reason.UNKNOWN),
    ("the release by its verdict", known_row(data_hash=""), NONE, NONE),
    ("other metrics", known_row(metrics_version="2"), Reason.METRICS, Reason.METRICS),
    ("metrics that are not known", known_row(metrics_version=""), Reason.UNKNOWN, Reason.UNKNOWN),
    ("some examples", known_row(max_eval="64"), Reason.EXAMPLES, Reason.EXAMPLES),
    (
        "fewer training examples",
        known_row(max_train="64"),
        NONE,
        NONE,
    ),  # an override or protocol says it, too
]


@pytest.mark.parametrize(
    ("other", "check", "compare"), [one[1:] for one in USES], ids=[one[0] for one in USES]
)
def test_the_table_of_uses(other: Row, check: Reason | None, compare: Reason | None) -> None:
    first = known_row()
    for one, two in ((first, other), (other, first)):
        assert one.comparable_with(two, Use.CHECK, "gad", "dev") is check
        assert one.comparable_with(two, Use.COMPARE, "gad", "dev") is compare
        found = decide_check(one, two, Rules(default=Limit(50.0)))
        assert found.outcome is (Outcome.CANNOT_JUDGE if check else Outcome.PASS)


def test_what_a_check_may_pass_over_is_typed_and_said() -> None:
    """Every key that --across names, and no other: data, metrics, examples and learners stay refusals."""
    for words, other, check, _ in USES:
        for across in ("protocol", "recipe", "overrides", "unknown"):
            decision = decide_check(other, known_row(), Rules(across=(across,)))
            assert (decision.outcome is Outcome.PASS) == (
                check is None
                or across == check.name.lower()
                or (
                    check is Reason.UNKNOWN
                    and across
                    == {"an unknown protocol": "protocol", "an unknown recipe": "recipe"}.get(words)
                )
            ), (words, across)
    assert "protocol: standard / quick" in decide_check(USES[5][1], known_row(), Rules()).remarks
    assert "precision: bf16 / fp32" in decide_check(USES[3][1], known_row(), Rules()).remarks


def test_a_number_of_a_paper_says_nothing_of_how_it_was_made() -> None:
    assert known_row().comparable_with(PAPER, Use.CHECK) is Reason.UNKNOWN
    assert known_row().comparable_with(PAPER, Use.COMPARE) is None
    assert known_row(learner="probe").comparable_with(PAPER, Use.COMPARE) is Reason.LEARNER


def check(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["check", *arguments], catch_exceptions=False)
    return result.exit_code, " ".join(result.output.split())


def test_one_encoder_under_two_protocols_is_no_regression() -> None:
    """The two commands of the audit, which were exit 1 with "more than runs of one encoder differ"."""
    quick, standard = (
        f"{RESULTS}/minilm/{name}/results.csv:all-MiniLM-L6-v2" for name in ("quick", "standard")
    )
    code, told = check(quick, "--baseline", standard.removesuffix(":all-MiniLM-L6-v2"))
    assert (code, "different protocols: quick@2 / standard" in told) == (2, True)
    assert "The rows differ: the same encoder under two protocols." in told
    study = f"{RESULTS}/protocol-study/results.csv"
    code, told = check(f"{study}:whole quick@2", "--baseline", f"{study}:whole standard-short bf16")
    assert (code, "different protocols: quick@2 / standard-short" in told) == (2, True)
    code, told = check(
        quick, "--baseline", standard.removesuffix(":all-MiniLM-L6-v2"), "--across", "protocol"
    )
    assert (code, "Judged across protocol, as asked for." in told) == (1, True)
    assert "more than seeds explain" in told
    assert "runs of one encoder" not in told


def test_tables_of_means_say_what_was_scored(here: Path) -> None:
    """The audit's pair of leaderboard.csv files alone: 2,000 test examples beside all, which was exit 0."""
    for name in ("quick", "sketch"):
        Path(name).mkdir()
        text = (RESULTS / "minilm" / name / "leaderboard.csv").read_text()
        Path(name, "leaderboard.csv").write_text(text)
    sides = [f"{name}/leaderboard.csv:all-MiniLM-L6-v2" for name in ("sketch", "quick")]
    options = ("--split", "test", "--max-drop", "30")
    code, told = check(sides[0], "--baseline", sides[1], *options)
    assert (code, "pass" in told) == (2, False)
    code, told = check(
        sides[0], "--baseline", sides[1], *options, "--across", "protocol", "--across", "unknown"
    )
    assert (
        code,
        "different examples were scored: at most 2,000 in one row, all in the other" in told,
    ) == (2, True)


def test_a_line_of_means_says_all_that_it_has(tmp_path: Path) -> None:
    """Note, seeds, data, limits and version of the metrics: written, read, and written again letter by letter."""
    for name in ("quick", "sketch", "probe", "standard"):
        rows = results_csv.read(RESULTS / "minilm" / name / "results.csv")
        first, again = tmp_path / "first.csv", tmp_path / "again.csv"
        leaderboard_csv.write(first, rows)
        read = table_rows(first)
        assert [(one.note, one.data, one.run_counts) for one in read] == [
            (one.note, one.data, one.run_counts) for one in rows
        ]
        for one, two in zip(rows, read, strict=True):
            for task, dataset in two.datasets.items():
                assert dataset.limit("max_eval") == one.datasets[task].limit("max_eval")
                assert dataset.known("metrics_version") == one.datasets[task].known(
                    "metrics_version"
                )
        leaderboard_csv.write(again, read)
        lines = [list(csv.DictReader(path.open(encoding="utf-8"))) for path in (first, again)]
        # Means of rounded figures
        spread = ("score_sd", "score_low", "score_high", "blurb-12", *tasks.TYPES)
        assert [{key: line[key] for key in line if key not in spread} for line in lines[0]] == [
            {key: line[key] for key in line if key not in spread} for line in lines[1]
        ]


@pytest.mark.parametrize("column", ["max_eval", "plan"])
@pytest.mark.parametrize(
    "cell", ["x", "gad:x", "gad:-1", "gad:1e3", "gad:٣", ":", "gad:" + "9" * 400]
)
def test_a_cell_that_says_nothing_is_named_with_its_line(
    column: str, cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "leaderboard.csv"
    leaderboard_csv.write(path, [known_row()])
    (line,) = csv_lines(path)
    write_lines(path, [{**line, column: cell}])
    result = CliRunner().invoke(cli, ["check", f"{path}", "--baseline", f"{path}"])
    assert str(result.exception).startswith(f"{path}:2: {column} must ")


def test_recipes_of_two_baselines_count_by_themselves() -> None:
    """A later recipe of one of them says nothing of the other."""
    recipes = {name: str(kind.recipe) for name, kind in learners.named_kinds().items()}
    assert recipes["constant"] != recipes["majority"]
    rows = [
        known_row(weights=f"baseline:{name}", recipe=recipes[name])
        for name in ("constant", "majority")
    ]
    assert rows[0].comparable_with(rows[1], Use.CHECK) is None
    old = known_row(weights="baseline:constant", recipe="1")
    assert rows[0].comparable_with(old, Use.CHECK) is Reason.RECIPE


THREE = {"gad": 3, "ddi": 3}


@pytest.mark.parametrize(
    ("words", "seeds", "train", "evaluated", "note"),
    [
        ("", THREE, {}, {}, ""),
        ("a word", THREE, {"gad": 0, "ddi": 0}, {"gad": 0}, "a word"),
        ("", {"gad": 1, "ddi": 1}, {}, {}, "one seed"),
        ("", {"gad": 1, "ddi": 3}, {}, {}, ""),  # some have more
        ("", {}, {}, {}, ""),  # a baseline
        ("", THREE, {"gad": 2000, "ddi": 2000}, {}, "at most 2,000 training examples"),
        ("", THREE, {"gad": 9, "ddi": 0}, {}, "at most 9 training examples (gad)"),
        (
            "",
            THREE,
            {"gad": 9, "ddi": 20, "hoc": 0},
            {},
            "at most 9 or 20 training examples (gad, ddi)",
        ),
        (
            "",
            THREE,
            dict.fromkeys("abcd", 5) | {"e": 0},
            {},
            "at most 5 training examples (4 datasets)",
        ),
        ("", THREE, {}, {"gad": 64, "ddi": 64}, "at most 64 dev and test examples"),
        (
            "words",
            {"gad": 1},
            {"gad": 9},
            {"gad": 7},
            "words; one seed; at most 9 training examples; at most 7 dev and test examples",
        ),
    ],
)
def test_a_note_has_what_was_run_and_nothing_else(
    words: str, seeds: dict[str, int], train: dict[str, int], evaluated: dict[str, int], note: str
) -> None:
    assert comparability.note(words, seeds, train, evaluated) == note

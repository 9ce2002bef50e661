"""The answer for machines and pages. Oracle: an XML parser, the json module, and GitHub's own rules of unescaping."""

import json
import math
import re
import shlex
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from defusedxml import ElementTree
from hypothesis import example, given, strategies as st
from scipy import stats

from blurb import records
from blurb.cli import cli
from blurb.leaderboard import intervals
from blurb.regression import DatasetDecision, Decision, Outcome, Rules, decide_check, forms
from blurb.regression.rules import Limit
from blurb.results import from_store, tables
from blurb.results.comparison import PAIRED, ScoreComparison, compare_rows
from blurb.results.row import Row
from blurb.statistics.welch import WelchComparison, welch_test
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import play

PASS, REGRESSION, CANNOT = Outcome.PASS, Outcome.REGRESSION, Outcome.CANNOT_JUDGE
BEFORE, AFTER = [80.1, 80.3, 80.2], [79.0, 79.4, 79.1]
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
"""Whatever a file in UTF-8 can hold: control characters and what is no character among it."""


def line(name: str) -> ScoreComparison:
    return ScoreComparison(name, 79.166, 80.2, (3, 3), welch_test(AFTER, BEFORE))


def units(count: int) -> list[tuple[str, float]]:
    return [(f"test.{number}", 3.0 - number / 10) for number in range(count)]


FINDINGS = (
    DatasetDecision(line("score"), PASS, 0.25),
    DatasetDecision(
        line("gad"),
        REGRESSION,
        0.004,
        ("fell by 1.03 points", "below 80"),
        units(12),
        [("test.99", -1.0)],
    ),
    DatasetDecision(
        ScoreComparison("hoc", 70.0, None, (3, 0), WelchComparison(None)),
        CANNOT,
        None,
        ("the baseline does not have it",),
    ),
)
DECISION = Decision("new quick", "old quick", Rules(level=0.01), FINDINGS)


def of(*findings: DatasetDecision, candidate: str = "new", baseline: str = "old") -> Decision:
    return Decision(candidate, baseline, Rules(), findings)


def parsed(decision: Decision) -> Any:
    return ElementTree.fromstring(decision.to_junit())


def properties(node: Any) -> dict[str, str]:
    return {one.get("name"): one.get("value") for one in node.findall("properties/property")}


def test_json_has_everything() -> None:
    found = json.loads(json.dumps(records.of(forms.Check, DECISION), allow_nan=False))
    assert {key: found[key] for key in found if key != "findings"} == {
        "outcome": "regression",
        "exit_code": 1,
        "candidate": "new quick",
        "baseline": "old quick",
        "split": "dev",
        "rule": "or",
        "level": 0.01,
        "paired": False,
        "across": [],
        "remarks": [],
        "look": None,
        "variance": "",
        "scope": "",
        "constant": "",
        "row_remarks": [],
    }
    score, gad, hoc = found["findings"]
    assert [one["outcome"] for one in (score, gad, hoc)] == ["pass", "regression", "cannot judge"]
    assert gad == {
        "name": "gad",
        "outcome": "regression",
        "reasons": ["fell by 1.03 points", "below 80"],
        "hint": "",
        "baseline_score": 80.2,
        "candidate_score": 79.166,
        "difference": pytest.approx(-1.0333, abs=1e-4),
        "standard_error": pytest.approx(math.hypot(stats.sem(AFTER), stats.sem(BEFORE)), abs=1e-6),
        "degrees_of_freedom": pytest.approx(
            stats.ttest_ind(AFTER, BEFORE, equal_var=False).df, abs=1e-5
        ),
        "p_drop": 0.004,
        "baseline_runs": 3,
        "candidate_runs": 3,
        "worse": [{"id": unit, "mistakes": change} for unit, change in units(12)],
        "better": [{"id": "test.99", "mistakes": -1.0}],
    }
    assert (hoc["baseline_score"], hoc["difference"], hoc["p_drop"], hoc["worse"]) == (
        None,
        None,
        None,
        [],
    )


def test_junit_has_times_where_somebody_looked_at_the_clock() -> None:
    assert not [
        node for node in parsed(DECISION).iter() if {"time", "timestamp"} & set(node.keys())
    ]
    at = datetime(2026, 11, 25, 1, 30, 5, 7, timezone(timedelta(hours=2)))
    root = parsed(replace(DECISION, checked_at=at, seconds=1.23456))
    (suite,) = root.findall("testsuite")
    assert (suite.get("timestamp"), suite.get("time"), root.get("time")) == (
        "2026-11-24T23:30:05",
        "1.235",
        "1.235",
    )


def test_a_variance_that_is_stated_has_no_degrees_of_freedom_in_json() -> None:
    finding = DatasetDecision(
        replace(line("gad"), comparison=WelchComparison(-1.0, 0.5, math.inf)), PASS, 0.3
    )
    record = records.of(forms.FindingRecord, finding)
    assert (record["standard_error"], record["degrees_of_freedom"]) == (0.5, None)
    json.dumps(record, allow_nan=False)


def test_a_report_with_nothing_to_judge_is_not_green() -> None:
    root = parsed(of())
    for node in (root, root.find("testsuite")):
        assert (node.get("tests"), node.get("failures"), node.get("errors")) == ("1", "0", "1")
    assert len(list(root.iter("testcase"))) == len(list(root.iter("error"))) == 1


def test_the_units_that_fell_most_are_listed_and_the_rest_are_counted() -> None:
    for text in (parsed(DECISION).find(".//failure").text, forms.job_summary(DECISION)):
        assert re.findall(r"`(test\.\d+)` \+(\d\.\d)", text) == [
            (unit, f"{change:.1f}") for unit, change in units(12)[: forms.SHOWN]
        ]
        assert "12 examples" in text
        assert "2 more" in text
    few = of(DatasetDecision(line("gad"), REGRESSION, 0.004, ("fell",), units(1)))
    assert "more\n" not in forms.job_summary(few)
    assert "1 example worse by" in forms.job_summary(few)


def test_probes_are_said_to_be_judged_by_another_test() -> None:
    import numpy as np

    swapped = WelchComparison(-1.0, 0.5, 9, np.array([-1.0, 1.0]))
    probes = of(DatasetDecision(ScoreComparison("gad", 79.0, 80.0, (1, 1), swapped), PASS, 0.5))
    for decision, paired in ((probes, True), (DECISION, False)):
        assert (PAIRED in forms.job_summary(decision)) is paired
        label = {False: "runs", True: "paired over test units"}[paired]
        assert records.of(forms.Check, decision)["paired"] is paired
        assert properties(parsed(decision).find("testsuite"))["test"] == label


def held(text: str) -> str:
    """What XML 1.0 can hold of a text (section 2.2, Char)."""
    return "".join(
        one
        for one in text
        if one in "\t\n" or " " <= one <= "\ud7ff" or "\ue000" <= one <= "\ufffd" or one > "\uffff"
    )


@given(name=TEXT, reason=TEXT, unit=TEXT, candidate=TEXT)
@example(name="a\x00b", reason="\ufffe", unit="\uffff", candidate='<&>"\x1b]')
def test_no_name_and_no_reason_breaks_a_report(
    name: str, reason: str, unit: str, candidate: str
) -> None:
    finding = DatasetDecision(line(name), REGRESSION, 0.01, (reason,), [(unit, 1.0)])
    root = parsed(of(finding, candidate=candidate))
    (case,), (failure,) = root.iter("testcase"), root.iter("failure")
    assert (case.get("name"), case.get("classname")) == (held(name), held(candidate))
    assert failure.get("message") == held(reason)
    assert f"`{held(unit)}` +1.0" in failure.text


def unescaped(text: str) -> str:
    """What GitHub's runner makes of a part of a command (`ActionCommand.Unescape`): %25 comes last."""
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


@given(name=TEXT, reason=TEXT)
@example(name="a:b,c%3A", reason="50 %\r\nof%25")
def test_no_name_and_no_reason_breaks_a_command_of_github(name: str, reason: str) -> None:
    (command,) = forms.workflow_commands(
        of(DatasetDecision(line(name), REGRESSION, 0.01, (reason,)))
    )
    assert "\n" not in command
    assert "\r" not in command
    found = re.fullmatch(r"::error title=([^:,]*)::(.*)", command, re.DOTALL)
    assert unescaped(found[1]) == f"blurb {name}"
    assert unescaped(found[2]) == reason


@given(name=TEXT, reason=TEXT, candidate=TEXT)
@example(name="a|b\\", reason="one\rtwo\r\nthree", candidate="<b>\\|")
def test_no_name_and_no_reason_breaks_a_table_of_markdown(
    name: str, reason: str, candidate: str
) -> None:
    text = forms.job_summary(
        of(DatasetDecision(line(name), REGRESSION, 0.01, (reason,)), candidate=candidate)
    )
    lines = re.split(r"\r\n|\r|\n", text)  # as CommonMark ends lines
    written = [one for one in lines if one.startswith("|")]
    assert len(lines) == 8
    assert len(written) == 3
    for row in written:
        assert len(re.split(r"(?<!\\)(?:\\\\)*\|", row)) == len(forms.COLUMNS) + 2
        assert "<" not in row


# What is said beside a pass, and where the examples are. Oracle: the figures of the rows, by hand.


def row(model: str, values: list[float], task: str = "gad") -> Row:
    return invented.row(model, {task: values}, split="dev")


FAR = [20.0, 60.0]
"""Two runs that are far from each other, as the guide warns of."""


def test_a_large_drop_that_passes_is_said_with_the_limit_that_would_judge_it() -> None:
    (finding,) = decide_check(row("new", FAR), row("old", [79.0, 81.0]), Rules()).findings
    assert finding.outcome is Outcome.PASS
    assert finding.hint.startswith("passes with a drop of 40.00 points")
    assert (
        f"{finding.line.comparison.detectable_at(0.1):.2f} points are seen in four of five cases"
        in finding.hint
    )
    assert "with 2 / 2 runs" in finding.hint
    limit = float(re.findall(r"--max-drop ([\d.]+)", finding.hint)[0])
    judged = decide_check(row("new", FAR), row("old", [79.0, 81.0]), Rules(default=Limit(limit)))
    assert (limit, judged.outcome) == (5.0, Outcome.REGRESSION)


@pytest.mark.parametrize("drop", [2.0, 2.01, 2.5, 3.0, 3.7, 5.0, 5.2, 30.0])
def test_the_limit_that_is_named_is_one_that_the_drop_breaks(drop: float) -> None:
    old = [80.0, 80.0 + 3 * drop, 80.0 - 3 * drop]
    (finding,) = decide_check(
        row("new", [value - drop for value in old]), row("old", old), Rules()
    ).findings
    limit = float(re.findall(r"--max-drop ([\d.]+)", finding.hint)[0])
    assert 1.0 <= limit < drop
    assert limit <= 5.0


def test_small_drops_rises_and_judged_ones_have_no_hint() -> None:
    for values in ([79.0, 81.0, 78.5], [90.0, 70.0, 95.0]):
        assert (
            decide_check(row("new", values), row("old", [79.0, 81.0, 80.0]), Rules())
            .findings[0]
            .hint
            == ""
        )
    assert (
        decide_check(row("new", FAR), row("old", [79.0, 81.0]), Rules(default=Limit(50.0)))
        .findings[0]
        .hint
        == ""
    )
    fell = decide_check(
        row("new", [50.0, 50.1, 50.2]), row("old", [80.0, 80.1, 80.2]), Rules()
    ).findings[0]
    assert (fell.outcome, fell.hint) == (Outcome.REGRESSION, "")


@pytest.fixture
def folder(here: Path) -> Path:
    """`good`, `bad`, and `odd`, of which one run of three is far off."""
    store = Store(here / "my runs")
    play(store, "good", {"gad": 0.9, "biosses": 0.9})
    play(store, "bad", {"gad": 0.4, "biosses": 0.9})
    tables.rebuild(store, here / "leaderboard.csv")
    return here


def blurb(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


@pytest.mark.extensions
def test_the_command_that_shows_the_examples_works_as_it_stands(folder: Path) -> None:
    result = blurb("check", "bad", "--baseline", "good", "--output", "my runs")
    assert result.exit_code == 1
    (line,) = (
        line for line in result.output.splitlines() if line.startswith("The examples: blurb ")
    )
    typed = shlex.split(line.removeprefix("The examples: blurb "))
    assert typed == [
        "diff",
        "bad",
        "good",
        "--task",
        "gad",
        "--split",
        "dev",
        "--output",
        "my runs",
    ]
    assert blurb(*typed).exit_code == 0
    assert "bad quick is worse than good quick on gad." in result.output
    assert result.output.splitlines()[-1] == "regression"


def test_a_table_says_that_it_has_no_examples(folder: Path) -> None:
    for sides in (("results.csv:bad", "results.csv:good"), ("results.csv:bad", "my runs:good")):
        result = blurb("check", sides[0], "--baseline", sides[1])
        assert (result.exit_code, "A table alone has no examples" in result.output) == (1, True)
        assert "blurb diff" not in result.output


def test_intervals_end_where_the_metric_ends() -> None:
    wide = invented.row("m", {"gad": [5.0, 99.0], "biosses": [-90.0, 95.0], "hoc": [1.0, 100.0]})
    values = intervals.numbers(wide)
    assert values["gad"].interval == (0.0, 100.0)
    assert values["biosses"].interval == (-100.0, 100.0)
    assert values["hoc"].interval == (0.0, 100.0)
    lines = {line.name: line for line in compare_rows(wide, wide, "test", with_units=False)}
    assert lines["gad"].interval == (-100.0, 100.0)
    assert lines["biosses"].interval == (-200.0, 200.0)


def test_the_mean_of_one_dataset_has_the_interval_of_the_dataset(folder: Path) -> None:
    """On the page BIOSSES had 76.6 to 90.1, and the mean of its type, the same number, 76.6 to 90.2."""
    several = invented.row(
        "m", {"biosses": [80.0, 83.0, 90.0], "hoc": [70.0, 71.0, 75.0], "ebm-pico": [60.0, 65.0]}
    )
    values = intervals.numbers(several)
    for kind, task in (("similarity", "biosses"), ("document", "hoc"), ("pico", "ebm-pico")):
        assert values[kind] == values[task]

    for one in from_store.read(Store(folder / "my runs")):
        stored = intervals.numbers(one)
        assert stored["similarity"] == stored["biosses"]


def test_one_sign_everywhere(folder: Path) -> None:
    """Candidate minus baseline, first minus second: in both commands, in text and JSON."""
    checked = json.loads(
        blurb(
            "check",
            "bad",
            "--baseline",
            "good",
            "--output",
            "my runs",
            "--split",
            "test",
            "--format",
            "json",
        ).output
    )
    compared = json.loads(
        blurb("compare", "bad", "good", "--output", "my runs", "--format", "json").output
    )
    for one in checked["findings"]:
        (two,) = (line for line in compared if line["name"] == one["name"])
        assert one["difference"] == pytest.approx(two["difference"], abs=1e-6)
        assert one["difference"] == pytest.approx(
            one["candidate_score"] - one["baseline_score"], abs=1e-5
        )
        assert two["difference"] == pytest.approx(two["first_score"] - two["other_score"])
    assert {line["name"]: line["verdict"] for line in compared}["gad"] == "lower"
    text = blurb("compare", "bad", "good", "--output", "my runs").output
    assert "bad quick is lower than good quick on gad." in text
    assert text.startswith("bad quick minus good quick, test\n")
    assert blurb("check", "bad", "--baseline", "good", "--output", "my runs").output.startswith(
        "bad quick minus good quick, dev\n"
    )


def test_every_form_says_what_was_passed_over(folder: Path) -> None:
    typed = (
        "check",
        "good",
        "--baseline",
        "good",
        "--output",
        "my runs",
        "--across",
        "protocol",
        "--across",
        "recipe",
    )
    told = blurb(*typed, "--junit", "j.xml", "--summary", "s.md").output
    for text in (told, Path("s.md").read_text()):
        assert "Judged across protocol, recipe, as asked for." in text
    assert '<property name="across" value="protocol, recipe"' in Path("j.xml").read_text()
    assert json.loads(blurb(*typed, "--format", "json").output)["across"] == ["protocol", "recipe"]

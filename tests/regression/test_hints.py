"""What is said beside a pass, and where the examples are. Oracle: the figures of the rows, by hand."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.leaderboard import intervals
from blurb.regression import Outcome, Rules, decide_check
from blurb.regression.rules import Limit
from blurb.results import tables
from blurb.results.comparison import compare_rows
from blurb.results.row import Row
from blurb.store.store import Store
from tests.results import invented
from tests.results.played import play


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
    from blurb.results import from_store

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

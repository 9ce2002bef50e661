"""What `blurb run` says before anything trains, and what a budget buys; encoders are timed by made-up rates."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.cost import budget, calibration, model as cost
from blurb.cost.model import Estimate
from blurb.execution.environment import threads_of
from blurb.messages.errors import SettingsError
from blurb.planning.trials import Planned
from blurb.terminal.progress import NOT_IN_BUDGET
from tests.cost.settings import rates

COMMON = ["run", "scratch:tiny", "--suite", "demo", "--device", "cpu", "--precision", "fp32"]
SMOKE = [*COMMON, "--protocol", "smoke"]


@pytest.fixture
def asked(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """A step takes a minute, and a pass nothing; the calibrations that were asked for."""
    found: list[tuple[object, ...]] = []

    def made_up(*given: object) -> object:
        found.append(given)
        return rates(step=60.0)

    monkeypatch.setattr(calibration, "rates_of", made_up)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_a_dry_run_says_time_and_memory(asked: list[tuple[object, ...]], tmp_path: Path) -> None:
    result = run(*SMOKE, "--tasks", "gad,biosses", "--seeds", "2", "--dry-run")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["task", "trials", "time", "memory"] in lines
    gad = next(line for line in lines if line[:2] == ["gad", "2"])
    assert gad[2:4] == ["8", "min"]  # 64 units are 4 steps, two seeds are 8
    text = " ".join(result.stdout.split())
    assert "Nothing was run or written" in text
    assert re.search(r"4 trials, 1 at a time: about 1[67] min, ", text)  # tokenising counts, too
    assert re.search(r"\d+ MB of memory\. ", text)
    assert "not yet checked against finished trials" in text
    assert len(asked) == 1
    assert not (tmp_path / "runs").exists()


def test_with_jobs_it_is_the_time_of_the_schedule(asked: list[tuple[object, ...]]) -> None:
    result = run(*SMOKE, "--tasks", "gad,biosses,hoc", "--dry-run", "--jobs", "2")
    assert "3 trials, 2 at a time: about 8 min" in result.stdout
    assert asked[0][3] == threads_of(2)


@pytest.mark.costly
def test_a_run_says_it_first_and_its_own_trials_correct_the_next_one(
    asked: list[tuple[object, ...]],
) -> None:
    first = run(*SMOKE, "--tasks", "gad")
    assert first.exit_code == 0
    assert first.stderr.index("1 trial, 1 at a time: about 4 min") < first.stderr.index("[1/1]")
    assert "at a time" not in first.stdout
    second = run(*SMOKE, "--tasks", "gad", "--seeds", "2", "--dry-run").stdout
    assert "Based on 1 finished trial or more" in second
    assert re.search(
        r"1 trial, 1 at a time: about [2-7]\d s", second
    )  # one trial corrects by its cube root
    both = run(*SMOKE, "--tasks", "gad,biosses", "--seeds", "2", "--dry-run").stdout
    assert "not yet checked against finished trials" in both  # those of GAD say little of BIOSSES
    assert run(*SMOKE, "--tasks", "gad", "--seeds", "3").exit_code == 0
    assert re.search(
        r"2 trials, 1 at a time: about \d+ s",
        run(*SMOKE, "--tasks", "gad", "--seeds", "5", "--dry-run").stdout,
    )


@pytest.mark.parametrize(("load", "told"), [(0.4, False), (7.5, True)])
def test_a_busy_machine_is_said(
    asked: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch, load: float, told: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    text = run(*SMOKE, "--tasks", "gad", "--dry-run").stdout
    assert ("The machine is busy (load 7.5 on 2 cores)" in text) == told


def test_what_is_done_needs_no_estimate(asked: list[tuple[object, ...]]) -> None:
    command = [
        "run",
        "baseline:majority",
        "--suite",
        "demo",
        "--protocol",
        "smoke",
        "--tasks",
        "gad",
    ]
    assert run(*command).exit_code == 0
    assert "The trial is done." in run(*command, "--dry-run").stdout
    assert asked == []  # nor does a baseline need a calibration


def test_the_time_of_a_baseline_is_that_of_finished_ones(asked: list[tuple[object, ...]]) -> None:
    command = ["run", "baseline:bigrams", "--suite", "demo", "--tasks"]
    unknown = run(*command, "gad,biosses", "--dry-run").stdout
    assert re.search(r"gad +1 +unknown +600 MB", unknown)
    assert "2 trials, 1 at a time: time unknown, 600 MB of memory." in unknown
    assert (
        "Unknown times (2 trials) count as nothing; finished trials of this store tell them."
        in unknown
    )
    first = run(*command, "gad,biosses", "--protocol", "smoke")
    assert " left" not in first.stderr
    known = run(*command, "gad", "--protocol", "quick", "--dry-run").stdout
    assert re.search(
        r"1 trial, 1 at a time: about [0-9.]+ s, 600 MB of memory\.\nBased on 1 finished trial or more",
        known,
    )
    assert (
        "time unknown" in run(*command, "hoc", "--dry-run").stdout
    )  # none of its type is finished
    assert asked == []


def test_a_budget_is_for_times_that_are_predicted(asked: list[tuple[object, ...]]) -> None:
    command = ["--suite", "demo", "--tasks", "gad", "--budget", "1s", "--dry-run"]
    assert re.search(r"standard +1 s +chosen", run("run", "baseline:majority", *command).stdout)
    with pytest.raises(
        SettingsError, match="the time of baseline:bigrams is not predicted; use --protocol instead"
    ):
        run("run", "baseline:bigrams", "baseline:majority", *command)


@pytest.mark.costly
def test_an_encoder_that_cannot_be_timed_is_no_reason_not_to_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> object:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(calibration, "rates_of", broken)
    result = run(*SMOKE, "--tasks", "gad")
    assert result.exit_code == 0
    assert "No estimate available: RuntimeError: shapes cannot be multiplied" in result.stderr
    with pytest.raises(SettingsError, match=r"cannot predict the time .*; use --protocol"):
        run(*COMMON, "--tasks", "gad", "--budget", "1h")


def test_the_search_counts_and_its_winner_is_not_run_twice(
    asked: list[tuple[object, ...]], tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        "seeds = 3\n[all]\nbatch_size = 16\nepochs = 1\nmax_train = 64\nmax_eval = 64\n[search]\nlr = [1e-4, 1e-3]\n"
    )
    result = run(*COMMON, "--protocol", "mine.toml", "--tasks", "gad", "--dry-run")
    assert "4 trials, 1 at a time: about 16 min" in result.stdout  # two rates, then seeds 2 and 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "0m"], "must be positive and finite"),
        (["--budget", "soon"], r"such as 90s, 10m, 2h or 1h30m \(got 'soon'\)"),
        (["--budget", "10m", "--protocol", "quick"], "remove --protocol"),
        (["--budget", "10m", "--seeds", "3"], "remove --seeds"),
        (["--budget", "0.1s"], r"nothing fits into 1 s. The cheapest, probe on"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(
    asked: list[tuple[object, ...]], tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        run(*COMMON, "--tasks", "gad,biosses", *arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.costly
def test_a_budget_says_what_it_chose_and_what_the_others_take(
    asked: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """22 minutes an epoch of the demo's GAD in `standard`, which has 10 with 5 seeds; 176 updates in `quick`."""
    whole = run(*COMMON, "--tasks", "gad", "--budget", "10000h", "--dry-run").stdout
    told = [" ".join(line.split()) for line in whole.splitlines()]
    expected = [
        "sketch 2 h 30 min",
        "quick 2 h 56 min",
        "quick with 3 seeds 8 h 48 min",
        "standard 18 h 20 min chosen",
    ]
    assert told[0].startswith("probe ")
    assert told[1:6] == [*expected, f"Budget 10000h: standard. {NOT_IN_BUDGET}"]
    assert sum(line.startswith("run ") for line in told) == 5
    cheap = run(*COMMON, "--tasks", "biosses,gad", "--budget", "4h", "--dry-run").stdout
    assert "Budget 4h: probe." in cheap
    assert len({given[0] for given in asked}) == 1
    monkeypatch.setattr(budget, "LADDER", budget.LADDER[2:])
    some = run(*COMMON, "--tasks", "biosses,gad", "--budget", "180m", "--dry-run").stdout
    assert "Budget 180m: quick on gad; no time for biosses." in some
    assert sum(line.startswith(" run") for line in some.splitlines()) == 1


@pytest.mark.costly
@pytest.mark.parametrize(("given", "rungs"), [("10000h", None), ("180m", slice(2, None))])
def test_the_rung_that_was_chosen_is_not_predicted_twice(
    asked: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
    given: str,
    rungs: slice | None,
) -> None:
    """Once a rung, also where only a part of the tasks fits; what is said is as if the rung had been named."""
    made: list[int] = []
    make = cost.estimate

    def counted(planned: Sequence[Planned], *more: Any) -> Estimate:
        made.append(len(planned))
        return make(planned, *more)

    if rungs is not None:
        monkeypatch.setattr(budget, "LADDER", budget.LADDER[rungs])
    monkeypatch.setattr(cost, "estimate", counted)
    told = run(*COMMON, "--tasks", "biosses,gad", "--budget", given, "--dry-run").stdout
    assert made == [1] * len(budget.LADDER)
    (chosen,) = re.findall(r"^Budget \w+: (\w+)(?: on (\w+))?", told, re.MULTILINE)
    named = run(
        *COMMON, "--tasks", chosen[1] or "biosses,gad", "--protocol", chosen[0], "--dry-run"
    ).stdout

    def sentence(text: str) -> str:
        return re.search(r"\d+ trials?, 1 at a time: [^,]*,", text)[0]  # type: ignore[index]

    assert sentence(told) == sentence(named)


def test_a_rung_that_does_not_go_with_the_settings_is_named_and_left_out(
    asked: list[tuple[object, ...]],
) -> None:
    """A probe has no learning rate: `--budget 1h --set lr=1e-3` ended with that."""
    text = run(*COMMON, "--tasks", "gad", "--budget", "4h", "--set", "lr=1e-3", "--dry-run").stdout
    assert re.search(r"probe\s+not possible: .*lr does not apply to a probe", text)
    assert "Budget 4h: quick." in text
    with pytest.raises(SettingsError, match="mention"):  # no rung can
        run(*COMMON, "--tasks", "biosses", "--budget", "4h", "--pooling", "mention", "--dry-run")

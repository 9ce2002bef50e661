"""What `--dry-run` says, and what a budget buys; a trial of an encoder takes a minute to start and nothing else."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.cost import budget, estimator
from blurb.cost.work import TimedStep
from blurb.execution.environment import threads_of
from blurb.execution.job import Job
from blurb.messages.errors import SettingsError
from blurb.terminal.progress import NOT_IN_BUDGET
from tests.cost.settings import made_up_step

COMMON = ["run", "scratch:tiny", "--suite", "demo", "--device", "cpu", "--precision", "fp32"]
SMOKE = [*COMMON, "--protocol", "smoke"]


Asked = list[tuple[Job, int]]


@pytest.fixture
def asked(here: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The steps that were timed."""
    return made_up_step(monkeypatch, TimedStep(60.0, 0.0, 0.0))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_a_dry_run_says_time_and_memory(asked: Asked, tmp_path: Path) -> None:
    result = run(*SMOKE, "--tasks", "gad,biosses", "--seeds", "2", "--dry-run")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["task", "trials", "time", "memory"] in lines
    assert next(line for line in lines if line[:2] == ["gad", "2"])[2:4] == ["2", "min"]
    text = " ".join(result.stdout.split())
    assert "Nothing was run or written" in text
    assert re.search(r"4 trials, 1 at a time: about 4 min, \d+ MB of memory\. ", text)
    assert "Based on a timed step of each encoder" in text
    assert len(asked) == 1
    assert not (tmp_path / "runs").exists()


def test_with_jobs_it_is_the_time_of_the_schedule(asked: Asked) -> None:
    result = run(*SMOKE, "--tasks", "gad,biosses,hoc", "--dry-run", "--jobs", "2")
    assert "3 trials, 2 at a time: about 2 min" in result.stdout
    assert asked[0][1] == threads_of(2)


@pytest.mark.costly
def test_a_plain_run_times_nothing_and_its_trials_tell_the_next_one(asked: Asked) -> None:
    first = run(*SMOKE, "--tasks", "gad", "--seeds", "2")
    assert (first.exit_code, asked) == (0, [])
    assert "at a time" not in first.stderr
    assert re.search(r"\[1/2\].*; about \d+ s left", first.stderr)
    second = run(*SMOKE, "--tasks", "gad", "--seeds", "3", "--dry-run").stdout
    assert re.search(r"1 trial, 1 at a time: about \d+ s", second)
    assert "Based on finished trials of this store." in second
    both = run(*SMOKE, "--tasks", "gad,biosses", "--seeds", "3", "--dry-run").stdout
    assert "Based on a timed step" in both


@pytest.mark.extensions
def test_trials_that_run_elsewhere_are_not_timed_here(asked: Asked) -> None:
    found = run(*SMOKE, "--tasks", "gad", "--engine", "ray,address=auto", "--dry-run").stdout
    assert "1 trial, 1 at a time: time unknown" in found
    assert "Unknown times (1 trial) count as nothing" in found
    assert asked == []


@pytest.mark.parametrize(("load", "told"), [(0.4, False), (7.5, True)])
def test_a_busy_machine_is_said(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, load: float, told: bool
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    text = run(*SMOKE, "--tasks", "gad", "--dry-run").stdout
    assert ("The machine is busy (load 7.5 on 2 cores)" in text) == told


def test_what_is_done_needs_no_estimate(asked: Asked) -> None:
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


def test_a_baseline_takes_under_a_minute_or_what_finished_ones_took(asked: Asked) -> None:
    command = ["run", "baseline:bigrams", "--suite", "demo", "--tasks", "gad,biosses"]
    unknown = run(*command, "--dry-run").stdout
    assert re.search(r"gad +1 +under 1 min +600 MB", unknown)
    assert "2 trials, 1 at a time: under 1 min, 600 MB of memory." in unknown
    assert "A rough figure for this baseline" in unknown
    run(*command, "--protocol", "smoke")
    known = run(*command, "--protocol", "smoke", "--set", "max_train=60", "--dry-run").stdout
    assert re.search(
        r"2 trials, 1 at a time: about [0-9.]+ s, 600 MB of memory\.\nBased on fin", known
    )
    assert asked == []


def test_a_budget_is_for_times_that_are_predicted(asked: Asked) -> None:
    command = ["--suite", "demo", "--tasks", "gad", "--budget", "1m", "--dry-run"]
    assert re.search(
        r"standard +under 1 min +chosen", run("run", "baseline:majority", *command).stdout
    )


@pytest.mark.extensions
def test_a_budget_for_a_time_that_nobody_predicts_is_refused(asked: Asked) -> None:
    with pytest.raises(
        SettingsError, match="the time of scratch:tiny is not predicted; use --protocol"
    ):
        run(
            *COMMON, "--tasks", "gad", "--budget", "1m", "--dry-run", "--engine", "ray,address=auto"
        )


@pytest.mark.costly
def test_an_encoder_that_cannot_be_timed_is_no_reason_not_to_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: object) -> object:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(estimator, "time_step", broken)
    result = run(*SMOKE, "--tasks", "gad", "--dry-run")
    assert result.exit_code == 0
    assert "No estimate available: RuntimeError: shapes cannot be multiplied" in result.stderr
    with pytest.raises(SettingsError, match=r"cannot predict the time .*; use --protocol"):
        run(*COMMON, "--tasks", "gad", "--budget", "1h")


def test_the_search_counts_and_its_winner_is_not_run_twice(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        "seeds = 3\n[all]\nbatch_size = 16\nepochs = 1\nmax_train = 64\nmax_eval = 64\n[search]\nlr = [1e-4, 1e-3]\n"
    )
    result = run(*COMMON, "--protocol", "mine.toml", "--tasks", "gad", "--dry-run")
    assert "4 trials, 1 at a time: about 4 min" in result.stdout  # two rates, then seeds 2 and 3


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
    asked: Asked, tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        run(*COMMON, "--tasks", "gad,biosses", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_budget_says_what_it_chose_and_what_the_others_take(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minute a trial: three seeds are three, and `standard` has five of GAD and ten of BIOSSES."""
    whole = run(*COMMON, "--tasks", "gad,biosses", "--budget", "15m", "--dry-run").stdout
    told = [" ".join(line.split()) for line in whole.splitlines()]
    assert told[:6] == [
        "probe 2 min",
        "sketch 2 min",
        "quick 2 min",
        "quick with 3 seeds 6 min",
        "standard 15 min chosen",
        f"Budget 15m: standard. {NOT_IN_BUDGET}",
    ]
    assert sum(line.startswith("run ") for line in told) == 15
    # One step for training and one for the frozen encoder.
    assert len(asked) == 2
    monkeypatch.setattr(budget, "LADDER", budget.LADDER[2:])
    some = run(*COMMON, "--tasks", "biosses,gad", "--budget", "1m", "--dry-run").stdout
    assert re.search(r"Budget 1m: quick on (gad|biosses); no time for (gad|biosses)\.", some)
    assert sum(line.startswith(" run") for line in some.splitlines()) == 1


def test_a_rung_that_does_not_go_with_the_settings_is_named_and_left_out(asked: Asked) -> None:
    """A probe has no learning rate: `--budget 1h --set lr=1e-3` ended with that."""
    text = run(*COMMON, "--tasks", "gad", "--budget", "4h", "--set", "lr=1e-3", "--dry-run").stdout
    assert re.search(r"probe\s+not possible: .*lr does not apply to a probe", text)
    assert "Budget 4h: standard." in text
    with pytest.raises(SettingsError, match="mention"):  # no rung can
        run(*COMMON, "--tasks", "biosses", "--budget", "4h", "--pooling", "mention", "--dry-run")

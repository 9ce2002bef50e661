"""`blurb check` and `blurb compare`: exit codes, what is shown, and every form of the answer."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from blurb import regression
from blurb.results import tables
from blurb.store.store import Store
from tests.cli.in_process import ran, run
from tests.cli.test_start_up import loaded
from tests.results import invented
from tests.results.played import NAMES, play
from tests.rewriting import csv_lines, write_lines

SHARE = 0.85
DATASETS = ("ncbi-disease", "gad", "biosses")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, an equal checkpoint, one that fell on NCBI-disease, one without BIOSSES."""
    folder = tmp_path_factory.mktemp("check")
    store = Store(folder / "runs")
    shares = dict.fromkeys(DATASETS, SHARE)
    play(store, "old", shares, range(1, 6))
    play(store, "equal", shares, range(1, 6))
    play(store, "fell", {**shares, "ncbi-disease": SHARE - 0.1}, range(1, 6))
    play(store, "without", {"ncbi-disease": SHARE, "gad": SHARE}, range(1, 6))
    tables.rebuild(store, folder / "leaderboard.csv")
    return folder


@pytest.fixture
def blurb(folder: Path, monkeypatch: pytest.MonkeyPatch, here: Path) -> Callable[..., Result]:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: run(*arguments, "--output", str(folder / "runs"))


def test_check_loads_no_torch(folder: Path) -> None:
    typed = ["check", "fell", "--baseline", "old", "--split", "test"]
    assert loaded([typed], ("torch", "transformers"), folder) == [("1", [])]


@pytest.mark.costly
def test_run_checks_what_it_ran(here: Path) -> None:
    common = ["run", "--suite", "demo", "--tasks", "gad,hoc", "--protocol", "smoke"]
    ran([*common, "baseline:majority", "--name", "old"])
    result = run(*common, "baseline:constant", "--name", "new", "--check", "olt")
    assert "Did you mean 'old'" in str(result.exception)
    assert not list((here / "runs").glob("new*"))
    (here / "blurb-check.toml").write_text("max_drop = 1.0\n")
    result = run(*common, "baseline:constant", "--name", "new", "--check", "old")
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "pass")
    (here / "blurb-check.toml").write_text("[datasets.gad]\nmin_score = 99.0\n")
    result = run(*common, "baseline:constant", "--name", "new", "--check", "old")
    assert result.exit_code == 1


def test_other_datasets_of_a_row_change_no_answer(
    folder: Path, blurb: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "blurb-check.toml").write_text('tasks = "ncbi-disease"\n')
    found = json.loads(blurb("check", "fell", "--baseline", "old", "--format", "json").output)[
        "findings"
    ]
    rows = csv_lines(folder / "results.csv")
    write_lines(tmp_path / "results.csv", [row for row in rows if row["task"] == "ncbi-disease"])
    alone = json.loads(
        blurb(
            "check", "results.csv:fell", "--baseline", "results.csv:old", "--format", "json"
        ).output
    )["findings"]
    assert [one["p_drop"] for one in alone] == pytest.approx(
        [one["p_drop"] for one in found], abs=1e-4
    )


@pytest.mark.parametrize(
    ("column", "old", "new", "reason"),
    [
        ("metrics_version", "1", "0", "different versions of the metrics"),
        ("planned", "5", "6", "5 of 6 seeds"),
        ("data_hash", "d", "f", "different data"),
    ],
)
def test_what_a_table_says_of_one_dataset_counts(
    folder: Path,
    blurb: Callable[..., Result],
    tmp_path: Path,
    column: str,
    old: str,
    new: str,
    reason: str,
) -> None:
    rows = csv_lines(folder / "results.csv")
    for row in rows:
        if (
            row["task"] == "gad"
            and row["model"] == "equal"
            and (column != "data_hash" or row["seed"] == "2")
        ):
            assert row[column] == old
            row[column] = new
    write_lines(tmp_path / "results.csv", rows)
    result = blurb("check", "results.csv:equal", "--baseline", "old", "--split", "test")
    assert (result.exit_code, reason in result.output) == (2, True)


@pytest.mark.costly
def test_a_checkpoint_passes_against_its_own_table(
    folder: Path, blurb: Callable[..., Result]
) -> None:
    for name in ("old", "equal", "fell"):
        reference = f"{folder / 'results.csv'}:{name}"
        assert blurb("check", name, "--baseline", reference, "--max-drop", "0").exit_code == 0


@pytest.mark.costly
def test_a_limit_of_the_score_asks_for_all_its_datasets(
    folder: Path, blurb: Callable[..., Result], tmp_path: Path
) -> None:
    """Whatever else is asked for: three of thirteen are no score, which is never a pass."""
    (tmp_path / "blurb-check.toml").write_text(
        'tasks = "ncbi-disease"\n[overall]\nmax_drop = 0.5\n'
    )
    result = blurb("check", "equal", "--baseline", "old", "--split", "test")
    assert (result.exit_code, "needs all thirteen datasets" in result.output) == (2, True)
    for name in ("whole", "again"):
        play(Store(folder / "runs"), name, dict.fromkeys(NAMES, SHARE), range(1, 6))
    assert blurb("check", "again", "--baseline", "whole", "--split", "test").exit_code == 0


@pytest.mark.costly
@pytest.mark.parametrize("runs", [3, 10])
def test_under_the_null_the_whole_answer_is_seldom_red(runs: int) -> None:
    """All datasets and the score together: the level is that of the answer, not of each line in it."""
    random = np.random.default_rng(runs)
    red = 0
    for _ in range(600):
        sides = []
        for name in ("old", "new"):
            scores = {task: random.normal(80, 1, runs).tolist() for task in NAMES}
            sides.append(invented.row(name, scores, split="dev"))
        red += (
            regression.decide_check(sides[1], sides[0], regression.Rules()).outcome
            == regression.Outcome.REGRESSION
        )
    assert red / 600 <= 0.07


BESIDE = (
    "--junit",
    "--junit .",
    "--junit /",
    "--summary",
    "--summary .",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_STEP_SUMMARY to a folder",
)
"""What is written beside a decision."""


@pytest.mark.parametrize("place", BESIDE)
@pytest.mark.parametrize(("candidate", "code"), [("equal", 0), ("fell", 1), ("without", 2)])
def test_what_cannot_be_written_never_changes_a_decision(
    candidate: str,
    code: int,
    place: str,
    blurb: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A pass is none without a file that was asked for by name; what the job asks for changes nothing."""
    (tmp_path / "file").touch()
    nowhere = str(tmp_path if place.endswith("folder") else tmp_path / "file" / "below")
    name, _, where = place.partition(" ")
    if by_name := place.startswith("--"):
        result = blurb(
            "check", candidate, "--baseline", "old", "--split", "test", name, where or nowhere
        )
    else:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", nowhere)
        result = blurb("check", candidate, "--baseline", "old", "--split", "test")
    assert result.exit_code == (code or 2 if by_name else code)
    decision = {0: "\npass\n", 1: "\nregression\n", 2: "\ncannot judge\n"}[code]
    assert decision in result.output
    assert result.output.index(decision) < result.output.index("Not written: ")


def test_what_is_asked_for_by_name_is_not_written_to_the_job(
    blurb: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "job.md"))
    blurb(
        "check",
        "equal",
        "--baseline",
        "old",
        "--split",
        "test",
        "--summary",
        str(tmp_path / "named.md"),
    )
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".md"] == ["named.md"]

"""What is gone, damaged or cannot be read never lets `blurb check` pass: the cases of an audit, and their kin."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.messages.errors import BlurbError, SettingsError
from blurb.regression.rules import Limit
from blurb.results import tables
from blurb.row_files.references import file_rows
from blurb.store.store import Store
from tests.cli.in_process import run
from tests.results import invented
from tests.results.played import play

NAMES = ("ncbi-disease", "gad", "biosses")


@pytest.fixture
def store(here: Path) -> Store:
    """A baseline and a candidate as good, three datasets and seeds each."""
    found = Store(here / "runs")
    for name in ("good", "cand"):
        play(found, name, dict.fromkeys(NAMES, 0.8))
    return found


def check(*arguments: str) -> tuple[int, str]:
    """Exit code, as `blurb.cli._exit.run` gives it, and all that was said."""
    result = run("check", *arguments)
    known = isinstance(result.exception, BlurbError)
    return 2 if known else result.exit_code, result.output + (
        str(result.exception) if known else ""
    )


def test_a_dataset_that_is_gone_from_the_baseline_is_asked_for_all_the_same(
    store: Store, tmp_path: Path
) -> None:
    shutil.rmtree(store.root / "good" / "gad")
    code, told = check("cand", "--baseline", "good", "--max-drop", "50")
    assert (code, "gad: the baseline has 0 of 3 seeds." in told) == (2, True)
    assert (
        check("cand", "--baseline", "good", "--max-drop", "50", "--tasks", "biosses,ncbi-disease")[
            0
        ]
        == 0
    )
    assert check("cand", "--baseline", "good", "--max-drop", "50", "--tasks", "gad")[0] == 2
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    for table in ("results.csv", "leaderboard.csv"):  # the plan of the row stands in both
        code, told = check("cand", "--baseline", f"{table}:good", "--max-drop", "50")
        assert (code, "gad: the baseline has 0 of 3 seeds." in told) == (2, True), table
    (tmp_path / "alone").mkdir()
    shutil.copy("leaderboard.csv", "alone")
    options = ("--split", "test", "--max-drop", "50", "--across", "unknown")
    code, told = check(
        "alone/leaderboard.csv:cand", "--baseline", "alone/leaderboard.csv:good", *options
    )
    assert (code, "gad: the baseline has 0 of 3 seeds." in told) == (2, True)
    assert check("cand", "--baseline", "cand", "--max-drop", "50")[0] == 0


def test_damage_of_a_row_that_is_not_compared_is_no_matter_of_a_check(store: Store) -> None:
    play(store, "hurt", {"gad": 0.8})
    for path in store.root.glob("hurt/gad/*/predictions.parquet"):
        path.write_bytes(b"cut")
    result = run("check", "cand", "--baseline", "good")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_dataset_that_the_candidate_lost_or_never_planned_is_missing(store: Store) -> None:
    play(store, "less", dict.fromkeys(NAMES[:2], 0.8))
    shutil.rmtree(store.root / "cand" / "gad")
    for name, lost in (("cand", "gad"), ("less", "biosses")):
        code, told = check(name, "--baseline", "good", "--max-drop", "50")
        assert (code, f"{lost}: missing in the candidate." in told) == (2, True)


ODD = [float("nan"), float("inf"), -float("inf"), 7.0, 1.01, -0.01, 1e30, None, "0.8", True]


@pytest.mark.costly
@pytest.mark.parametrize("side", ["cand", "good"])
@pytest.mark.parametrize("value", ODD, ids=map(str, ODD))
def test_a_figure_that_there_cannot_be_is_damage(value: Any, side: str, store: Store) -> None:
    path = min((store.root / side / "gad").glob("*/metrics.json"))
    content = json.loads(path.read_text())
    content["dev"][content["metric"]] = value
    path.write_text(json.dumps(content))
    store.seal(path.parent)
    code, told = check("cand", "--baseline", "good", "--max-drop", "99")
    assert code == 2
    assert "nan" not in told.split("Damaged:")[0]
    shown = run("leaderboard", "html", "--output", "runs")
    assert "Traceback" not in shown.output
    assert shown.exit_code == 1  # written, without the damaged trial


def test_a_correlation_may_be_negative(store: Store, tmp_path: Path) -> None:
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    text = (tmp_path / "results.csv").read_text()
    (tmp_path / "odd.csv").write_text(re.sub(r",pearson,[0-9.]+,", ",pearson,-12.5000,", text))
    assert {row.means()["biosses"] for row in file_rows(tmp_path / "odd.csv")} == {-12.5}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "1e999", "x"])
def test_no_door_takes_a_limit_that_is_none(value: str, store: Store, tmp_path: Path) -> None:
    for command in (["check", "cand", "--baseline", "good"], ["compare", "cand", "good"]):
        result = run(*command, "--max-drop", value)
        assert (result.exit_code, "--max-drop" in result.output) == (2, True)
    if value == "x":
        return
    number = float(value)
    with pytest.raises(SettingsError, match="max_drop"):
        blurb.check("cand", "good", max_drop=number)
    with pytest.raises(SettingsError, match="max_drop"):
        Limit(max_drop=number)
    (tmp_path / "rules.toml").write_text(f"max_drop = {value.replace('1e999', 'inf')}\n")
    assert check("cand", "--baseline", "good", "--rules", "rules.toml")[0] == 2


def _link(path: Path) -> None:
    path.symlink_to("nowhere.toml")


@pytest.mark.parametrize(
    "make",
    [_link, Path.mkdir, lambda path: path.write_bytes(b"\xff")],
    ids=["link", "folder", "bytes"],
)
def test_rules_that_are_there_and_cannot_be_read_are_an_error(
    make: Callable[[Path], Any], store: Store
) -> None:
    assert check("cand", "--baseline", "good")[0] == 0
    make(Path("blurb-check.toml"))
    code, told = check("cand", "--baseline", "good")
    assert (code, "blurb-check.toml" in told) == (2, True)


def test_what_a_table_leaves_empty_is_not_equal(store: Store, tmp_path: Path) -> None:
    tables.rebuild(store, tmp_path / "leaderboard.csv")
    head, *lines = (tmp_path / "results.csv").read_text().splitlines()
    for column in ("data_hash", "metrics_version"):
        cut = [line.split(",") for line in lines]
        for cells in cut:
            cells[head.split(",").index(column)] = ""
            if column == "data_hash":
                cells[head.split(",").index("data")] = ""
        (tmp_path / "odd.csv").write_text(
            "\n".join([head, *(",".join(cells) for cells in cut)]) + "\n"
        )
        assert check("odd.csv:cand", "--baseline", "good", "--max-drop", "99")[0] == 2
        assert (
            check("odd.csv:cand", "--baseline", "good", "--max-drop", "99", "--across", "unknown")[
                0
            ]
            == 0
        )


@pytest.mark.costly
def test_a_pipe_that_nobody_reads_is_no_regression(store: Store) -> None:
    """As with `set -o pipefail` and `| head -1`."""
    command = [sys.executable, "-m", "blurb", "check", "cand", "--baseline", "good"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.close()
        assert process.wait(120) == 141


def test_a_metric_that_is_undefined_makes_no_trial() -> None:
    assert invented.row("m", {"gad": (80.0,)}).means()["gad"] == 80.0
    from blurb.store import rescore

    class Odd:
        def score(self, gold: object, predicted: object, documents: object) -> dict[str, float]:
            return {"f1": float("nan")}

    columns = {
        name: ["dev"]
        for name in ("split", "id", "doc_id", "gold", "prediction", "majority", "scores")
    }
    with pytest.raises(SettingsError, match=r"gave nan for f1 on dev; .* must give 0\.0"):
        rescore.figures(Odd(), columns)  # type: ignore[arg-type]

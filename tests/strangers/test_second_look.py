"""What a second pair of eyes found: trials under other names, plans that shrink, files that are none."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.messages.errors import BlurbError, SettingsError
from blurb.store.store import Store
from blurb.system.files import hidden_name
from tests.rewriting import csv_lines, rewrite, write_lines

BIGRAMS, MAJORITY = "baseline:bigrams", "baseline:majority"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two baselines on two datasets, with its tables."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = ["run", BIGRAMS, MAJORITY, "--suite", "demo", "--tasks", "gad,biosses"]
        assert CliRunner().invoke(cli, asked, catch_exceptions=False).exit_code == 0
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path / "here")
    shutil.copytree(made, tmp_path / "base")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def run(*arguments: str) -> Result:
    found = CliRunner().invoke(cli, list(arguments))
    assert "this is a bug in blurb" not in found.output
    return found


def check(*more: str) -> int:
    """The exit code of a check against the same row of an untouched copy."""
    found = run(
        "check", BIGRAMS, "--baseline", f"../base/runs:{BIGRAMS}", "--max-drop", "100", *more
    )
    return found.exit_code if isinstance(found.exception, SystemExit | None) else 2


def trial(model: str, task: str) -> Path:
    (path,) = (
        path
        for path in Path("runs", model).glob(f"{task}/*")
        if path.is_dir() and not path.name.startswith(".")
    )
    return path


@pytest.mark.costly
def test_the_check_passes_where_nothing_was_touched(here: Path) -> None:
    assert check() == 0


def test_another_trial_under_the_name_of_a_trial_is_damage(here: Path) -> None:
    mine, other = trial("baseline-bigrams", "gad"), trial("baseline-majority", "gad")
    shutil.rmtree(mine)
    shutil.copytree(other, mine)
    assert Store(Path("runs")).damage(mine) == ["spec.json"]
    assert run("runs", "verify").exit_code == 1
    assert check() == 2


def test_a_specification_that_was_altered_and_sealed_again_is_damage(here: Path) -> None:
    path = trial("baseline-bigrams", "gad")
    rewrite(path / "spec.json", seed=9)
    Store(Path("runs")).seal(path)
    assert check() == 2


@pytest.mark.costly
def test_an_altered_trial_is_replaced_by_the_next_run(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was moved aside, found whole there, put back, moved aside, ... for ever."""
    path = trial("baseline-bigrams", "gad")
    before = (path / "spec.json").read_bytes()
    (path / "spec.json").write_bytes(before.replace(b'"seed": 1', b'"seed": 9'))
    Store(Path("runs")).seal(path)
    names = iter([hidden_name(path, "old") for _ in range(4)])
    monkeypatch.setattr("blurb.store.store.hidden_name", lambda *given: next(names))
    assert run("run", BIGRAMS, "--suite", "demo", "--tasks", "gad,biosses").exit_code == 0
    assert (path / "spec.json").read_bytes() == before
    assert (Store(Path("runs")).damage(path), list(path.parent.glob(".*"))) == ([], [])


def test_two_datasets_that_name_one_trial_are_no_row(here: Path) -> None:
    for file in Path("runs/baseline-bigrams/rows").glob("*.json"):
        content = json.loads(file.read_text())
        content["trials"]["biosses"] = content["trials"]["gad"]
        file.write_text(json.dumps(content))
    assert check() == 2


@pytest.mark.parametrize("plan", ["gad:0 biosses:1", "gad:1 gad:1 biosses:1", "gad:-1"])
def test_a_plan_that_nobody_made_is_an_error_with_its_line(here: Path, plan: str) -> None:
    rows = csv_lines(Path("runs/results.csv"))
    write_lines(
        Path("edited.csv"), [{**row, "plan": plan} for row in rows if row["model"] == BIGRAMS]
    )
    found = run("check", BIGRAMS, "--baseline", "edited.csv", "--max-drop", "100")
    assert "edited.csv:2: plan" in str(found.exception)


def test_a_merged_table_keeps_the_plan_of_each(here: Path) -> None:
    rows = [
        row
        for row in csv.DictReader(Path("runs/results.csv").read_text(encoding="utf-8").splitlines())
        if row["model"] == BIGRAMS
    ]
    for name, lines in (
        ("a.csv", rows),
        ("b.csv", [{**row, "plan": "gad:3 biosses:1"} for row in rows if row["task"] != "gad"]),
    ):
        write_lines(Path(name), lines)
    assert run("leaderboard", "merge", "a.csv", "b.csv", "--out", "m").exit_code == 0
    found = run("check", BIGRAMS, "--baseline", f"m/results.csv:{BIGRAMS}", "--max-drop", "100")
    assert found.exit_code == 2
    assert "1 of 3 seeds" in found.output


@pytest.mark.extensions
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"x" * 99 + b"PAR1"])
def test_predictions_that_are_no_parquet_end_in_a_sentence(here: Path, content: bytes) -> None:
    path = trial("baseline-bigrams", "gad")
    (path / "predictions.parquet").write_bytes(content)
    Store(Path("runs")).seal(path)
    for command in (
        ["leaderboard", "show"],
        ["leaderboard", "html"],
        ["errors", BIGRAMS, "--task", "gad"],
    ):
        found = run(*command)
        assert (
            found.exception is None
            or isinstance(found.exception, SystemExit)
            or "parquet" in str(found.exception)
        )


def test_a_link_to_itself_among_originals(here: Path) -> None:
    Path("raw").mkdir()
    Path("raw/train.tsv").symlink_to("train.tsv")
    found = run("data", "prepare", "--raw", "raw", "--out", "out", "--tasks", "gad")
    assert found.exit_code in (1, 2) or found.exception is not None


@pytest.mark.parametrize(
    "change", [{"metric_options": {"odd": 1}}, {"metric_options": {"gold": 1}}]
)
def test_a_stored_task_with_options_that_its_metric_does_not_have(
    here: Path, change: dict[str, object]
) -> None:
    from dataclasses import asdict

    from blurb import tasks

    path = trial("baseline-bigrams", "gad")
    made = json.loads((path / "provenance.json").read_text())
    declared = {**asdict(tasks.get("gad")), "file": "own.toml", **change}
    (path / "provenance.json").write_text(
        json.dumps({**made, "declaration": declared}, default=list)
    )
    Store(Path("runs")).seal(path)
    for command in (
        ["leaderboard", "show"],
        ["leaderboard", "html"],
        ["compare", BIGRAMS, MAJORITY],
    ):
        run(*command)


@pytest.mark.extensions
def test_a_fact_of_another_type_is_none(here: Path) -> None:
    path = trial("baseline-bigrams", "gad")
    made = json.loads((path / "provenance.json").read_text())
    made["facts"] |= {"train_truncated": "many", "test_inputs": "none"}
    (path / "provenance.json").write_text(json.dumps(made))
    Store(Path("runs")).seal(path)
    assert run("leaderboard", "html").exit_code == 0


@pytest.mark.parametrize(
    "given", [{"default": None}, {"limits": "gad"}, {"limits": {"gad": 5}}, {"overall": 3}]
)
def test_rules_in_python_are_limits(given: dict[str, object]) -> None:
    from blurb.regression import Rules

    with pytest.raises(SettingsError, match=r"must be of type .*Limit"):
        Rules(**given)  # type: ignore[arg-type]


@pytest.mark.extensions
@pytest.mark.parametrize(
    "noted", [{"taken": 1.5}, {"taken": "x"}, {"submitted": "y"}, {"parts": 3}, {"parts": [5]}]
)
def test_notes_of_slurm_of_odd_types_are_told(here: Path, noted: dict[str, object]) -> None:
    asked = [
        "run",
        MAJORITY,
        "--suite",
        "demo",
        "--tasks",
        "hoc",
        "--precision",
        "fp32",
        "--engine",
        "slurm",
        "--print",
    ]
    assert run(*asked).exit_code == 0
    (file,) = Path("runs/.sweeps").glob("*/slurm.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **noted}))
    for command in (
        asked,
        ["worker", "--sweep", str(file.parent), "--part", "0"],
        ["status"],
        ["gc"],
    ):
        found = run(*command)
        assert found.exception is None or isinstance(found.exception, SystemExit | BlurbError), (
            found.exception
        )

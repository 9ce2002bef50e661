"""A kind of learner in one file outside of blurb goes through every command, as docs/extend.md says."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import blurb
from blurb import tasks
from blurb.cli import cli
from blurb.learners import kinds
from blurb.messages.errors import BlurbError
from tests.results import invented
from tests.test_guides import blocks, install


def forget() -> None:
    """Makes the registry look for entry points again."""
    for name in ("entries", "_sorted_out"):
        kinds.__dict__.pop(name, None)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the guide's files, installed, and rows of three kinds of learners on one dataset."""
    folder = tmp_path_factory.mktemp("knn")
    for _, content in blocks("extend.md"):
        name = content.partition("\n")[0].removeprefix("# ")
        if name in ("my_knn.py", "pyproject.toml", "knn.toml"):
            (folder / name).write_text(content, encoding="utf-8")
    install(folder, "blurb.learners")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder))
        patch.chdir(folder)
        patch.setenv("COLUMNS", "160")
        forget()
        for protocol, more in (
            ("knn.toml", ["--keep-model", "best"]),
            ("probe", []),
            ("smoke", []),
        ):
            done(
                f"run scratch:tiny --suite demo --tasks gad --device cpu --protocol {protocol}",
                *more,
            )
        done("run baseline:majority --suite demo --tasks gad")
        yield folder
    forget()
    sys.modules.pop("my_knn", None)


def done(command: str, *more: str, code: int = 0) -> str:
    """What a command prints; KNN, PROBE and FLOOR in it are names of rows."""
    names = {"encoder": "TUNED", "knn": "KNN", "probe": "PROBE", "baseline": "FLOOR"}
    rows = (
        {names[row.learner]: row.name for row in blurb.load_results("runs").rows}
        if Path("runs").exists()
        else {}
    )
    result = CliRunner().invoke(cli, [*(rows.get(word, word) for word in command.split()), *more])
    if isinstance(result.exception, BlurbError):  # which `main` prints
        assert code == 2
        return str(result.exception)
    assert result.exit_code == code, (command, result.output, result.exception)
    return result.output


@pytest.mark.costly
def test_the_tables_name_it(place: Path) -> None:
    rows = {row.learner: row for row in blurb.load_results("runs").rows}
    assert set(rows) == {"knn", "probe", "encoder", "baseline"}
    (trial,) = rows["knn"].records_of("gad").values()
    assert set(trial.trial.plugins) == {"learner"}
    assert set(trial.trial.settings) <= set(kinds.get("knn").settings)
    assert ",knn," in (place / "runs" / "results.csv").read_text()


def test_it_is_shown_and_ranked_by_itself(place: Path) -> None:
    assert "knn" in done("leaderboard show --format csv --sort gad")
    assert "neighbours" in done("leaderboard show --sort gad")


def test_a_check_is_of_its_like_alone(place: Path) -> None:
    assert (
        "a row of neighbours is not comparable with a probe; name the row of another knn"
        in done("check KNN --baseline PROBE", code=2)
    )
    done("check KNN --baseline KNN --max-drop 1")


@pytest.mark.extensions
def test_the_page_has_a_board_for_it(place: Path) -> None:
    done("leaderboard html --out page.html")
    assert "Nearest neighbours: The synthetic demo suite" in (place / "page.html").read_text()


def test_a_dry_run_knows_its_trials_and_what_they_take(place: Path) -> None:
    text = done(
        "run scratch:tiny --suite demo --protocol knn.toml --tasks gad,hoc --dry-run", code=2
    )
    assert "Neighbours vote for one class, and hoc has other answers" in text
    text = done(
        "run scratch:tiny --suite demo --protocol knn.toml --tasks gad,ddi --device cpu --dry-run"
    )
    assert "to run" in text
    assert "done" in text


def test_settings_of_no_effect_and_second_seeds_are_refused(place: Path) -> None:
    asked = "run scratch:tiny --suite demo --protocol knn.toml --tasks gad"
    assert "lr does not apply to a row of neighbours" in done(asked, "--set", "lr=0.1", code=2)
    assert "A row of neighbours is deterministic" in done(asked, "--seeds", "2", code=2)


def test_its_kept_model_predicts_what_the_trial_predicted(place: Path) -> None:
    (folder,) = (one.parent for one in place.glob("runs/*/gad/*/model"))
    model = blurb.load_model(folder, "cpu")
    examples = blurb.load_dataset("gad", suite="demo")["test"].to_list()
    import pandas as pd

    stored = pd.read_parquet(folder / "predictions.parquet")
    stored = stored[stored["split"] == "test"].set_index("id")["prediction"]
    assert {one["id"]: one["prediction"] for one in model.of_examples(examples)} == stored.to_dict()


@pytest.mark.extensions
def test_it_is_exported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from blurb.extensions.reports.export.formats import ExportRequest
    from blurb.extensions.reports.export.formats._grid import figures

    done("export latex KNN --out latex")
    (row,) = (row for row in blurb.load_results("runs").rows if row.learner == "knn")
    real = invented.named(row, configuration=replace(row.configuration, suite="blurb"))
    monkeypatch.setattr(
        "blurb.extensions.reports.export.formats._grid.real_row", lambda wanted: real
    )
    with pytest.raises(
        BlurbError,
        match=r"is a row of neighbours\. The Hub would list it among fine-tuned encoders",
    ):
        figures(ExportRequest(Path("runs"), [tasks.get("gad")]))


@pytest.mark.costly
def test_two_processes_run_it(place: Path) -> None:
    assert "failed" not in done(
        "run scratch:tiny --suite demo --protocol knn.toml --tasks ddi,chemprot --device cpu --jobs 2"
    )
    assert (
        len(
            list(place.glob("runs/*/ddi/*/DONE.json"))
            + list(place.glob("runs/*/chemprot/*/DONE.json"))
        )
        == 2
    )


@pytest.mark.costly
def test_a_change_of_its_code_runs_it_again(place: Path) -> None:
    file = place / "my_knn.py"
    before = file.read_text()
    try:
        file.write_text(before.replace("K = 5", "K = 3"))
        run = "run scratch:tiny --suite demo --protocol knn.toml --tasks gad --device cpu --dry-run"
        command = [sys.executable, "-m", "blurb", *shlex.split(run)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        file.write_text(before)
    assert "to run" in text


def test_rows_of_a_kind_that_is_not_installed_are_still_shown(place: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blurb.registry.entry_points", lambda group: [])
        forget()
        assert "knn" in done("leaderboard show --sort gad")
        (row,) = (row for row in blurb.load_results("runs").rows if row.learner == "knn")
        assert row.kind.mark == "knn"
    forget()

"""`import blurb`: the same figures by either door, and what a notebook does with them."""

import importlib
import inspect
import json
import os
import pkgutil
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import blurb
from blurb.cli import cli
from blurb.messages.errors import BlurbError, DataError, SettingsError, UnknownName
from blurb.results import leaderboard_csv, results_csv
from blurb.tasks import TYPES
from tests.cli.in_process import ran
from tests.results import invented

SMOKE = {"suite": "demo", "protocol": "smoke", "tasks": ["gad", "biosses"]}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, blurb.Results]:
    """A folder with the results of one run, made in Python, and these results."""
    folder = tmp_path_factory.mktemp("front-door")
    return folder, blurb.run(
        ["scratch:tiny", "baseline:majority"],
        **SMOKE,
        seeds=2,
        output=folder / "runs",
        leaderboard=folder / "leaderboard.csv",
        progress=False,
    )


@pytest.mark.costly
def test_both_doors_lead_to_the_same_figures(
    played: tuple[Path, blurb.Results], here: Path
) -> None:
    folder, results = played
    command = shlex.split(
        "run scratch:tiny baseline:majority --suite demo --protocol smoke --tasks gad,biosses --seeds 2"
    )
    ran(command)
    for name in ("leaderboard.csv", "results.csv"):
        assert (here / "runs" / name).read_bytes() == (folder / name).read_bytes()
    assert [row.model for row in results.rows] == ["baseline:majority", "scratch:tiny"]
    assert not results.failed


def test_every_option_of_the_command_is_a_keyword() -> None:
    defaults = cli.get_command(None, "run").make_context("run", ["a model"]).params  # type: ignore[arg-type, union-attr]
    del defaults["form"]  # what is printed, which Python returns
    keywords = inspect.signature(blurb.run).parameters
    assert set(keywords) - set(defaults) == {"progress"}
    for name, default in defaults.items():
        if name == "settings":  # --set KEY=VALUE is KEY=VALUE
            assert keywords[name].kind is inspect.Parameter.VAR_KEYWORD
        elif name != "model":
            assert str(keywords[name].default) == str(default), name


def test_no_name_of_the_front_door_is_that_of_a_room() -> None:
    rooms = [module.name for module in pkgutil.walk_packages(blurb.__path__, "blurb.")]
    for name in rooms:
        if "__main__" not in name:
            importlib.import_module(name)
    assert {*blurb.__all__} <= {*dir(blurb)}
    for name in blurb.__all__:
        assert callable(getattr(blurb, name)), name
        assert f"blurb.{name}" not in rooms


def test_a_tidy_table(played: tuple[Path, blurb.Results]) -> None:
    """Oracle: the lines of results.csv, which the command writes."""
    folder, results = played
    table = results.to_pandas()
    assert list(table.columns) == [
        "model",
        "configuration",
        "task",
        "seed",
        "split",
        "metric",
        "value",
    ]
    lines = [line for _, line in results_csv.read_lines(folder / "results.csv")]
    columns = ("model", "task", "seed", "split", "metric")
    there = {
        tuple(map(str, key)): value
        for key, value in table.set_index(list(columns))["value"].items()
    }
    assert len(table) == len(lines)
    for line in lines:
        assert there[tuple(line[column] for column in columns)] == pytest.approx(
            float(line["value"]), abs=1e-4
        )


def test_a_wide_table(played: tuple[Path, blurb.Results]) -> None:
    folder, results = played
    table = results.leaderboard().set_index("model")
    assert table.loc["scratch:tiny", "gad"] == pytest.approx(
        results.to_pandas()
        .query("model == 'scratch:tiny' and task == 'gad' and split == 'test' and metric == 'f1'")[
            "value"
        ]
        .mean(),
        abs=1e-12,
    )
    assert table["score"].isna().all()
    read = blurb.load_results(folder / "leaderboard.csv").leaderboard().set_index("model")
    assert read["gad"].round(2).equals(table["gad"].round(2))


def test_a_wide_table_begins_with_scores_and_keeps_its_digits() -> None:
    """The file is rounded and a notebook is not; both have the same columns."""
    from blurb.api.results import Results

    rows = (invented.row("m", {"gad": [84.587731, 84.587729]}), invented.row("n", {"gad": [80.0]}))
    table = Results(rows, Path("runs")).leaderboard()
    assert list(table.columns[:4]) == ["model", "protocol", "score", "blurb-12"]
    assert list(table.columns[4:10]) == list(TYPES)
    assert set(table.columns) == set(leaderboard_csv.columns_of(rows))
    assert table.loc[0, "gad"] == pytest.approx(84.58773, abs=1e-12)
    assert leaderboard_csv.line_of(rows[0])["gad"] == "84.59"
    assert table["score"].dtype == float


def test_predictions_are_those_of_the_trial(played: tuple[Path, blurb.Results]) -> None:
    """Oracle: scikit-learn's F1 of the answers is the score."""
    from sklearn.metrics import f1_score

    _, results = played
    answers = results.predictions("scratch:tiny", "gad", 2).query("split == 'test'")
    score = 100 * f1_score(answers["gold"] == "1", answers["prediction"] == "1", zero_division=0)
    assert results.to_pandas().query(
        "model == 'scratch:tiny' and task == 'gad' and seed == 2 and split == 'test'"
    ).set_index("metric").loc["f1", "value"] == pytest.approx(score)
    with pytest.raises(UnknownName, match="scratch:tiny"):
        results.predictions("scratch:tny", "gad")
    with pytest.raises(SettingsError, match="seed 9"):
        results.predictions("scratch:tiny", "gad", 9)


def test_results_show_themselves(played: tuple[Path, blurb.Results]) -> None:
    folder, results = played
    assert (
        repr(results)
        == f"<Results of {folder / 'runs'}: baseline:majority smoke demo, scratch:tiny smoke demo>"
    )
    shown = results._repr_html_()
    assert "<th>similarity</th>" in shown
    assert "scratch:tiny smoke" in shown
    assert "nan" not in shown.lower()
    assert "<th>gad</th>" in shown  # in no mean, as the other relations were not run
    assert "<th>biosses</th>" not in shown


def test_rows_and_verdicts_show_themselves_in_a_line(played: tuple[Path, blurb.Results]) -> None:
    first, other = played[1].rows
    assert repr(other) == f"<Row scratch:tiny smoke demo: {len(other.means())} datasets>"
    assert repr(blurb.compare(other, first)).startswith(
        "<Comparison of scratch:tiny smoke demo with baseline:majority smoke demo"
    )
    decision = blurb.check(other, first, max_drop=100)
    assert repr(decision).startswith(
        "<Decision on scratch:tiny smoke demo compared with baseline:majority smoke demo, dev: "
    )
    assert "<th>outcome</th>" in decision._repr_html_()


def test_load_results_of_a_store_and_its_tables(
    played: tuple[Path, blurb.Results], tmp_path: Path
) -> None:
    folder, results = played
    frames = [blurb.load_results(folder / name).to_pandas() for name in ("runs", "results.csv")]
    for frame in frames:
        merged = frame.merge(
            results.to_pandas(), on=["model", "configuration", "task", "seed", "split", "metric"]
        )
        assert len(merged) == len(frame) == len(results.to_pandas())
        assert (merged["value_x"] - merged["value_y"]).abs().max() <= 1e-4
    with pytest.raises(DataError, match="no such file or folder"):
        blurb.load_results(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match="no finished row"):
        blurb.load_results(tmp_path / "empty")


def test_compare_and_check_say_what_the_commands_say(played: tuple[Path, blurb.Results]) -> None:
    folder, results = played
    majority, tiny = results.rows
    compared = blurb.compare(majority, tiny)
    arguments = [
        "compare",
        "baseline:majority",
        "scratch:tiny",
        "--output",
        str(folder / "runs"),
        "--format",
        "json",
    ]
    told = json.loads(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout)
    assert [(line["name"], line["verdict"]) for line in told] == [
        (line.name, line.verdict(0.05)) for line in compared.lines
    ]
    table = compared.to_pandas().set_index("name")
    assert {*told[0]} - {"within_max_drop"} == {"name", *table.columns}
    assert all(line["reason"] for line in told if line["verdict"] == "cannot judge")
    assert table.loc["gad", "difference"] == pytest.approx(
        compared["gad"].first - compared["gad"].other
    )
    assert "<table" in compared._repr_html_()

    decision = blurb.check(tiny, "baseline:majority", max_drop=100, output=folder / "runs")
    assert decision.exit_code == (0 if decision.passed else int(decision.outcome))
    assert decision.to_junit().startswith(b"<?xml")
    with pytest.raises(SettingsError, match="2 rows"):
        blurb.check(results, majority)


def test_a_run_with_a_check(played: tuple[Path, blurb.Results]) -> None:
    folder, results = played
    (decision,) = blurb.run(
        "scratch:tiny",
        **SMOKE,
        seeds=2,
        output=folder / "runs",
        progress=False,
        check=results.rows[0],
    ).decisions
    assert decision.candidate == "scratch:tiny smoke demo"
    assert {finding.name for finding in decision.findings} == {"gad", "biosses"}


def test_settings_are_keywords_of_their_types(tmp_path: Path) -> None:
    assert blurb.run(
        "baseline:majority",
        tasks="gad",
        suite="demo",
        protocol="smoke",
        output=tmp_path / "runs",
        progress=False,
        max_eval=7,
    ).rows[0].limits("max_eval") == {"gad": 7}
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]  # the tables are in it
    assert {"leaderboard.csv", "results.csv"} <= {
        path.name for path in (tmp_path / "runs").iterdir()
    }
    for wrong, told in (
        ({"max_eval": "many"}, "^max_eval must be a whole number"),
        ({"epochs": True}, "^epochs must be a whole number"),
        ({"epoch": 3}, "epochs"),
    ):
        with pytest.raises(BlurbError, match=told):
            blurb.run("baseline:majority", suite="demo", output=tmp_path / "other", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "other").exists()


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not blurb.run(
        "baseline:majority", suite="demo", protocol="smoke", output=tmp_path / "runs", dry_run=True
    ).rows
    assert "Nothing was run or written." in capsys.readouterr().out
    assert os.listdir(tmp_path) == []


def test_nothing_is_said_without_progress(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    blurb.run(
        "baseline:majority",
        tasks="gad",
        suite="demo",
        protocol="smoke",
        output=tmp_path / "runs",
        progress=False,
    )
    assert capfd.readouterr() == ("", "")


def test_a_dataset_as_the_trials_read_it() -> None:
    loaded = blurb.load_dataset("ncbi-disease", suite="demo")
    assert list(loaded) == ["train", "validation", "test"]
    assert set(loaded["train"].column_names) >= {"id", "tokens", "tags"}
    with pytest.raises(SettingsError, match="one task"):
        blurb.load_dataset("ner", suite="demo")
    with pytest.raises(SettingsError, match=r'data= \(or use suite="demo", which'):
        blurb.load_dataset("gad")

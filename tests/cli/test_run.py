"""`blurb run` on the demo suite: results, resuming, failures, bad input."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blurb.inputs.relations import STRATEGIES
from tests.cli.in_process import blurb, done, ran, refused
from tests.rewriting import csv_lines

SMOKE = ["--suite", "demo", "--protocol", "smoke"]


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "blurb", *arguments],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def done_in(folder: Path) -> dict[str, float]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime
        for path in folder.glob("runs/[!.]*/[!.]*/[!.]*/DONE.json")
    }


@pytest.mark.costly
def test_a_killed_sweep_resumes_to_the_same_tables(tmp_path: Path) -> None:
    sweep = ["run", "scratch:tiny", *SMOKE, "--tasks", "biosses", "--seeds", "4"]
    done(sweep, tmp_path / "whole")
    process = start(sweep, tmp_path / "killed")
    limit = time.time() + 120
    while not done_in(tmp_path / "killed") and process.poll() is None and time.time() < limit:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = done_in(tmp_path / "killed")
    assert 0 < len(before) < 4
    code, _, err = blurb(sweep, tmp_path / "killed")
    assert code == 0, err
    assert err.count("already done") == len(before)
    after = done_in(tmp_path / "killed")
    assert len(after) == 4
    assert {name: after[name] for name in before} == before
    for name in ("leaderboard.csv", "results.csv"):
        assert (tmp_path / "killed" / "runs" / name).read_bytes() == (
            tmp_path / "whole" / "runs" / name
        ).read_bytes()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small finished run."""
    folder = tmp_path_factory.mktemp("finished")
    arguments = ["run", "scratch:tiny", "baseline:majority", *SMOKE, "--tasks", "biosses,hoc,bc2gm"]
    code, out, err = blurb(arguments, folder)
    assert code == 0, err
    assert "No BLURB score" in out
    # Whatever their names
    assert out.index("scratch:tiny   smoke") < out.index("baseline:majority   smoke")
    assert re.search(r"biosses seed 1: done in \d+ s, dev -?\d+\.\d", err)
    assert "Note: it had met nothing of these datasets before; smoke test" in " ".join(out.split())
    return folder


@pytest.mark.costly
def test_the_store_holds_what_a_result_rests_on(finished: Path) -> None:
    path = next(finished.glob("runs/scratch-tiny/hoc/*/spec.json")).parent
    spec, provenance = (
        json.loads((path / f"{name}.json").read_text()) for name in ("spec", "provenance")
    )
    assert spec["settings"]["document_unit"] == "sentence"
    assert provenance["environment"]["torch"]
    assert provenance["environment"]["threads"] >= 1
    assert provenance["facts"]["train_units"] == 64
    assert provenance["facts"]["test_inputs"]["truncated"] == 0
    assert (
        provenance["facts"]["dev_inputs"]["units"]
        == provenance["facts"]["dev_inputs"]["rows"]
        > 100
    )
    assert f"trial {path.name}: scratch:tiny on hoc, seed 1" in (path / "log.txt").read_text()
    assert "epoch 1 of 1: loss" in (path / "log.txt").read_text()
    notes = {
        line["model"]: line["note"] for line in csv_lines(finished / "runs" / "leaderboard.csv")
    }
    assert set(notes) == {"scratch:tiny", "baseline:majority"}
    assert all("smoke" in note for note in notes.values())
    history = (path / "history.csv").read_text().splitlines()
    assert history[0] == "epoch,loss,learning_rate,dev"
    assert len(history) == 2


@pytest.mark.costly
def test_the_tagging_scheme_belongs_to_trials_of_tags_alone(finished: Path, tmp_path: Path) -> None:
    arguments = [
        "run",
        "scratch:tiny",
        "baseline:majority",
        *SMOKE,
        "--tasks",
        "bc2gm,biosses",
        "--tagging",
        "BILOU",
    ]
    done(arguments, tmp_path)
    lines = {}
    for name, folder in (("bio", finished), ("bioul", tmp_path)):
        lines[name] = {
            (line["model"], line["task"]): line
            for line in csv_lines(folder / "runs" / "results.csv")
        }
    model = "scratch:tiny"
    for name, found in lines.items():
        assert [found[model, task]["tagging"] for task in ("bc2gm", "biosses")] == [name, ""]
    assert lines["bioul"][model, "bc2gm"]["overrides"] == "tagging=bioul"
    assert lines["bio"][model, "bc2gm"]["trial"] != lines["bioul"][model, "bc2gm"]["trial"]
    for other in (
        (model, "biosses"),
        ("baseline:majority", "bc2gm"),
        ("baseline:majority", "biosses"),
    ):
        assert lines["bio"][other]["trial"] == lines["bioul"][other]["trial"]


@pytest.mark.costly
def test_the_demo_suite_has_every_relation_input(here: Path) -> None:
    from click.testing import CliRunner

    from blurb.cli import cli

    common = ["run", "scratch:tiny", *SMOKE, "--device", "cpu", "--precision", "fp32"]
    trials = set()
    for strategy in STRATEGIES:
        arguments = [*common, "--tasks", "chemprot,ddi", "--relation-input", strategy, "--dry-run"]
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        trials |= {
            line.split()[-1] for line in result.output.splitlines() if line.startswith(" run")
        }
    assert len(trials) == 2 * len(STRATEGIES)
    arguments = [
        *common,
        "--tasks",
        "ddi",
        "--relation-input",
        "typed-markers",
        "--pooling",
        "entity-start",
    ]
    ran(arguments)
    assert len(done_in(here)) == 1


def test_the_search_of_the_paper_is_listed(tmp_path: Path) -> None:
    arguments = [
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--protocol",
        "paper",
        "--tasks",
        "gad",
        "--dry-run",
    ]
    _, out, _ = blurb(arguments, tmp_path)
    assert sum(line.startswith(" search") for line in out.splitlines()) == 6
    assert "11 trials" in out


@pytest.mark.costly
def test_a_searched_setting_may_not_concern_every_task(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        "seeds = 1\n[all]\nbatch_size = 16\nepochs = 1\nmax_train = 64\nmax_eval = 64\n"
        '[search]\npooling = ["cls", "mean"]\n'
    )
    arguments = [
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--protocol",
        "mine.toml",
        "--tasks",
        "bc2gm,biosses",
    ]
    done(arguments, tmp_path)
    (line,) = csv_lines(tmp_path / "runs" / "leaderboard.csv")
    assert line["protocol"].startswith("mine@")


@pytest.mark.costly
def test_a_search_runs_the_winner_with_all_seeds(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        "seeds = 2\n[all]\nbatch_size = 16\nepochs = 1\nmax_train = 64\nmax_eval = 64\n[search]\nlr = [1e-9, 1e-3]\n"
    )
    arguments = [
        "run",
        "scratch:tiny",
        "--suite",
        "demo",
        "--protocol",
        "mine.toml",
        "--tasks",
        "biosses",
    ]
    done(arguments, tmp_path)
    specs = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/*/*/spec.json")]
    tried = sorted((spec["settings"]["lr"], spec["seed"]) for spec in specs)
    # Both rates with seed 1, then seed 2 at the winner: the other seed is not run again
    assert len(tried) == 3
    scores = {}
    for path in tmp_path.glob("runs/*/*/*/metrics.json"):
        spec = json.loads((path.parent / "spec.json").read_text())
        if spec["seed"] == 1:
            scores[spec["settings"]["lr"]] = json.loads(path.read_text())["dev"]["pearson"]
    winner = max(scores, key=lambda rate: scores[rate])
    trials = {line["trial"] for line in csv_lines(tmp_path / "runs" / "results.csv")}
    assert len(trials) == 2
    hashes = {
        path.parent.name
        for path in tmp_path.glob("runs/*/*/*/spec.json")
        if json.loads(path.read_text())["settings"]["lr"] == winner
    }
    assert trials == hashes


@pytest.mark.costly
def test_two_jobs_at_a_time_give_the_same_results(finished: Path, tmp_path: Path) -> None:
    arguments = [
        "run",
        "scratch:tiny",
        "baseline:majority",
        *SMOKE,
        "--tasks",
        "biosses,hoc,bc2gm",
        "--jobs",
        "2",
    ]
    done(arguments, tmp_path)
    assert (tmp_path / "runs" / "results.csv").read_bytes() == (
        finished / "runs" / "results.csv"
    ).read_bytes()


def test_a_leaderboard_of_another_schema_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "leaderboard.csv").write_text("schema,model\n99,x\n")
    assert "schema version 99" in refused(
        ["run", "baseline:majority", *SMOKE, "--tasks", "gad"], tmp_path
    )
    assert (tmp_path / "runs" / "leaderboard.csv").read_text() == "schema,model\n99,x\n"
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["leaderboard.csv"]

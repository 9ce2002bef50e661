"""The workflow of docs/ci.md does what it says: its shell lines run on the demo data."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from blurb.corpora import demo
from blurb.results import from_store, results_csv
from blurb.store.store import Store
from tests.cli.in_process import ran, run
from tests.conftest import ROOT
from tests.results import invented
from tests.results.played import CONFIGURATION, play

yaml = pytest.importorskip("yaml")
BLOCKS = re.findall(
    r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.DOTALL
)


def scripts() -> list[str]:
    """The steps that call blurb, of the workflow and of GitLab's job."""
    found = []
    for block in BLOCKS:
        content = yaml.safe_load(block)
        if isinstance(content, list):  # of the repository's own action
            continue
        if "script" in content.get("blurb", ()):
            assert content["blurb"]["artifacts"] == {
                "when": "always",
                "reports": {"junit": "blurb-junit.xml"},
            }
            found.append(
                "\n".join(line for line in content["blurb"]["script"] if line.startswith("blurb "))
            )
            continue
        found += [
            step["run"]
            for step in content["jobs"]["blurb"]["steps"]
            if "blurb run" in step.get("run", "")
        ]
    return found


def test_the_action_is_given_what_it_takes() -> None:
    ((step,),) = (content for block in BLOCKS if isinstance(content := yaml.safe_load(block), list))
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(step["with"]) <= set(inputs)
    assert {name for name, about in inputs.items() if about.get("required")} <= set(step["with"])


@pytest.mark.costly
@pytest.mark.parametrize("script", scripts(), ids=["workflow", "gitlab"])
@pytest.mark.parametrize(("baseline", "code"), [("baseline:majority", 0), ("better", 1)])
def test_the_steps_run(here: Path, script: str, baseline: str, code: int) -> None:
    data = demo.prepare()
    arguments = [
        "run",
        "baseline:majority",
        *["--data", str(data), "--tasks", "gad,hoc", "--protocol", "quick"],
        "--output",
        "old",
        "--leaderboard",
        "baseline/leaderboard.csv",
    ]
    ran([*arguments, "--name", "old"])
    results = here / "baseline" / "results.csv"
    if baseline == "better":
        results.write_text(re.sub(r",(f1|micro_f1),[0-9.]+,", r",\1,99.0,", results.read_text()))
    (here / "blurb-check.toml").write_text("max_drop = 1.0\n")
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=here,
        env={
            **os.environ,
            "MODEL": "baseline:majority",
            "DATA": str(data),
            "TASKS": "gad,hoc",
            "BASELINE": str(results),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert (here / "blurb-junit.xml").exists()


TYPED = re.findall(
    r"^    (blurb check .*)$", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.fixture
def rows(here: Path) -> Path:
    """A candidate that fell on GAD, its baseline, also as a table, and rows that do not meet them."""
    store = Store(here / "runs")
    shares = {"gad": 0.9, "hoc": 0.9}
    play(store, "BASELINE", shares)
    play(store, "CANDIDATE", {**shares, "gad": 0.4})
    play(store, "candidate", shares)
    play(store, "data", shares, data="e")
    play(
        store,
        "frozen",
        shares,
        (1,),
        configuration=replace(CONFIGURATION, protocol="probe"),
        learner="probe",
    )
    play(
        store,
        "standard",
        shares,
        configuration=replace(CONFIGURATION, protocol="standard", protocol_hash="1" * 64),
    )
    play(store, "faster", shares, configuration=replace(CONFIGURATION, overrides={"lr": 0.1}))
    play(store, "bf16", shares, configuration=replace(CONFIGURATION, precision="bf16"))
    play(store, "seed", shares, (1,))
    play(store, "part", {"hoc": 0.9})
    (here / "baseline").mkdir()
    quick = next(row for row in from_store.read(store) if row.model == "BASELINE")
    results_csv.write(
        here / "baseline" / "results.csv",
        [
            invented.named(
                quick,
                configuration=replace(
                    quick.configuration, protocol="standard", protocol_hash="1" * 64
                ),
            )
        ],
    )
    return here


def test_every_command_of_the_guide_exits_as_it_says(rows: Path) -> None:
    assert {line: run(*shlex.split(line)[1:]).exit_code for line in TYPED} == {
        "blurb check CANDIDATE --baseline BASELINE": 1,
        "blurb check candidate --baseline baseline/results.csv --across protocol": 0,
    }


@pytest.mark.costly
@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("candidate --baseline BASELINE", 0),
        ("bf16 --baseline BASELINE", 0),  # a remark
        ("CANDIDATE --baseline BASELINE", 1),
        ("CANDIDATE --baseline BASELINE --tasks hoc", 0),
        (
            "seed --baseline BASELINE",
            0,
        ),  # as many seeds as it planned, with the variance of the other side
        ("seed --baseline seed", 2),
        ("seed --baseline seed --max-drop 5", 0),
        ("part --baseline BASELINE", 2),
        ("part --baseline BASELINE --tasks hoc", 0),
        ("data --baseline BASELINE --max-drop 50", 2),
        ("data --baseline BASELINE --max-drop 50 --across unknown --across protocol", 2),
        ("frozen --baseline BASELINE --max-drop 50 --across protocol", 2),
        ("standard --baseline BASELINE --max-drop 50", 2),
        ("standard --baseline BASELINE --across protocol", 0),
        ("standard --baseline BASELINE --across overrides", 2),
        ("faster --baseline BASELINE --max-drop 50", 2),
        ("faster --baseline BASELINE --across overrides", 0),
        ("candidate --baseline baseline/results.csv --max-drop 50", 2),
        (
            "candidate --baseline published:PubMedBERT-fulltext --split test --max-drop 50 --tasks gad",
            2,
        ),
        (
            "candidate --baseline published:PubMedBERT-fulltext --split test --max-drop 50 --tasks gad "
            "--across unknown",
            0,
        ),
    ],
)
def test_a_check_exits_as_the_guide_says(rows: Path, typed: str, code: int) -> None:
    result = run("check", *shlex.split(typed))
    assert result.exit_code == code, result.output

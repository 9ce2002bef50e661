"""Predictions of another tool as trials: identified by their content, a row of their own kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.learners import EXTERNAL
from blurb.row_files.references import row_of
from tests.cli.in_process import blurb as command
from tests.scoring.test_forms import answers

GAD = tasks.get("gad")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of one tool on two datasets, and a constant answer beside."""
    folder = tmp_path_factory.mktemp("scored") / "runs"
    for seed in (1, 2):
        for name in ("gad", "biosses"):
            rows = read_split(tasks.get(name), demo.prepare(), "test")
            found = answers(name, rows)
            found[seed] = "1" if name == "gad" else 2.0 + seed
            blurb.score(name, found, suite="demo", add="tool", seed=seed, output=folder)
    blurb.run("baseline:majority", "gad,biosses", suite="demo", output=folder, progress=False)
    return folder


def test_its_seeds_are_runs_of_a_row_of_its_kind(store: Path) -> None:
    row = row_of("tool", output=store)
    assert row.learner == EXTERNAL.rows.name
    assert {name: row.seeds(name) for name in row.datasets} == {"gad": (1, 2), "biosses": (1, 2)}
    rows = read_split(GAD, demo.prepare(), "test")
    found = answers("gad", rows)
    found[1] = "1"
    assert row.values("gad")[0] == pytest.approx(blurb.score("gad", found, suite="demo")[0].score)


def test_it_says_what_it_replaced(tmp_path: Path) -> None:
    given = answers("gad", read_split(GAD, demo.prepare(), "test"))
    other = dict(given) if isinstance(given, dict) else list(given)
    other[1] = "0" if given[1] == "1" else "1"  # type: ignore[index]
    say = [
        blurb.score("gad", each, suite="demo", add="tool", output=tmp_path / "runs")[0].remarks
        for each in (given, given, other)
    ]
    assert [any("other predictions" in remark for remark in remarks) for remarks in say] == [
        False,
        False,
        True,
    ]


@pytest.mark.extensions
def test_commands_take_it_as_any_row(store: Path) -> None:
    for asked in (
        ["leaderboard", "show"],
        ["runs"],
        ["runs", "verify"],
        ["status"],
        ["rescore"],
        ["errors", "tool", "--task", "gad"],
        ["diff", "tool", "baseline:majority", "--task", "gad"],
        ["compare", "tool", "baseline:majority"],
        ["check", "tool", "--baseline", "tool", "--split", "test"],
        ["export", "markdown", "tool"],
        ["leaderboard", "html", "--out", "page.html"],
        ["doctor", "runs"],
    ):
        code, out, err = command(
            [*asked, *(["--output", str(store)] if asked[0] != "doctor" else [])], store.parent
        )
        assert code == 0, (asked, out, err)


def test_a_check_on_dev_says_what_it_can_compare(store: Path) -> None:
    code, out, _ = command(
        ["check", "tool", "--baseline", "tool", "--output", str(store)], store.parent
    )
    assert code == 2
    assert "--split test compares those that it has" in out


def test_equal_predictions_are_one_trial_and_others_take_its_place(tmp_path: Path) -> None:
    rows = read_split(GAD, demo.prepare(), "test")
    found = answers("gad", rows)
    folder = tmp_path / "runs"
    for _ in range(2):
        blurb.score(
            "gad",
            {row["id"]: each for row, each in zip(rows, found, strict=True)},
            suite="demo",
            add="tool",
            output=folder,
        )
    assert len(list(folder.glob("tool/gad/*/spec.json"))) == 1
    found[0] = "1" if found[0] == "0" else "0"
    changed = blurb.score("gad", found, suite="demo", add="tool", output=folder)
    assert len(list(folder.glob("tool/gad/*/spec.json"))) == 2
    row = row_of("tool", output=folder)
    assert row.values("gad") == [pytest.approx(changed[0].score)]


def test_it_is_no_learner_that_can_be_run(tmp_path: Path) -> None:
    code, _, err = command(["run", f"baseline:{EXTERNAL.name}", "--suite", "demo"], tmp_path)
    assert code == 2
    assert f"There is no baseline called '{EXTERNAL.name}'" in err
    (tmp_path / "p.toml").write_text(f'learner = "{EXTERNAL.name}"\n')
    code, _, err = command(
        ["run", "scratch:tiny", "--suite", "demo", "--protocol", "p.toml"], tmp_path
    )
    assert code == 2


def test_no_torch_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys, blurb\n"
        "blurb.score('gad', ['0'] * int(sys.argv[1]), suite='demo')\n"
        "print([name for name in ('torch', 'transformers', 'datasets', 'pandas', 'sklearn') if name in sys.modules])"
    )
    count = len(read_split(GAD, demo.prepare(), "test"))
    done = subprocess.run(
        [sys.executable, "-c", code, str(count)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "negative", "printed"), [("chemprot", "false", 78.2), ("ddi", "DDI-false", 82.9)]
)
def test_the_constant_answer_that_others_print_as_micro_f1(
    name: str, negative: str, printed: float, real_data: Path
) -> None:
    """The figures of `field.md`, H4, counted there with a script of its own."""
    rows = read_split(tasks.get(name), real_data, "test")
    scored = blurb.score(name, [negative] * len(rows), real_data)[0]
    assert scored.score == 0.0
    assert round(scored.all_classes.accuracy, 1) == printed
    assert scored.verdict == "identical"

"""`blurb ablate` on the files of the demo suite."""

import shlex
import statistics
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from blurb.cli import cli
from blurb.corpora import demo
from blurb.execution.job import TrialOutcome
from blurb.messages.errors import BlurbError
from blurb.terminal.progress import Display
from tests.cli.in_process import ran
from tests.rewriting import csv_lines


def ablate(axis: str, folder: Path, *arguments: str) -> Result:
    """With options of a small run, but for those that are given."""
    usual = {
        "--protocol": "smoke",
        "--output": str(folder / "runs"),
        "--out": str(folder / "tables"),
    }
    usual |= {"--data": str(demo.prepare()), "--device": "cpu", "--precision": "fp32"}
    more = [word for pair in usual.items() if pair[0] not in arguments for word in pair]
    return CliRunner().invoke(cli, ["ablate", "scratch:tiny", "--axis", axis, *more, *arguments])


@pytest.mark.costly
def test_the_numbers_are_those_of_plain_runs(tmp_path: Path) -> None:
    common = ["--tasks", "gad", "--seeds", "2"]
    run = [
        *shlex.split(
            "run scratch:tiny --suite demo --protocol smoke --device cpu --precision fp32 --output "
            f"{tmp_path / 'runs'} --leaderboard {tmp_path / 'leaderboard.csv'}"
        ),
        *common,
    ]
    assert CliRunner().invoke(cli, run).exit_code == 0
    result = ablate("head", tmp_path, *common)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("already done") == 2
    values = [
        float(line["value"])
        for line in csv_lines(tmp_path / "results.csv")
        if (line["split"], line["metric"]) == ("test", "f1")
    ]
    default, bilstm = csv_lines(tmp_path / "tables" / "head.csv")
    assert default["mean"] == f"{statistics.fmean(values):.2f}"
    assert default["sd"] == f"{statistics.stdev(values):.2f}"
    assert (bilstm["cell"], bilstm["published_difference"]) == ("head=bilstm", "-0.54")


@pytest.mark.costly
def test_the_demo_suite_needs_no_data_and_has_nothing_published(tmp_path: Path) -> None:
    places = [
        "--output",
        str(tmp_path / "runs"),
        "--out",
        str(tmp_path / "tables"),
        "--device",
        "cpu",
    ]
    demo_suite = ["ablate", "scratch:tiny", "--suite", "demo", *places]
    assert "14 trials" in ran([*demo_suite, "--axis", "relation", "--dry-run"]).stdout
    given = CliRunner().invoke(cli, [*demo_suite, "--axis", "head", "--data", str(tmp_path)])
    assert "remove --data" in str(given.exception)
    assert list(tmp_path.iterdir()) == []
    arguments = [
        "--axis",
        "pooling",
        "--tasks",
        "ddi",
        "--set",
        "epochs=1",
        "--set",
        "max_train=64",
    ]
    ran([*demo_suite, *arguments])
    lines = csv_lines(tmp_path / "tables" / "pooling.csv")
    assert [(line["data"], line["seeds"], line["published"]) for line in lines] == [
        ("synthetic", "1", "")
    ] * 3
    assert {line["protocol"] for line in lines} == {"demo"}
    page = (tmp_path / "tables" / "pooling.md").read_text()
    assert "max_train=64, synthetic data. It had met nothing of these datasets before" in page
    assert "one seed; at most 64 training examples\n" in page
    assert "PubMedBERT" not in page


@pytest.mark.costly
def test_an_interrupted_run_leaves_tables_and_a_dry_run_tells_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("--tasks", "gad", "--seeds", "2")
    dry = ablate("head", tmp_path, *arguments, "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert dry.stdout.count("to run") == 4
    assert "4 trials. Nothing was run or written." in dry.stdout
    assert list(tmp_path.iterdir()) == []
    show, count = Display.finished, 0

    def finished(self: Display, outcome: TrialOutcome) -> None:
        nonlocal count
        show(self, outcome)
        count += 1
        if count == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Display, "finished", finished)
    assert ablate("head", tmp_path, *arguments).exit_code != 0
    assert [
        (line["cell"], line["seeds"]) for line in csv_lines(tmp_path / "tables" / "head.csv")
    ] == [("head=linear", "2"), ("head=bilstm", "2")]
    assert (tmp_path / "tables" / "head.md").exists()
    dry = ablate("head", tmp_path, *arguments, "--dry-run")
    lines = [line.split() for line in dry.stdout.splitlines() if "head=" in line]
    assert [(line[1], line[3], "done" in line) for line in lines] == [
        ("head=linear", "1", True),
        ("head=linear", "2", True),
        ("head=bilstm", "1", True),
        ("head=bilstm", "2", True),
    ]


@pytest.mark.costly
def test_where_trials_fail_the_tables_are_written_all_the_same(tmp_path: Path) -> None:
    result = ablate(
        "head", tmp_path, "--tasks", "gad", "--seeds", "1", "--set", "weight_decay=1e30"
    )
    assert result.exit_code == 1
    assert result.stderr.count(" on gad, seed 1: The loss is not finite") == 2
    assert "Failed: head=bilstm on gad" in result.stderr
    assert [line["seeds"] for line in csv_lines(tmp_path / "tables" / "head.csv")] == ["0", "0"]


@pytest.mark.extensions
def test_a_plot_without_matplotlib_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blurb.extensions.reports.plots._style.find_spec", lambda name: None)
    result = ablate("head", tmp_path, "--tasks", "gad", "--plot", str(tmp_path / "head.png"))
    assert "pip install matplotlib" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("axis", "arguments", "message"),
    [
        ("relation", ["--tasks", "gad"], "no original text"),
        ("pooling", ["--tasks", "chemprot"], "--raw"),
        ("tagging", ["--tasks", "gad"], "are identical on gad"),
        ("tagging", ["--set", "tagging=io"], "sets it in every cell"),
        (
            "pooling",
            ["--tasks", "gad", "--protocol", "probe"],
            "--axis pooling: pooling does not apply to a probe",
        ),
        pytest.param(
            "tagging", ["--plot", "tagging.jpg"], "got 'tagging.jpg'", marks=pytest.mark.extensions
        ),
        ("warmup", [], "has no published table; name datasets: --tasks"),
        ("word-borders", ["--tasks", "gad"], "are identical on gad"),
        (
            "head",
            ["--tasks", "gad", "--dry-run", "--output", "/proc/x"],
            "--output: cannot write to /proc/x",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_training(
    axis: str, arguments: list[str], message: str, tmp_path: Path
) -> None:
    result = ablate(axis, tmp_path, *arguments)
    assert isinstance(result.exception, BlurbError)
    assert message in str(result.exception)
    assert not (tmp_path / "runs").exists()


@pytest.mark.costly
def test_the_rate_is_an_axis_of_any_dataset_with_a_picture(tmp_path: Path) -> None:
    picture = tmp_path / "rate.svg"
    done = ablate(
        "rate", tmp_path, "--tasks", "bc5-chem,biosses", "--seeds", "2", "--plot", str(picture)
    )
    assert done.exit_code == 0, done.output
    lines = csv_lines(tmp_path / "tables" / "rate.csv")
    assert [(line["cell"], line["task"]) for line in lines[:3]] == [
        ("lr=1e-05", "bc5-chem"),
        ("lr=1e-05", "biosses"),
        ("lr=3e-05", "bc5-chem"),
    ]
    assert len(lines) == 10
    assert {line["published"] for line in lines} == {""}
    assert "0.0005" in picture.read_text(encoding="utf-8")

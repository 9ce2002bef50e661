"""Predictions of another tool as trials: identified by their content, a row of their own kind."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.learners import EXTERNAL
from blurb.messages.errors import SettingsError
from blurb.row_files.references import row_of
from tests.cli.in_process import blurb as command, done, refused
from tests.scoring.test_forms import answers

GAD = tasks.get("gad")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of one tool on two datasets, and a constant answer beside."""
    folder = tmp_path_factory.mktemp("scored") / "runs"
    for seed in (1, 2):
        for name in ("gad", "biosses"):
            found = answers(name, read_split(tasks.get(name), demo.prepare(), "test"))
            found[seed] = "1" if name == "gad" else 2.0 + seed
            blurb.score(name, found, suite="demo", add="tool", seed=seed, output=folder)
    blurb.run("baseline:majority", "gad,biosses", suite="demo", output=folder, progress=False)
    return folder


def test_its_seeds_are_runs_of_a_row_of_its_kind(store: Path) -> None:
    row = row_of("tool", output=store)
    assert row.learner == EXTERNAL.rows.name
    assert {name: row.seeds(name) for name in row.datasets} == {"gad": (1, 2), "biosses": (1, 2)}
    found = answers("gad", read_split(GAD, demo.prepare(), "test"))
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
        done([*asked, *(["--output", str(store)] if asked[0] != "doctor" else [])], store.parent)


def test_a_check_on_dev_says_what_it_can_compare(store: Path) -> None:
    code, out, _ = command(
        ["check", "tool", "--baseline", "tool", "--output", str(store)], store.parent
    )
    assert code == 2
    assert "--split test compares those that it has" in out


@pytest.mark.parametrize("name", ["my\nmodel", "", "  ", "::error::", "a\udc80", "m" * 300])
def test_a_name_that_a_store_cannot_have_is_refused_before_anything_is_written(
    name: str, tmp_path: Path
) -> None:
    given = answers("gad", read_split(GAD, demo.prepare(), "test"))
    with pytest.raises(SettingsError, match="add"):
        blurb.score("gad", given, suite="demo", add=name, output=tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


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
    assert f"There is no baseline called '{EXTERNAL.name}'" in refused(
        ["run", f"baseline:{EXTERNAL.name}", "--suite", "demo"], tmp_path
    )
    (tmp_path / "p.toml").write_text(f'learner = "{EXTERNAL.name}"\n')
    refused(["run", "scratch:tiny", "--suite", "demo", "--protocol", "p.toml"], tmp_path)


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


# Probabilities in the place of labels, and predictions on dev beside those on test.


def write(path: Path, predictions: dict[str, Any]) -> str:
    lines = (json.dumps({"id": key, "prediction": value}) for key, value in predictions.items())
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_the_most_probable_label_counts(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    labels = tasks.get("chemprot").labels
    units = read_split(tasks.get("chemprot"), demo.prepare(), "test")
    shares = random.dirichlet([0.3] * len(labels), len(units)).round(3)
    given = {
        unit["id"]: dict(zip(labels, map(float, row), strict=True))
        for unit, row in zip(units, shares, strict=True)
    }
    chosen = {
        unit["id"]: labels[int(row.argmax())] for unit, row in zip(units, shares, strict=True)
    }
    found = blurb.score("chemprot", write(tmp_path / "shares.jsonl", given), suite="demo")[0]
    expected = blurb.score("chemprot", chosen, suite="demo")[0]
    assert (found.figures, found.predictions) == (expected.figures, expected.predictions)


def test_labels_of_a_document_count_above_a_half() -> None:
    random = np.random.default_rng(1)
    task = tasks.get("hoc")
    shares = random.random((len(read_split(task, demo.prepare(), "test")), len(task.labels)))
    given = [dict(zip(task.labels, map(float, row), strict=True)) for row in shares]
    chosen = [
        [label for label, share in zip(task.labels, row, strict=True) if share > 0.5]
        for row in shares
    ]
    assert (
        blurb.score("hoc", given, suite="demo")[0].figures
        == blurb.score("hoc", chosen, suite="demo")[0].figures
    )


@pytest.mark.parametrize(
    ("task", "value", "told"),
    [
        (
            "gad",
            {"0": 87.3, "1": 12.7},
            "87.3 of '0' is no probability, which is from 0 to 1. Divide percentages by 100.",
        ),
        ("gad", {"0": 0.9, "1": 0.9}, "the probabilities of the labels have the sum 1.8, not 1."),
        ("gad", {"0": -0.1, "1": 1.1}, "-0.1 of '0' is no probability"),
        ("gad", {"0": "0.5", "1": 0.5}, "'0.5' of '0' is no probability"),
        ("gad", {"no": 0.9, "yes": 0.1}, "is no label of gad"),
        ("gad", {}, "there are no probabilities of labels"),
        ("hoc", {}, "there are no probabilities of labels"),
        ("hoc", {"sustaining proliferative signaling": 55}, "Divide percentages by 100."),
    ],
)
def test_what_is_no_probability_is_refused_with_its_line(
    task: str, value: Any, told: str, tmp_path: Path
) -> None:
    units = read_split(tasks.get(task), demo.prepare(), "test")
    given: dict[str, Any] = dict(
        zip([unit["id"] for unit in units], answers(task, units), strict=True)
    )
    given[units[2]["id"]] = value
    write(tmp_path / "shares.jsonl", given)
    words = ["score", "--task", task, "--predictions", "shares.jsonl", "--suite", "demo"]
    err = refused(words, tmp_path)
    assert told in " ".join(err.split())
    assert "shares.jsonl:3" in err


@pytest.mark.extensions
def test_predictions_on_dev_are_stored_beside_those_on_test(tmp_path: Path) -> None:
    for task in ("gad", "biosses"):
        given = {
            split: dict(zip([unit["id"] for unit in units], answers(task, units), strict=True))
            for split in ("dev", "test")
            for units in [read_split(tasks.get(task), demo.prepare(), split)]  # type: ignore[arg-type]
        }
        for split in given:
            (tmp_path / split).mkdir(exist_ok=True)
            write(tmp_path / split / f"{task}.jsonl", given[split])
        dev = blurb.score(task, given["dev"], suite="demo", split="dev")[0]
        test = blurb.score(task, given["test"], suite="demo")[0]
        words = [
            "score",
            "--predictions",
            "test",
            "--dev",
            "dev",
            "--suite",
            "demo",
            "--add",
            "tool",
        ]
        assert command(words, tmp_path)[0] == 0
        (row,) = blurb.load_results(tmp_path / "runs").rows
        assert row.means("dev")[task] == pytest.approx(dev.score, abs=1e-12)
        assert row.means("test")[task] == pytest.approx(test.score, abs=1e-12)
    done(["export", "row", "tool", "--output", "runs", "--out", "row"], tmp_path)
    out = done(["leaderboard", "verify", "row", "--suite", "demo", "--format", "json"], tmp_path)
    assert [figure["split"] for figure in json.loads(out)["figures"]] == ["dev", "test"] * 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--predictions", "gad.jsonl", "--dev", "gad.jsonl"], "--dev is of the trial that --add"),
        (["--predictions", "gad.jsonl", "--dev", "gad.jsonl", "--add", "tool"], "gad.jsonl"),
    ],
)
def test_bad_predictions_on_dev_store_nothing(words: list[str], told: str, tmp_path: Path) -> None:
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    write(
        tmp_path / "gad.jsonl",
        dict(zip([unit["id"] for unit in units], answers("gad", units), strict=True)),
    )
    assert told in refused(["score", "--task", "gad", "--suite", "demo", *words], tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_row_of_test_alone_is_shown_without_dev(tmp_path: Path) -> None:
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    blurb.score("gad", answers("gad", units), suite="demo", add="tool", output=tmp_path / "runs")
    out = done(["runs", "show", "tool", "--format", "json"], tmp_path)
    assert json.loads(out)[0]["dev"] is None


def test_numbers_of_any_width_are_numbers() -> None:
    """A model has its probabilities in float32, of which JSON knows nothing."""
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    given = [{"0": np.float32(0.25), "1": np.float32(0.75)} for _ in units]
    plain = [{"0": 0.25, "1": 0.75} for _ in units]
    assert (
        blurb.score("gad", given, suite="demo")[0].figures
        == blurb.score("gad", plain, suite="demo")[0].figures
    )

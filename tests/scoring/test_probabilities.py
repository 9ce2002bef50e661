"""Probabilities in the place of labels, and predictions on dev beside those on test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blurb
from blurb import tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from tests.cli.in_process import blurb as command, done
from tests.scoring.test_forms import answers


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
    units = read_split(task, demo.prepare(), "test")
    shares = random.random((len(units), len(task.labels)))
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
    code, out, err = command(words, tmp_path)
    assert (code, out) == (2, "")
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
        (["--predictions", "gad.jsonl", "--dev", "gad.jsonl"], "Predictions on dev are for add"),
        (["--predictions", "gad.jsonl", "--dev", "gad.jsonl", "--add", "tool"], "gad.jsonl"),
    ],
)
def test_bad_predictions_on_dev_store_nothing(words: list[str], told: str, tmp_path: Path) -> None:
    units = read_split(tasks.get("gad"), demo.prepare(), "test")
    write(
        tmp_path / "gad.jsonl",
        dict(zip([unit["id"] for unit in units], answers("gad", units), strict=True)),
    )
    code, out, err = command(["score", "--task", "gad", "--suite", "demo", *words], tmp_path)
    assert (code, out) == (2, "")
    assert told in err
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

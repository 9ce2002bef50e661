"""A row and another party's run of its recipe: what is reproduced, and each reason why a row is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import blurb
from blurb.extensions.board.verification import CheckedFigure, Level, Reproduction, RowVerification
from blurb.row_files.reading import RowFiles
from tests.cli.in_process import blurb as command, done
from tests.golden import schemas

TASKS = ("ncbi-disease", "gad", "biosses")
ABOUT: dict[str, Any] = {
    "suite": "blurb",
    "weights": "w",
    "tokenizer": "t",
    "learner": "",
    "recipe": 1,
    "protocol_hash": "p",
    "overrides": {},
    "model": "m",
    "measured_by": "one",
    "party": "first",
}


def side(
    by: str, mean: float = 80.0, sd: float = 0.3, seeds: Sequence[int] = range(1, 6), **about: Any
) -> RowVerification:
    """A row of made-up runs with normal scores, each with predictions of its own."""
    tasks = about.pop("tasks", TASKS)
    random = np.random.default_rng(sum(map(ord, by)))
    runs = [{"task": task, "seed": seed} for task in tasks for seed in seeds]
    figures = [
        CheckedFigure(**run, split="test", claimed=0.0, recomputed=float(random.normal(mean, sd)))  # type: ignore[typeddict-item]
        for run in runs
    ]
    table = {
        task: {
            "seed": [seed for seed in seeds for _ in range(200)],
            "split": ["test"] * 200 * len(seeds),
            "id": [str(number) for _ in seeds for number in range(200)],
            "prediction": list(map(str, random.integers(0, 2, 200 * len(seeds)))),
        }
        for task in tasks
    }
    row = RowFiles(Path(by), {**ABOUT, "measured_by": by, "runs": runs, **about}, table)  # type: ignore[typeddict-item]
    return RowVerification(row, figures, [])


def test_runs_of_one_recipe_are_equivalent() -> None:
    found = Reproduction(side("one"), side("another", seeds=range(11, 16), precision="bf16"))
    assert found.level is Level.REPRODUCED
    assert found.content["objections"] == []
    assert 0 < found.content["within"] < 1.0  # type: ignore[operator]


OBJECTIONS: dict[str, tuple[Callable[[], RowVerification], str]] = {
    "other weights": (lambda: side("another", weights="v"), "another recipe: weights"),
    "other settings": (lambda: side("another", overrides={"lr": 1}), "another recipe: overrides"),
    "the same party": (lambda: side("one"), "measured by the same party (one)"),
    "a dataset left out": (lambda: side("another", tasks=TASKS[:2]), "not run again: biosses"),
    "one run": (lambda: side("another", seeds=[1]), "fewer than two runs a side"),
    "a higher mean": (
        lambda: side("another", mean=81.5),
        "not equivalent within 1 points; they are within",
    ),
    "too much noise": (
        lambda: side("another", sd=4.0),
        "not equivalent within 1 points; they are within",
    ),
    "only claimed": (lambda: replace(side("another"), figures=[]), "the rerun is only claimed"),
}


@pytest.mark.parametrize("name", OBJECTIONS)
def test_each_objection(name: str) -> None:
    make, told = OBJECTIONS[name]
    found = Reproduction(side("one"), make())
    assert found.level is Level.RECOMPUTED
    assert told in " | ".join(found.content["objections"])


def test_a_copy_is_no_run() -> None:
    row = side("one")
    copy = replace(row, row=replace(row.row, about={**row.row.about, "measured_by": "another"}))  # type: ignore[typeddict-item]
    (objection,) = Reproduction(row, copy).content["objections"]
    assert objection.startswith(
        "the same predictions as in the row: ncbi-disease, gad, biosses; a copy"
    )


def test_one_dataset_far_away_is_told_though_the_means_are_close() -> None:
    row, rerun = side("one"), side("another", seeds=range(11, 16))
    shifted = [
        CheckedFigure(**{**each, "recomputed": each["recomputed"] - 4})  # type: ignore[typeddict-item, operator]
        if each["task"] == "ncbi-disease"
        else each
        for each in rerun.figures
    ]
    found = Reproduction(row, replace(rerun, figures=shifted), margin=2.0)
    assert found.content["within"] < 2.0  # type: ignore[operator]
    assert [text.partition(" differs")[0] for text in found.content["objections"]] == [
        "ncbi-disease"
    ]
    assert found.level is Level.RECOMPUTED


def test_rows_of_predictions_have_no_recipe() -> None:
    found = Reproduction(side("one", learner="external"), side("another", learner="external"))
    assert "nobody here knows how its predictions were made" in found.content["objections"][0]


@pytest.mark.costly
def test_the_command_with_a_deterministic_kind(tmp_path: Path) -> None:
    common = {
        "tasks": "gad,biosses",
        "suite": "demo",
        "output": tmp_path / "runs",
        "progress": False,
    }
    blurb.run("baseline:bigrams", **common)
    for name, party in (("mine", "first"), ("yours", "third")):
        export = ["export", "row", "baseline:bigrams", "--output", "runs", "--out", name]
        done([*export, "--measured-by", name, "--party", party], tmp_path)
    asked = ["leaderboard", "verify", "--suite", "demo", "mine", "--rerun"]
    code, out, _ = command([*asked, "yours"], tmp_path)
    assert (code, out.splitlines()[-1]) == (0, "baseline:bigrams: reproduced")
    assert (
        "Row minus rerun, over 2 datasets: +0.00, equivalent within 0.00 points (margin 1)." in out
    )
    code, out, _ = command([*asked, "mine"], tmp_path)
    assert (code, out.splitlines()[-1]) == (1, "baseline:bigrams: recomputed")
    assert "Not reproduced: measured by the same party (mine)." in out
    code, out, _ = command([*asked, "yours", "--format", "json"], tmp_path)
    jsonschema.validate(json.loads(out), schemas.of_command("leaderboard verify"))
    assert json.loads(out)["rerun"]["objections"] == []
    code, _, err = command(["leaderboard", "verify", "mine", "--margin", "2"], tmp_path)
    assert (code, "--margin is for --rerun" in err) == (2, True)


@pytest.mark.parametrize("tasks", [("gad", "my-task"), ("my-task",)])
def test_datasets_outside_blurb_have_no_weight_beside_those_of_it(tasks: tuple[str, ...]) -> None:
    found = Reproduction(
        side("one", tasks=tasks), side("another", tasks=tasks, seeds=range(11, 16))
    ).content
    score = next(each for each in found["datasets"] if each["task"] == tasks[0])
    assert found["difference"] == pytest.approx(score["difference"])

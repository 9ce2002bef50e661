"""Rows beside other rows: frauds whose figures follow from their predictions are told, honest rows hardly ever."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import blurb
from blurb.extensions.board import plausibility
from blurb.extensions.board.consistency import SignalKind
from blurb.extensions.board.plausibility import ENOUGH, RATE, Beside, RunAnswers, alike
from blurb.extensions.board.verification import CheckedFigure, Level, Reproduction, RowVerification
from blurb.row_files.reading import RowFiles, read_row_files
from blurb.tasks import all as every_task
from tests.cli.in_process import blurb as command, done, refused
from tests.conftest import ROOT
from tests.golden import schemas

NAMES = [task.name for task in every_task() if task.paper_order]
USUAL = {name: (80.0 - place, 1.5 * (place % 3) - 1) for place, name in enumerate(NAMES)}
"""Dataset -> test score of a usual row, and how far test is above dev."""


def row(
    random: np.random.Generator,
    weights: str,
    tasks: Sequence[str] = NAMES,
    better: float = 0.0,
    gain: float = 0.0,
    examples: int = 0,
) -> RowFiles:
    """A made-up row of five seeds: models differ by 3 points, their runs by 0.7, their gaps by 1.

    :param better: points above what its weights would have on dev and test
    :param gain: points on test alone
    :param examples: of made-up predictions for each run
    """
    level, runs = random.normal(0, 3) if weights != "known" else 0.0, []
    for task in tasks:
        test, gap = USUAL[task]
        gap += random.normal(0, 1)
        for seed in range(1, 6):
            dev = test + level + better - gap + random.normal(0, 0.7)
            runs.append(
                {
                    "task": task,
                    "seed": seed,
                    "data": task,
                    "metric": "f1",
                    "dev": {"f1": dev / 100},
                    "test": {"f1": (test + level + better + gain + random.normal(0, 0.7)) / 100},
                }
            )
    about: dict[str, Any] = {
        "weights": weights,
        "tokenizer": "t",
        "learner": "",
        "recipe": 1,
        "protocol_hash": "p",
    }
    about |= {"overrides": {}, "model": f"model {weights}", "runs": runs}
    count = 5 * examples
    table = {
        "seed": [seed for seed in range(1, 6) for _ in range(examples)],
        "split": ["test"] * count,
        "id": list(map(str, range(examples))) * 5,
        "prediction": random.integers(0, 2, count).tolist(),
    }
    return RowFiles(Path(weights), about, dict.fromkeys(tasks, table))  # type: ignore[arg-type]


def kinds(signals: Sequence[Any]) -> set[tuple[SignalKind, str]]:
    return {(signal.kind, signal.where) for signal in signals}


@pytest.mark.costly
def test_honest_rows_have_a_signal_in_one_case_of_a_hundred_over_all_signals() -> None:
    random = np.random.default_rng(0)
    odd = 0
    for _ in range(1_000):
        others = [*(row(random, str(number)) for number in range(6)), row(random, "known")]
        odd += bool(Beside(row(random, "known"), others).signals())
    assert odd <= 1_000 * RATE * 1.5  # of a binomial with that rate: 98 %


@pytest.mark.parametrize("references", [3, 6, 12])
def test_gold_answers_copied_in_part_are_told_by_the_gap(references: int) -> None:
    random = np.random.default_rng(references)
    others = [row(random, str(number), tasks=NAMES[:2]) for number in range(references)]
    fraud = row(random, "new", tasks=NAMES[:2], gain=60.0 if references == 3 else 15.0)
    assert kinds(Beside(fraud, others).signals()) == {(SignalKind.GAP, name) for name in NAMES[:2]}


def test_runs_better_than_all_others_of_their_weights() -> None:
    random = np.random.default_rng(1)
    others = [row(random, "known") for _ in range(2)]
    told = kinds(Beside(row(random, "known", better=6.0), others).signals())
    assert told == {(SignalKind.BETTER, name) for name in NAMES}
    assert kinds(Beside(row(random, "unknown", better=6.0), others).signals()) == set()


def test_predictions_of_another_model() -> None:
    random = np.random.default_rng(2)
    first, other = (row(random, name, tasks=NAMES[:2], examples=150) for name in ("one", "other"))
    thief = RowFiles(
        Path("thief"), first.about, {**first.predictions, NAMES[1]: other.predictions[NAMES[1]]}
    )
    (signal,) = Beside(thief, [other]).signals()
    assert (signal.kind, signal.where) == (SignalKind.COPIED, NAMES[1])
    assert signal.what == "the same predictions as model other"
    assert Beside(first, [other]).signals() == []


def leaked(row: RowFiles) -> dict[tuple[str, str], float]:
    """What leaked examples add: a tenth of a point and noise; in the row of a thief more."""
    noise = np.random.default_rng(abs(hash(str(row.about["runs"][0]["test"])))).normal(0, 0.1)
    return {(task, task): 0.1 + noise + 2.0 * (row.folder.name == "thief") for task in NAMES[:2]}


def test_test_examples_that_were_learned_by_heart() -> None:
    random = np.random.default_rng(5)
    others = [row(random, str(number), tasks=NAMES[:2]) for number in range(8)]
    told = kinds(Beside(row(random, "thief", tasks=NAMES[:2]), others, leaked=leaked).signals())
    assert told == {(SignalKind.LEAKED, name) for name in NAMES[:2]}
    assert Beside(row(random, "honest", tasks=NAMES[:2]), others, leaked=leaked).signals() == []


def test_few_references_say_nothing() -> None:
    random = np.random.default_rng(3)
    others = [row(random, str(number), tasks=NAMES[:2]) for number in range(ENOUGH - 1)]
    assert Beside(row(random, "new", tasks=NAMES[:2], gain=40.0), others).signals() == []
    assert Beside(row(random, "new"), []).signals() == []


def test_other_data_is_no_reference() -> None:
    random = np.random.default_rng(4)
    others = [row(random, str(number), tasks=NAMES[:1]) for number in range(6)]
    for other in others:
        for run in other.about["runs"]:
            run["data"] = "another release"
    assert Beside(row(random, "new", tasks=NAMES[:1], gain=40.0), others).signals() == []


def test_a_row_above_runs_without_chance_is_told() -> None:
    """Runs of one recipe that are all alike have no variance; 19 points above them are odd all the same."""

    def alike(score: float) -> RowFiles:
        run = {
            "task": "gad",
            "seed": 1,
            "data": "d",
            "metric": "f1",
            "dev": {},
            "test": {"f1": score},
        }
        about = {
            "weights": "w",
            "tokenizer": "t",
            "learner": "probe",
            "recipe": 1,
            "protocol_hash": "p",
        }
        about |= {"overrides": {}, "model": "m", "runs": [run]}  # type: ignore[dict-item]
        return RowFiles(
            Path("x"), about, {"gad": {"seed": [], "split": [], "id": [], "prediction": []}}
        )  # type: ignore[arg-type]

    others = [alike(0.80)] * 4
    assert kinds(Beside(alike(0.99), others).signals()) == {(SignalKind.BETTER, "gad")}
    assert not Beside(alike(0.80), others).signals()


# Copies of runs, and honest runs that are alike. The oracle is how the answers were drawn.


GOLD = np.random.default_rng(0).integers(0, 2, 600)


def answers(given: Sequence[Any], gold: Sequence[Any] | None = None) -> RunAnswers:
    texts = [plausibility.plain(each) for each in given]
    most = max(texts, key=texts.count)
    right = [gold is not None and each == gold[place] for place, each in enumerate(given)]
    return RunAnswers(
        np.arange(len(texts)),
        np.array(list(map(hash, texts))),
        np.array([text == most for text in texts]),
        np.array(right),
        all(isinstance(each, float) for each in given),
    )


def flipped(given: Sequence[int], part: float, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    return [int(1 - each if random.random() < part else each) for each in given]


def test_copies_are_told_with_their_share() -> None:
    gold = GOLD.tolist()
    run = flipped(gold, 0.2, seed=1)
    assert alike(answers(run, gold), answers(run, gold)) == 1.0
    near = [1 - each if place in (3, 70, 400) else each for place, each in enumerate(run)]
    assert alike(answers(run, gold), answers(near, gold)) == pytest.approx(597 / 600)
    assert alike(answers(run), answers(near)) == pytest.approx(597 / 600)
    assert alike(answers(run, gold), answers(flipped(run, 0.05, seed=2), gold)) == 0.0
    assert alike(answers(run[:90], gold[:90]), answers(run[:90], gold[:90])) == 0.0  # too few
    # But numbers are never alike by chance
    assert alike(answers([0.5, 1.25, 3.0]), answers([0.5, 1.25, 3.0])) == 1.0


def test_honest_runs_that_are_alike_are_not_told() -> None:
    gold = GOLD.tolist()
    excellent = [flipped(gold, 0.003, seed) for seed in (1, 2)]
    assert alike(*(answers(run, gold) for run in excellent)) == 0.0
    assert alike(*map(answers, [[0] * 600, [0] * 600])) == 0.0
    nearly = [[int(place in places) for place in range(600)] for places in ({1, 9, 30}, {1, 9, 77})]
    assert alike(*map(answers, nearly)) == 0.0
    sentences = [["O"] * length for length in range(1, 301)]
    assert alike(answers(sentences), answers(sentences)) == 0.0
    assert alike(answers([2.5, 2.5]), answers([2.5, 2.5])) == 0.0  # one number for all


def test_a_part_of_the_examples_is_compared_as_well() -> None:
    run = answers(flipped(GOLD.tolist(), 0.2, seed=1))
    part = run.at(np.arange(0, 600, 3))
    assert (alike(run, part), alike(part, run)) == (1.0, 1.0)


QUICK = ROOT / "docs" / "results" / "minilm" / "quick" / "row"


def test_seeds_of_a_real_row_are_no_copies_of_each_other() -> None:
    row = read_row_files(QUICK)
    for task in row.predictions:
        assert (
            plausibility.equal_seed_pairs(
                row, [run for run in row.about["runs"] if run["task"] == task], None
            )
            == []
        )


def with_answers(row: RowFiles, share: float, **about: Any) -> RowFiles:
    """The row with some answers of GAD changed."""
    random, table = np.random.default_rng(5), row.predictions["gad"]
    changed = [
        str(1 - int(each)) if random.random() < share else each for each in table["prediction"]
    ]
    return RowFiles(
        Path("copy"),
        {**row.about, **about},  # type: ignore[typeddict-item]
        {**row.predictions, "gad": {**table, "prediction": changed}},
    )


def test_a_copy_under_other_weights_is_told_beside_its_original() -> None:
    row = read_row_files(QUICK)
    copy = with_answers(row, 0.004, weights="0" * 64, model="mine")
    told = {
        signal.where: str(signal)
        for signal in Beside(copy, [row]).signals()
        if signal.kind is SignalKind.COPIED
    }
    assert set(told) == set(row.predictions)
    assert "% of the predictions the same as all-MiniLM-L6-v2" in told["gad"]
    assert "the same predictions as all-MiniLM-L6-v2" in told["ddi"]
    assert Beside(with_answers(row, 0.5), []).signals() == []


def test_a_deterministic_kind_run_again_is_no_copy() -> None:
    """Two parties who probe one checkpoint have one answer; whoever claims it for other weights does not."""
    row = read_row_files(QUICK)
    probe = replace(row, about={**row.about, "learner": "probe"})  # type: ignore[typeddict-item]
    again = replace(probe, about={**probe.about, "measured_by": "another", "precision": "fp32"})  # type: ignore[typeddict-item]
    assert Beside(probe, [again]).signals() == []
    stolen = replace(probe, about={**probe.about, "weights": "0" * 64})  # type: ignore[typeddict-item]
    assert {signal.kind for signal in Beside(stolen, [probe]).signals()} == {SignalKind.COPIED}


# A row and another party's run of its recipe: what is reproduced, and each reason why a row is not.


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
    blurb.run(
        "baseline:bigrams",
        tasks="gad,biosses",
        suite="demo",
        output=tmp_path / "runs",
        progress=False,
    )
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
    assert "--margin is for --rerun" in refused(
        ["leaderboard", "verify", "mine", "--margin", "2"], tmp_path
    )


@pytest.mark.parametrize("tasks", [("gad", "my-task"), ("my-task",)])
def test_datasets_outside_blurb_have_no_weight_beside_those_of_it(tasks: tuple[str, ...]) -> None:
    found = Reproduction(
        side("one", tasks=tasks), side("another", tasks=tasks, seeds=range(11, 16))
    ).content
    score = next(each for each in found["datasets"] if each["task"] == tasks[0])
    assert found["difference"] == pytest.approx(score["difference"])

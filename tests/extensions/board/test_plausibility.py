"""Rows beside other rows: frauds whose figures follow from their predictions are told, honest rows hardly ever."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blurb.extensions.board.consistency import SignalKind
from blurb.extensions.board.plausibility import ENOUGH, RATE, Beside
from blurb.row_files.reading import RowFiles
from blurb.tasks import all as every_task

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
            found = {"f1": (test + level + better + gain + random.normal(0, 0.7)) / 100}
            runs.append(
                {
                    "task": task,
                    "seed": seed,
                    "data": task,
                    "metric": "f1",
                    "dev": {"f1": dev / 100},
                    "test": found,
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

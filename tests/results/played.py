"""Stores of invented predictions for every dataset: as good as asked for, scored as real ones are."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from blurb import formulations, tasks
from blurb.inputs import tagging
from blurb.store import rescore, row_trials as rows
from blurb.store.store import Store
from blurb.store.trial import Configuration, Trial
from blurb.tasks import Task
from tests.store import fakes

CONFIGURATION = Configuration("quick", "0" * 64, {}, "fp32", "blurb")
SIZES = {"dev": 150, "test": 200}
NAMES = [task.name for task in tasks.all() if task.paper_order]


def gold_of(task: Task, rng: random.Random) -> Any:
    """A right answer."""
    if task.type in ("ner", "pico"):
        names = (
            tagging.labels(task.labels, "bio")
            if task.type == "ner"
            else [f"I-{label}" for label in task.labels]
        )
        found = rng.choices([*names, "O", "O"], k=12)
        return tagging.convert_tags(found, "bio", "bio") if task.type == "ner" else found
    if task.type == "similarity":
        return rng.uniform(0, 4)
    if task.type == "document":
        return sorted(rng.sample(task.labels, rng.randint(1, 3)), key=task.labels.index)
    return rng.choice(task.labels)


def wrong(task: Task, gold: Any, rng: random.Random) -> Any:
    """Another answer, most of the time."""
    if task.type == "similarity":
        return gold + rng.gauss(0, 3)
    return gold_of(task, rng)


def play(
    store: Store,
    model: str,
    shares: Mapping[str, float],
    seeds: Sequence[int] = (1, 2, 3),
    configuration: Configuration = CONFIGURATION,
    spoil: Callable[[str, str, int], float] = lambda name, split, number: 1.0,
    **changes: Any,
) -> None:
    """Writes the trials of a row.

    :param shares: dataset -> how often an answer is right
    :param spoil: factor of that share, by dataset, split and number of the unit
    """
    row_weights = changes.pop("row_weights", "w" * 64)
    changes.setdefault("weights", f"{model:w<64}")
    trials = [fakes.trial(name, seed, **changes) for name in shares for seed in seeds]
    for trial in trials:
        write(store, model, trial, shares[trial.task], configuration, spoil)
    rows.write(
        store, replace(fakes.row(model, *trials, configuration=configuration), weights=row_weights)
    )


def write(
    store: Store,
    model: str,
    trial: Trial,
    share: float,
    configuration: Configuration,
    spoil: Callable[[str, str, int], float],
) -> None:
    """One trial. What is hard follows from the dataset; a tenth of the units are a matter of model and seed."""
    task = tasks.get(trial.task)
    formulation = formulations.bind(task, {})
    columns: dict[str, list[Any]] = {
        name: [] for name in ("split", "id", "doc_id", "gold", "prediction", "majority", "scores")
    }
    truth, draw = random.Random(task.name), random.Random(f"{model} {task.name} {trial.seed}")
    for split, size in SIZES.items():
        for number in range(size):
            gold = gold_of(task, truth)
            columns["split"].append(split)
            columns["id"].append(f"{split}.{number}")
            columns["doc_id"].append(
                f"d{number // 5}" if task.name in ("jnlpba", "ddi", "chemprot", "hoc") else None
            )
            columns["gold"].append(gold)
            luck, other = truth.random(), wrong(task, gold, truth)
            if draw.random() < 0.1:
                luck, other = draw.random(), wrong(task, gold, draw)
            columns["prediction"].append(
                gold if luck < share * spoil(task.name, split, number) else other
            )
            columns["majority"].append(gold)
            columns["scores"].append(None)
    finish(store, model, trial, formulation, columns, configuration)


def finish(
    store: Store,
    model: str,
    trial: Trial,
    formulation: formulations.Formulation,
    columns: dict[str, list[Any]],
    configuration: Configuration = CONFIGURATION,
) -> None:
    """The files of a trial with these predictions, scored as real ones are."""
    fakes.write(store, model, trial, columns, rescore.figures(formulation, columns), configuration)

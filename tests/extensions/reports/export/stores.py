"""Stores whose predictions are whole: what a submission is made from."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blurb import formulations, tasks
from blurb.data.schema import Example
from blurb.store import rescore, row_trials as row_files
from blurb.store.store import Store
from tests.cli.in_process import run
from tests.store import fakes
from tests.store.fakes import CONFIGURATION, row, trial


def gad(count: int = 534) -> list[Example]:
    """Rows of GAD's size, ids and label counts (281 of 534 positive: docs/benchmark.md, "GAD"), without a text."""
    return [
        {"id": f"test.{i}", "doc_id": None, "label": "1" if i < 281 else "0"} for i in range(count)
    ]


def bioasq(count: int = 140) -> list[Example]:
    """Rows of BioASQ's size; nobody without a registration knows its ids."""
    names = [hashlib.sha256(str(i).encode()).hexdigest()[:24] for i in range(count)]
    return [{"id": name, "label": "yes" if i % 3 else "no"} for i, name in enumerate(names)]


def noisy(task: tasks.Task, unit: Example, chance: random.Random) -> Any:
    """A prediction that is often right: scores are then neither 0 nor 1."""
    gold = formulations.bind(task).gold(unit)
    if task.type in ("ner", "pico"):
        # Orphan I among them
        kinds = [f"{prefix}-{label}" for label in task.labels for prefix in "BI"]
        return [chance.choice(["O", *kinds]) if chance.random() < 0.1 else tag for tag in gold]
    if task.type == "similarity":
        return gold + chance.gauss(0, 1.5)  # some beyond 0 and 4
    if task.type == "document":
        return [label for label in task.labels if (label in gold) != (chance.random() < 0.03)]
    return chance.choice(task.labels) if chance.random() < 0.3 else gold


def finish(
    store: Store,
    name: str,
    rows: Sequence[Example],
    seed: int = 1,
    verdict: str = "identical",
    model: str = "m",
    **changed: Any,
) -> None:
    """A finished trial of a model with noisy predictions, scored by the task's formulation.

    :param changed: columns to replace; the figures stay those of the first
    """
    task = tasks.get(name)
    formulation = formulations.bind(task)
    chance = random.Random(f"{name} {seed}")
    documents = [unit.get("doc_id") for unit in rows]
    gold = [formulation.gold(unit) for unit in rows]
    columns = {
        "id": [unit["id"] for unit in rows],
        "doc_id": documents,
        "gold": gold,
        "prediction": [noisy(task, unit, chance) for unit in rows],
        "majority": gold,
        "scores": ([None] * len(rows)),
    }
    figures = rescore.figures(formulation, _both(columns))
    planned = trial(name, seed)
    fakes.write(
        store,
        model,
        planned,
        _both({**columns, **changed}),
        figures,
        verdict=verdict,
        started=f"2024-05-0{seed}T10:00:00Z",
    )
    row_files.write(store, row(model, planned, configuration=CONFIGURATION))


def _both(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same units as dev, under names of their own, and as test."""
    count = len(columns["id"])
    dev = {**columns, "id": [f"dev.{number}" for number in range(count)]}
    return {
        "split": ["dev"] * count + ["test"] * count,
        **{name: [*dev[name], *columns[name]] for name in columns},
    }


def _run(*arguments: str, folder: Path) -> tuple[int, str]:
    """`blurb export` on the store `runs` of a folder: exit code and all that it prints."""

    from blurb.messages.errors import BlurbError

    result = run("export", *arguments, "--output", str(folder / "runs"))
    if isinstance(result.exception, BlurbError):  # `main` prints it and exits with 2
        return 2, str(result.exception)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def export(*arguments: str, folder: Path) -> str:
    """What an export prints that must succeed."""
    code, text = _run(*arguments, folder=folder)
    assert code == 0, text
    return text


def refused(*arguments: str, folder: Path) -> str:
    """What an export says that must end with 2."""
    code, text = _run(*arguments, folder=folder)
    assert code == 2
    return text

"""Metrics from stored predictions: at the end of a trial, and again without training when a metric changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from blurb import formulations, metrics
from blurb.formulations._base import Formulation
from blurb.runs.store import Store, read_json, read_predictions, task_of, write_json


def figures(formulation: Formulation, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The content of `metrics.json`: all figures of dev and test as fractions, and what the majority gets there."""
    content: dict[str, Any] = {"metrics_version": metrics.VERSION, "majority": {}}
    for split in ("dev", "test"):
        rows = [i for i, name in enumerate(columns["split"]) if name == split]
        gold, documents = ([columns[name][i] for i in rows] for name in ("gold", "doc_id"))
        for name, target in (("prediction", content), ("majority", content["majority"])):
            target[split] = formulation.score(gold, [columns[name][i] for i in rows], documents)
    content["metric"] = next(iter(content["test"]))
    return content


def is_done(store: Store, path: Path) -> bool:
    """Whether a trial needs no training: finished, its metrics of this version or computed again now.

    Call it under the lock of the trial.
    """
    damage = store.damage(path)
    if damage not in ([], ["metrics.json"]):
        return False
    if damage or read_json(path / "metrics.json").get("metrics_version") != metrics.VERSION:
        refresh(store, path)
    return True


def refresh(store: Store, path: Path) -> bool:
    """Computes the metrics of a finished trial again; returns whether they changed. Call it under its lock."""
    spec = store.read_spec(path)
    formulation = formulations.bind(task_of(path, spec.task), spec.settings)
    content = figures(formulation, read_predictions(path / "predictions.parquet"))
    if not store.damage(path) and read_json(path / "metrics.json") == content:
        return False
    write_json(path / "metrics.json", content)
    store.seal(path)
    return True


def rescore(store: Store) -> int:
    """Computes the metrics of all finished trials again; returns how many changed.

    A trial whose metrics file alone is damaged is repaired; other damaged ones are left for `blurb run`.
    """
    changed = 0
    for path in store.trial_folders():
        with FileLock(store.lock(path)):
            if store.damage(path) in ([], ["metrics.json"]):
                changed += refresh(store, path)
    return changed

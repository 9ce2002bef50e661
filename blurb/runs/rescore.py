"""Metrics from stored predictions: at the end of a trial, and again without training when a metric changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb import formulations, metrics, tasks
from blurb.formulations._base import Formulation
from blurb.runs.store import Store, read_json, read_predictions, write_json


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


def rescore(store: Store, report: Callable[[Path, bool], None] = lambda path, changed: None) -> int:
    """Computes the metrics of all finished trials again; returns how many changed.

    A trial whose metrics file alone is damaged is repaired; other damaged ones are left for `blurb run`.
    """
    changed = 0
    for path in store.trial_folders():
        if store.damage(path) not in ([], ["metrics.json"]):
            continue
        spec = store.read_spec(path)
        formulation = formulations.bind(tasks.get(spec.task), spec.settings)
        content = figures(formulation, read_predictions(path / "predictions.parquet"))
        differs = bool(store.damage(path)) or read_json(path / "metrics.json") != content
        if differs:
            write_json(path / "metrics.json", content)
            store.seal(path)
            changed += 1
        report(path, differs)
    return changed

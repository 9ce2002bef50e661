"""Metrics from stored predictions: at the end of a trial, and again without training when a metric changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from blurb import formulations, metrics
from blurb.errors import BlurbError, StoreError, Tell, tell_damage
from blurb.formulations._base import Formulation
from blurb.runs.store import Store, left_out, read_json, read_predictions, task_of, write_json
from blurb.tasks import SPLITS

ROUNDING = 1e-12
"""No figure that is nearer than this to another is another one; tables show a millionth of a fraction."""


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
    if damage not in ([], ["metrics.json"]) or (path / "metrics.json").is_dir() or outdated(path):
        return False
    if damage or read_json(path / "metrics.json").get("metrics_version") != metrics.VERSION:
        refresh(store, path)
    return True


def outdated(path: Path) -> bool:
    """Whether a finished trial cut its inputs otherwise than they would be cut now.

    Up to version 4 of the features, the odd sub-token of two texts that are too long went to the second one more often
    than `longest_first` gives it. That concerns the trials of similarity tasks that cut something; the recipe stays, as
    no pair of BIOSSES is cut at 512.
    """
    facts = read_json(path / "provenance.json").get("facts", {})
    cut = any(facts.get(f"{split}_inputs", {}).get("truncated") for split in SPLITS)
    if not cut or facts.get("features_version", 4) > 4:
        return False
    return task_of(path, str(read_json(path / "spec.json")["task"])).type == "similarity"


def refresh(store: Store, path: Path) -> bool:
    """Computes the metrics of a finished trial again; returns whether they changed. Call it under its lock."""
    spec = store.read_spec(path)
    formulation = formulations.bind(task_of(path, spec.task), spec.settings)
    content = figures(formulation, read_predictions(path / "predictions.parquet"))
    if not store.damage(path) and _same(read_json(path / "metrics.json"), content):
        return False
    write_json(path / "metrics.json", content)
    store.seal(path)
    return True


def _same(stored: Any, computed: Any) -> bool:
    """Whether figures are alike but for the last bits, in which sums of two processors may differ."""
    if isinstance(stored, Mapping) and isinstance(computed, Mapping):
        return stored.keys() == computed.keys() and all(_same(stored[name], computed[name]) for name in computed)
    if isinstance(stored, float) and isinstance(computed, float):
        return math.isclose(stored, computed, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(stored == computed)


def rescore(store: Store, tell: Tell = tell_damage) -> tuple[int, int]:
    """Computes the metrics of all finished trials again; returns how many there were, and how many changed.

    A trial whose metrics file alone is damaged is repaired.

    :param tell: is told of other damage; those trials are left for `blurb run`
    """
    scored = changed = 0
    for path in store.trial_folders():
        with FileLock(store.lock(path)):
            try:
                damage = store.damage(path)
                if damage in ([], ["metrics.json"]) and not (path / "metrics.json").is_dir():
                    changed += refresh(store, path)
                    scored += 1
                    continue
            except (BlurbError, OSError, TypeError, KeyError, ValueError) as error:  # ValueError: of a metric
                tell(f"{error} The trial is left out." if isinstance(error, StoreError) else f"{path}: {error!r}.")
                continue
        tell(left_out(path, damage))
    return scored, changed

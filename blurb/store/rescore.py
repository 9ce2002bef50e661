"""Computes metrics from stored predictions, at the end of a trial and again when a metric changes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blurb import formulations, metrics
from blurb.formulations._base import Formulation
from blurb.messages import (
    BlurbError,
    SettingsError,
    StoreError,
    Tell,
    notify,
    tell_damage,
    with_effect,
)
from blurb.store import index
from blurb.store.record import LOSS, Figures, SplitFigures, read_predictions, read_spec
from blurb.store.store import LEFT_OUT, Store, left_out
from blurb.store.trial import read_provenance
from blurb.system import leases
from blurb.system.files import read_json, write_json
from blurb.tasks import ScoredSplit

ROUNDING = 1e-12
"""Metrics that differ by less than this are equal; tables show a millionth of a fraction."""

TICK = 2_000_000_000
"""Nanoseconds between two times that every file system tells apart; FAT counts in steps of two seconds."""


def figures(formulation: Formulation, columns: Mapping[str, Sequence[Any]]) -> Figures:
    """The content of `metrics.json`: all scores on dev and test, and those of the majority answer."""

    def scores(split: ScoredSplit, answers: str) -> dict[str, float]:
        rows = [i for i, name in enumerate(columns["split"]) if name == split]
        if not rows:  # predictions of another tool may be of test alone
            return {}
        gold, predicted, documents = (
            [columns[name][i] for i in rows] for name in ("gold", answers, "doc_id")
        )
        scored = formulation.score(gold, predicted, documents)
        for metric, value in scored.items():
            if not math.isfinite(value):
                raise SettingsError(
                    f"The metric gave {value!r} for {metric} on {split}; where a value is undefined, a metric must "
                    "give 0.0."
                )
        return scored

    majority: SplitFigures = {"dev": scores("dev", "majority"), "test": scores("test", "majority")}
    dev, test = scores("dev", "prediction"), scores("test", "prediction")
    if LOSS in columns:
        known = [i for i, name in enumerate(columns["split"]) if name == "dev"]
        gold, losses = ([columns[name][i] for i in known] for name in ("gold", LOSS))
        dev[formulation.loss] = formulation.mean_loss(gold, losses)
    return {
        "metrics_version": metrics.VERSION,
        "majority": majority,
        "dev": dev,
        "test": test,
        "metric": next(iter(test)),
    }


def is_done(store: Store, path: Path) -> bool:
    """Whether a trial is finished; recomputes its metrics if they are of another version.

    A trial of the index is trusted if size and time of all its files are unchanged; for others the files are hashed.
    The caller holds the lease of the trial.
    """
    for facts in index.find_facts(store, [index.key_of(path)]).values():
        if facts.metrics["metrics_version"] == metrics.VERSION:
            return True
    damage = store.damage(path)
    if damage not in ([], ["metrics.json"]) or (path / "metrics.json").is_dir():
        return False
    if damage or read_json(path / "metrics.json").get("metrics_version") != metrics.VERSION:
        refresh(store, path)
    return True


def is_current(store: Store, path: Path) -> bool:
    """Whether a trial is finished and undamaged; nothing is written."""
    return bool(index.find_facts(store, [index.key_of(path)])) or store.is_done(path)


def refresh(store: Store, path: Path) -> bool:
    """Recomputes the metrics of a finished trial; returns whether they changed. The caller holds its lease."""
    spec = read_spec(path)
    formulation = formulations.bind(read_provenance(path).task(spec.task), spec.settings)
    content = figures(formulation, read_predictions(path / "predictions.parquet"))
    if not store.damage(path) and _are_alike(read_json(path / "metrics.json"), content):
        return False
    before = path.stat()
    write_json(path / "metrics.json", content)
    store.seal(path)
    # Written within a tick of the clock, the change would not be seen by an index.
    if path.stat().st_mtime_ns == before.st_mtime_ns:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + TICK))
    return True


def _are_alike(stored: Any, computed: Any) -> bool:
    """Whether figures are equal except for the last bits, in which sums of two processors may differ."""
    if isinstance(stored, Mapping) and isinstance(computed, Mapping):
        return stored.keys() == computed.keys() and all(
            _are_alike(stored[name], computed[name]) for name in computed
        )
    if isinstance(stored, float) and isinstance(computed, float):
        return math.isclose(stored, computed, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(stored == computed)


def rescore_store(store: Store, tell: Tell = tell_damage) -> tuple[int, int]:
    """Recomputes the metrics of all finished trials; returns how many there are and how many changed.

    A trial with a damaged metrics file, and no other damage, is repaired. One that a process runs is left to it.

    :param tell: receives messages about other damage, which is left for `blurb run`
    """
    scored = changed = 0
    # Leases that may be abandoned are watched together, not two minutes for each. Those not written for that long are
    # free at once.
    there = [lease for path in store.trial_folders() if (lease := store.lease(path)).exists()]
    damaged = [
        lease for lease in there if leases.read(lease) is None and not leases.remove_if_stale(lease)
    ]
    if damaged:
        notify(f"Waiting up to two minutes for {damaged[0]}, which cannot be read.")
    leases.wait_for_stale(damaged)
    for path in store.trial_folders():
        try:
            with leases.held(store.lease(path), wait=False):
                damage = store.damage(path)
                if damage in ([], ["metrics.json"]) and not (path / "metrics.json").is_dir():
                    changed += refresh(store, path)
                    scored += 1
                    continue
        except (BlurbError, OSError, TypeError, KeyError, ValueError) as error:
            # A metric raises ValueError.
            tell(
                with_effect(
                    error
                    if isinstance(error, StoreError)
                    else StoreError(f"{error!r}", where=path),
                    LEFT_OUT,
                )
            )
            continue
        tell(left_out(path, damage))
    return scored, changed

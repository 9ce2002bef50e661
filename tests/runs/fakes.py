"""Finished trials that were never trained, for tests of the store and the tables."""

from __future__ import annotations

from pathlib import Path

from blurb.runs.rows import Row
from blurb.runs.spec import Configuration, Trial
from blurb.runs.store import Store, write_json, write_predictions

CONFIGURATION = Configuration("quick", "0" * 64, {"lr": 0.001}, "fp32", "blurb", "a note")


def trial(task: str = "gad", seed: int = 1, **changes: object) -> Trial:
    """A trial that nobody ran."""
    fields = {
        "task": task, "weights": "w" * 64, "tokenizer": "t", "data": "d", "seed": seed, "precision": "fp32",
        "settings": {"head": "linear", "pooling": "cls", "max_train": 0, "max_eval": 0},
    }  # fmt: skip
    return Trial(**{**fields, **changes})  # type: ignore[arg-type]


def finish(
    store: Store, model: str, planned: Trial, score: float, metric: str = "f1", verdict: str = "identical"
) -> Path:
    """Writes all files of a trial."""
    path = store.path(model, planned.task, planned.hash)
    with store.writing(path) as aside:
        write_json(aside / "spec.json", planned.content)
        write_json(aside / "provenance.json", {"data_verdict": verdict})
        # The figure that counts does not come first in the alphabet.
        figures = {metric: score, "accuracy_of_nothing": 0.0}
        majority = {"dev": {metric: 0.1}, "test": {metric: 0.2}}
        content = {"metrics_version": 1, "majority": majority, "dev": figures, "test": figures, "metric": metric}
        write_json(aside / "metrics.json", content)
        columns = ("split", "id", "doc_id", "gold", "prediction", "majority")
        write_predictions(aside / "predictions.parquet", {name: ["x"] for name in columns})
        (aside / "history.csv").write_text("epoch\n")
        (aside / "log.txt").write_text("\n")
    return path


def row(model: str, *trials: Trial, configuration: Configuration = CONFIGURATION) -> Row:
    """A row of these trials."""
    found: dict[str, dict[int, str]] = {}
    for planned in trials:
        found.setdefault(planned.task, {})[planned.seed] = planned.hash
    families = {planned.task: planned.family for planned in trials}
    return Row(model, "w" * 64, "t" * 64, 1, configuration, found, families)

"""Finished trials that were never trained, for tests of store and tables; their files are written as real ones."""

import calendar
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.data import TaskData
from blurb.execution import worker
from blurb.execution.data_sources import DataSource
from blurb.execution.job import Job
from blurb.inputs import tokenized_split
from blurb.store import rescore, row_trials
from blurb.store.record import write_predictions
from blurb.store.row_trials import RowTrials
from blurb.store.store import Store, write_json
from blurb.store.trial import Configuration, Trial

CONFIGURATION = Configuration("quick", "0" * 64, {"lr": 0.001}, "fp32", "blurb", "a note")
HISTORY = [{"epoch": 1, "loss": 0.5, "learning_rate": 0.0001, "dev": 0.6}]


def trial(task: str = "gad", seed: int = 1, **changes: object) -> Trial:
    """A trial that nobody ran."""
    fields = {
        "task": task,
        "weights": "w" * 64,
        "tokenizer": "t",
        "data": "d",
        "seed": seed,
        "precision": "fp32",
        "settings": {"head": "linear", "pooling": "cls", "max_train": 0, "max_eval": 0},
    }
    return Trial(**{**fields, **changes})  # type: ignore[arg-type]


def write(
    store: Store,
    model: str,
    planned: Trial,
    columns: Mapping[str, Sequence[Any]],
    figures: Mapping[str, Any],
    configuration: Configuration = CONFIGURATION,
    verdict: str = "identical",
    facts: Mapping[str, Any] = {
        "train_seconds": 60.0,
        "predict_seconds": 1.0,
        "train_units": 100,
        "features_version": tokenized_split.VERSION,
    },
    started: str = "2024-05-01T10:00:00Z",
) -> Path:
    """All files of a trial with these predictions and figures, as a worker writes them."""
    kind = "baseline" if planned.kind == "baseline" else "encoder"
    source = ModelSource(model, kind, "nowhere", planned.weights, planned.tokenizer)
    job = Job(
        planned, source, configuration, DataSource(planned.task, Path("data")), store.root, "cpu"
    )
    content = TaskData(tasks.get(planned.task), {}, planned.data, verdict)  # type: ignore[arg-type]
    seconds = calendar.timegm(time.strptime(started, "%Y-%m-%dT%H:%M:%SZ"))
    with store.aside(job.path) as aside:
        write_json(aside / "spec.json", planned.content)
        write_predictions(aside / "predictions.parquet", columns)
        write_json(aside / "metrics.json", figures)
        write_json(
            aside / "provenance.json", worker._make_provenance(job, content, seconds, facts).content
        )
        worker._write_history(aside / "history.csv", HISTORY)
        (aside / "log.txt").write_text(f"trial {planned.hash}\n")
        store.put(aside, job.path, replace=True)
    return job.path


def finish(
    store: Store,
    model: str,
    planned: Trial,
    score: float,
    metric: str = "f1",
    verdict: str = "identical",
    **given: Any,
) -> Path:
    """A trial with a score as asked for: its predictions are two units that say nothing."""
    columns: dict[str, list[Any]] = {
        "split": ["dev", "test"],
        "id": ["dev.0", "test.0"],
        "doc_id": [None, None],
        "gold": ["dev", "test"],
        "prediction": ["the model's", "the model's"],
        "majority": ["the majority's", "the majority's"],
        "scores": [None, None],
    }
    figures = rescore.figures(_Asked(metric, score), columns)  # type: ignore[arg-type]
    return write(store, model, planned, columns, figures, verdict=verdict, **given)


@dataclass(frozen=True)
class _Asked:
    """Stands for a formulation: it scores as it was told to, and the majority 0.1 on dev and 0.2 on test."""

    metric: str
    told: float

    def score(
        self, gold: Sequence[Any], predicted: Sequence[Any], documents: Sequence[Any]
    ) -> dict[str, float]:
        if predicted == ["the majority's"]:
            return {self.metric: {"dev": 0.1, "test": 0.2}[gold[0]]}
        # What counts comes first, not in the alphabet
        return {self.metric: self.told, "accuracy_of_nothing": 0.0}


def row(model: str, *trials: Trial, configuration: Configuration = CONFIGURATION) -> RowTrials:
    """A row of these trials."""
    found: dict[str, dict[int, str]] = {}
    for planned in trials:
        found.setdefault(planned.task, {})[planned.seed] = planned.hash
    families = {planned.task: planned.family for planned in trials}
    learner = trials[0].learner if trials else ""
    return RowTrials(model, "w" * 64, "t" * 64, 1, configuration, found, families, learner=learner)


def stored(place: Store | Path, model: str, *trials: Trial, score: float = 0.5) -> Store:
    """A store with a row of finished trials, of one on GAD if none is given."""
    store = place if isinstance(place, Store) else Store(place)
    planned = trials or (trial(),)
    for each in planned:
        finish(store, model, each, score)
    row_trials.write(store, row(model, *planned))
    return store

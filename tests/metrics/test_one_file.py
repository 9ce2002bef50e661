"""A metric is one file: scoring, tables, bootstrap and `evaluate` find all in it. Oracle: scikit-learn."""

import dataclasses
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import recall_score

from blurb import formulations, metrics, tasks
from blurb.messages.errors import SettingsError
from blurb.metrics import functions, hf
from blurb.registry import Registry
from blurb.results import from_store, predictions
from blurb.statistics import bootstrap
from blurb.store import row_trials as rows
from blurb.store.store import Store
from tests.results import played
from tests.store import fakes

FILE = '''
import numpy as np
from blurb.metrics import Metric

def recall_of(gold, predicted, *, label):
    """The share of the units of a label that are found."""
    right, whole = counts(gold, predicted, label=label).sum(0)
    return {"recall": right / whole if whole else 0.0, "f1": 0.5, "gold_units": float(whole)}

def counts(gold, predicted, *, label):
    return np.array([[g == p == label, g == label] for g, p in zip(gold, predicted, strict=True)], dtype=float)

def score(sums):
    return np.divide(sums[..., 0], sums[..., 1], out=np.zeros_like(sums[..., 0]), where=sums[..., 1] > 0)

def mistakes(counts):
    return counts[:, 1] - counts[:, 0]

METRIC = Metric(
    recall_of, main="recall", hub="recall", counts=counts, score=score, mistakes=mistakes,
    tallies=frozenset({"gold_units"}),
)
'''


@pytest.fixture(autouse=True)
def recall_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The file, in the folder of the metrics; and a registry that has not looked there yet."""
    (tmp_path / "recall_of.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "no_metric.py").write_text("METRIC = len", encoding="utf-8")
    monkeypatch.setattr(functions, "__path__", [*functions.__path__, str(tmp_path)])
    known = metrics._registry
    fresh = Registry[metrics.Metric](
        known.kind,
        known.package,
        known.attribute,
        known.group,
        known.contract,
        separator=known.separator,
    )
    monkeypatch.setattr(metrics, "_registry", fresh)
    yield
    for name in ("recall_of", "no_metric"):
        sys.modules.pop(f"{functions.__name__}.{name}", None)


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> tasks.Task:
    """Questions that are scored by it."""
    found = dataclasses.replace(
        tasks.get("pubmedqa"),
        name="my-questions",
        paper_order=None,
        metric="recall_of",
        metric_options={"label": "no"},
    )
    monkeypatch.setitem(tasks._files, found.name, found)
    return found


def test_it_scores_a_task(task: tasks.Task) -> None:
    gold, predicted = ["no", "yes", "no", "no", "maybe"], ["no", "no", "yes", "no", "no"]
    figures = formulations.bind(task, {}).score(gold, predicted, [None] * 5)
    assert figures["recall"] == pytest.approx(
        recall_score(gold, predicted, labels=["no"], average="micro")
    )
    assert figures["gold_units"] == 3


def test_tables_and_bootstrap_take_it(task: tasks.Task, tmp_path: Path) -> None:
    store, rng = Store(tmp_path / "runs"), random.Random(0)
    formulation = formulations.bind(task, {})
    trials = [fakes.trial(task.name, seed) for seed in (1, 2)]
    gold = [rng.choice(task.labels) for _ in range(80)]
    recalls = []
    for trial in trials:
        predicted = [label if rng.random() < 0.7 else rng.choice(task.labels) for label in gold]
        recalls.append(
            100 * recall_score(gold[40:], predicted[40:], labels=["no"], average="micro")
        )
        columns = {
            "split": ["dev"] * 40 + ["test"] * 40,
            "id": [str(i) for i in range(80)],
            "doc_id": [None] * 80,
            "gold": gold,
            "prediction": predicted,
            "majority": gold,
            "scores": [None] * 80,
        }
        played.finish(store, "m", trial, formulation, columns)
    rows.write(store, fakes.row("m", *trials))
    (row,) = from_store.read(store)
    assert row.values(task.name) == pytest.approx(recalls)
    figures = row.datasets[task.name].runs[1].figures["test"]
    assert figures["gold_units"].value == figures["gold_units"].majority == gold[40:].count("no")
    assert figures["f1"].value == 50
    units = predictions.load_clusters(row.records[task.name])
    assert units.scores.tolist() == pytest.approx(recalls)
    spread = bootstrap.spread(units, task.name, 500)
    assert spread.mean == pytest.approx(np.mean(recalls))
    assert spread.interval[0] < spread.mean < spread.interval[1]
    assert sum(
        value for value in predictions.mistakes(row.records[task.name], "test").values()
    ) == pytest.approx(sum(gold[40:].count("no") * (1 - recall / 100) for recall in recalls) / 2)


def test_evaluate_takes_it() -> None:
    pytest.importorskip("evaluate")

    gold, predicted = ["no", "yes", "no"], ["no", "no", "yes"]
    found = hf.load("recall_of", label="no").compute(references=gold, predictions=predicted)
    assert found == {"recall": 0.5, "f1": 0.5, "gold_units": 2.0}


def test_what_is_no_metric_is_refused() -> None:
    with pytest.raises(
        SettingsError,
        match=r"no_metric of the package blurb is of type builtin_function_or_method, not blurb\.metrics\.Metric",
    ):
        metrics.get("no_metric")

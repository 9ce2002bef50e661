"""How far probabilities are from the gold answers. Oracles: scikit-learn's log_loss and torch's losses of a head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_squared_error

from blurb import tasks
from blurb.formulations import bind
from blurb.inputs.features import Features, Ragged
from blurb.results import results_csv
from blurb.store.record import LOSS, read_predictions
from blurb.store.rescore import figures
from blurb.store.store import Store
from blurb.training.batches import collate_batch
from tests.cli.in_process import ran
from tests.conftest import Builder
from tests.learners.test_encoder import _fit

NONE = Features(ids=Ragged.of([]), example_index=np.zeros(0, dtype=np.int64))
RANDOM = np.random.default_rng(0)


def _shares(rows: int, labels: int) -> Any:
    return RANDOM.dirichlet(np.ones(labels), rows).astype(np.float32)


def test_classes() -> None:
    formulation = bind(tasks.get("chemprot"))
    labels = list(formulation.labels)
    gold, shares = RANDOM.integers(0, len(labels), 50), _shares(50, len(labels))
    losses = formulation.losses([{"label": labels[place]} for place in gold], NONE, list(shares))
    assert losses is not None
    expected = log_loss(gold, shares, labels=range(len(labels)))
    assert formulation.mean_loss([labels[place] for place in gold], losses) == pytest.approx(
        expected, rel=1e-6
    )


def test_labels_of_documents() -> None:
    formulation = bind(tasks.get("hoc"))
    right, shares = RANDOM.random((40, 10)) < 0.3, RANDOM.random((40, 10)).astype(np.float32)
    units = [
        {"labels": [formulation.labels[place] for place in np.flatnonzero(row)]} for row in right
    ]
    losses = formulation.losses(units, NONE, list(shares))
    assert losses is not None
    expected = log_loss(right.ravel(), shares.ravel().astype(np.float64))
    assert formulation.mean_loss([unit["labels"] for unit in units], losses) == pytest.approx(
        expected, rel=1e-6
    )


def test_numbers() -> None:
    formulation = bind(tasks.get("biosses"))
    gold, given = RANDOM.random(20) * 4, RANDOM.random(20).astype(np.float32) * 4
    losses = formulation.losses([{"score": value} for value in gold], NONE, list(given))
    assert losses is not None
    assert formulation.mean_loss(list(gold), losses) == pytest.approx(
        mean_squared_error(gold, given), rel=1e-5
    )


@pytest.mark.parametrize("scheme", ["bio", "bioul"])
def test_words_of_a_sentence_in_two_inputs(scheme: str) -> None:
    formulation = bind(tasks.get("ncbi-disease"), {"tagging": scheme})
    units = [
        {"tokens": ["a"] * 5, "tags": ["O", "B-Disease", "I-Disease", "O", "B-Disease"]},
        {"tokens": ["a"] * 2, "tags": ["O", "O"]},
    ]
    pieces = Features(
        Ragged.of([[0]] * 3), np.array([0, 0, 1]), word_ids=Ragged.of([[0, 1, 2], [3, 4], [1]])
    )
    targets = np.concatenate([formulation.targets(units)[unit] for unit in (0, 1)])
    assert len(set(targets)) == (3 if scheme == "bio" else 4)
    shares = [_shares(size, len(formulation.labels)) for size in (3, 2, 1)]
    losses = formulation.losses(units, pieces, [np.pad(row, ((0, 1), (0, 0))) for row in shares])
    assert losses is not None
    read = np.r_[targets[:5], targets[6]]  # the first word of the second sentence has no sub-token
    known = list(range(len(formulation.labels)))
    assert sum(losses) == pytest.approx(
        6 * log_loss(read, np.concatenate(shares), labels=known), rel=1e-6
    )
    assert formulation.mean_loss([unit["tags"] for unit in units], losses) == pytest.approx(
        sum(losses) / 7
    )
    assert (
        formulation.losses(units, pieces, [row.max(1) for row in shares]) is None
    )  # those of the best tags alone


def test_a_certain_mistake_is_finite_and_as_scikit_learn_counts_it() -> None:
    formulation = bind(tasks.get("gad"))
    losses = formulation.losses(
        [{"label": formulation.labels[0]}], NONE, [np.array([0, 1], np.float32)]
    )
    assert losses == [
        pytest.approx(log_loss([0], np.array([[0, 1]], np.float32), labels=[0, 1]), rel=1e-6)
    ]


@pytest.mark.parametrize(
    ("task", "head"),
    [
        ("bc2gm", "linear"),
        ("bc2gm", "bilstm"),
        ("gad", "linear"),
        ("gad", "bilstm"),
        ("hoc", "linear"),
        ("biosses", "linear"),
    ],
)
def test_of_a_network_they_are_the_loss_that_is_trained(
    task: str, head: str, checkpoint: Builder
) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), task, head=head)
    learner.known = None
    losses = learner.predict(units).losses
    assert losses is not None
    features = learner._features(units)
    batch = collate_batch(
        features, np.arange(len(features)), 0, learner.formulation.targets(units.used)
    )
    with torch.no_grad():
        expected = learner.trainer.network.eval().loss(batch)
    assert sum(losses) == pytest.approx(float(expected), rel=2e-4)


@pytest.mark.parametrize("head", ["crf", "bilstm-crf"])
def test_a_chain_has_none(head: str, checkpoint: Builder) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), "bc2gm", head=head)
    answers, scores, losses = learner.predict(units)
    assert losses is None
    assert [len(row) for row in scores] == [len(row) for row in answers]


@pytest.mark.costly
def test_a_trial_has_it_on_dev_and_scored_again_too(tmp_path: Path) -> None:
    run = ["run", "baseline:bigrams", "baseline:majority", "--suite", "demo", "--protocol", "smoke"]
    tasks_of = "gad,biosses,hoc,ncbi-disease"
    ran([*run, "--tasks", tasks_of, "--output", str(tmp_path / "runs")])
    rows = {row.model: row for row in results_csv.read(tmp_path / "runs" / "results.csv")}
    store = Store(tmp_path / "runs")
    for record in map(store.read, store.trial_folders()):
        columns, name = read_predictions(record.path / "predictions.parquet"), record.task.name
        stored = json.loads((record.path / "metrics.json").read_text())
        loss = "squared_error" if name == "biosses" else "log_loss"
        run_of = rows[record.provenance.model].datasets[name].runs[1]
        if record.provenance.model == "baseline:majority":
            assert LOSS not in columns
            assert loss not in stored["dev"]
            assert loss not in run_of.figures["dev"]
            continue
        assert stored["dev"][loss] > 0
        assert loss not in stored["test"]
        assert list(stored["dev"])[-1] == loss
        assert run_of.figures["dev"][loss].value == pytest.approx(
            stored["dev"][loss], abs=1e-4
        )  # not times 100
        assert figures(bind(record.task, record.trial.settings), columns) == stored
        assert [value is None for value in columns[LOSS]] == [
            split == "test" for split in columns["split"]
        ]

"""Settings of short fine-tunings through a trial: the start of the head, the dev sample, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blurb import data, tasks
from blurb.execution.worker import execute_job
from blurb.formulations import bind
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner, check
from blurb.messages.errors import SettingsError
from blurb.planning import trials
from blurb.protocols import protocol
from blurb.protocols.settings import Settings
from blurb.store.record import read_predictions
from blurb.store.store import Store, read_json
from blurb.training.loop import Trainer
from tests.conftest import Builder
from tests.planning.requests import request

DATA = Path(__file__).parents[1] / "golden" / "data"


def trial(checkpoint: Path, store: Path, task: str, **overrides: Any) -> tuple[str, dict[str, Any]]:
    """Runs one and gives its hash and the facts of its provenance."""
    source = building.resolve_model(str(checkpoint))
    given = {"data": DATA, "raw": DATA, "overrides": {"epochs": 2, "batch_size": 4, **overrides}}
    job = trials.job(
        request(store, source, tasks_=task, protocol_="standard", **given),
        source,
        tasks.get(task),
        1,
    )
    outcome = execute_job(job)
    assert outcome.status == "done", outcome.message
    return job.trial.hash, read_json(
        Store(store).path(source.name, task, job.trial.hash) / "provenance.json"
    )["facts"]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "pooling"),
    [
        ("ncbi-disease", "cls"),
        ("gad", "cls-mean-mentions"),
        ("hoc", "cls-mean"),
        ("biosses", "mean"),
        ("pubmedqa", "cls"),
    ],
)
def test_every_kind_of_task_starts_from_a_fit(
    task: str, pooling: str, checkpoint: Builder, tmp_path: Path
) -> None:
    settings = {
        "head_init": "linear",
        "head_lr": 1e-3,
        "pooling": pooling,
        "max_updates": 4,
        "dev_sample": 3,
    }
    hash_, facts = trial(checkpoint("bert_uncased"), tmp_path, task, **settings)
    assert facts["head_start"]["rows"] >= 12
    assert 3 <= facts["choosing_units"] <= 6
    plain = {**settings, "head_init": "random", "head_lr": 0.0, "max_updates": 0, "dev_sample": 0}
    assert trial(checkpoint("bert_uncased"), tmp_path, task, **plain)[0] != hash_


def test_a_linear_start_needs_the_linear_head(checkpoint: Builder) -> None:
    source, task = building.resolve_model(str(checkpoint("bert_uncased"))), tasks.get("gad")
    for head in ("bilstm", "bilstm,hidden=32"):
        with pytest.raises(
            SettingsError, match="head_init 'linear' supports only the head 'linear', not 'bilstm"
        ):
            check(source, bind(task, {"head": head, "head_init": "linear"}))


@pytest.mark.parametrize(
    ("select", "sample", "passes"), [("best", 0, 3), ("last", 0, 1), ("best", 3, 3), ("last", 3, 1)]
)
def test_dev_is_not_predicted_again(
    checkpoint: Builder, monkeypatch: pytest.MonkeyPatch, select: str, sample: int, passes: int
) -> None:
    """What the chosen weights said of dev is what they say. Oracle: the same weights, asked again."""
    calls = []
    predict = Trainer.predict
    monkeypatch.setattr(
        Trainer, "predict", lambda self, features: calls.append(features) or predict(self, features)
    )
    task, source = tasks.get("gad"), building.resolve_model(str(checkpoint("bert_uncased")))
    settings = {"epochs": 3, "batch_size": 4, "lr": 1e-3, "select": select, "dev_sample": sample}
    chosen = protocol.load_protocol_file("standard").settings(task, settings, source.parameters)
    learner = EncoderLearner(source, bind(task, chosen), "cpu", "fp32")
    splits = data.load_task(task, DATA).splits
    train, dev = (Subset(list(splits[name]), name, name=name) for name in ("train", "dev"))
    for _ in range(2):  # a second fit does not answer with what the first one knew
        calls.clear()
        learner.fit(train, dev, 1, lambda done, total: None)
        assert len(calls) == passes
        answers, scores, *_ = learner.predict(dev)
        assert len(calls) == passes + (sample > 0)
        again, confidence, *_ = learner._predict(dev)
        assert answers == again
        assert scores == confidence
        learner.formulation = bind(task, replace(chosen, lr=2e-3))


@pytest.mark.parametrize("value", ["halfway", ""])
def test_another_start_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="head_init must be one of random, linear"):
        Settings(max_length=32, head_init=value)


def test_a_sample_of_dev() -> None:
    rows = [{"id": str(number), "doc_id": f"d{number // 3}"} for number in range(30)]
    dev = Subset(rows, "dev", name="dev")
    assert dev.sample(0, 1) is dev
    assert dev.sample(30, 1) is dev
    assert dev.sample(99, 1) is dev  # more than there are: all of them
    drawn = dev.sample(10, 1)
    assert len(drawn.used) == 10
    assert [row["id"] for row in drawn.used] == sorted((row["id"] for row in drawn.used), key=int)
    assert dev.sample(10, 1).chosen == drawn.chosen
    assert dev.sample(10, 2).chosen != drawn.chosen
    whole = dev.sample(10, 1, whole=True)
    documents = {row["doc_id"] for row in whole.used}
    assert len(whole.used) == 12  # four documents of three
    assert sum(row["doc_id"] in documents for row in rows) == 12
    part = Subset(rows, "dev", list(range(0, 30, 2)), "dev").sample(5, 1)
    assert part.chosen is not None
    assert set(part.chosen) <= set(range(0, 30, 2))


@pytest.mark.costly
@pytest.mark.parametrize("model", ["encoder", "baseline"])
def test_the_units_that_are_scored_may_be_the_same_for_all_seeds(
    checkpoint: Builder, tmp_path: Path, model: str
) -> None:
    source = building.resolve_model(
        "baseline:majority" if model == "baseline" else str(checkpoint("bert_uncased"))
    )

    def ids(seed: int, **overrides: int) -> tuple[str, list[str]]:
        short = (
            {"epochs": 1, "max_train": 8, **overrides}
            if model == "encoder"
            else {"max_train": 8, **overrides}
        )
        asked = request(tmp_path, source, protocol_="standard", data=DATA, overrides=short)
        job = trials.job(asked, source, tasks.get("gad"), seed)
        assert execute_job(job).status in ("done", "already done")
        return job.trial.hash, read_predictions(job.path / "predictions.parquet")["id"]

    assert ids(1, max_eval=4, eval_seed=7)[1] == ids(2, max_eval=4, eval_seed=7)[1]
    assert ids(1, max_eval=4)[1] != ids(2, max_eval=4)[1]
    assert ids(1, max_eval=4, eval_seed=2)[1] == ids(2, max_eval=4)[1]
    assert ids(1, eval_seed=7)[0] == ids(1)[0]  # it draws nothing: no other trial
    assert ids(1, max_eval=4, eval_seed=7)[0] != ids(1, max_eval=4)[0]

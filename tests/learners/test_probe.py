"""The probe as a learner: what it fits, what identifies it, what it refuses, and that it goes on after a stop."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.preprocessing import StandardScaler

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.data import read_split
from blurb.execution.job import Job, TrialOutcome
from blurb.execution.worker import execute_job
from blurb.formulations import bind
from blurb.learners import protocol_learner
from blurb.learners.frozen import encoder as frozen, probe, vectors
from blurb.learners.frozen.encoder import Frozen
from blurb.learners.linear import assign_folds
from blurb.messages.errors import SettingsError
from blurb.planning import trials
from blurb.store.record import read_predictions
from blurb.store.store import Store, read_json
from blurb.training import linear
from tests.conftest import Builder
from tests.planning.requests import request
from tests.rewriting import csv_lines

DATA = Path(__file__).parents[1] / "golden" / "data"


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))


def planned(
    checkpoint: Path, store: Path, task: str, seeds: int | None = None, **overrides: Any
) -> Job:
    given = {"data": DATA, "raw": DATA, "overrides": overrides, "seeds": seeds}
    (job,) = trials.prepare(
        request(store, checkpoint, tasks_=task, protocol_="probe", **given)
    ).final
    return job


def done(job: Job) -> TrialOutcome:
    outcome = execute_job(job)
    assert outcome.status == "done", outcome.message
    return outcome


def predictions(job: Job) -> Mapping[str, list[Any]]:
    return read_predictions(job.path / "predictions.parquet")


def facts(job: Job) -> dict[str, Any]:
    return read_json(job.path / "provenance.json")["facts"]


@pytest.mark.costly
@pytest.mark.parametrize("task", ["ncbi-disease", "ebm-pico", "gad", "biosses", "hoc", "pubmedqa"])
def test_every_kind_of_task_has_one(task: str, checkpoint: Builder, tmp_path: Path) -> None:
    job = planned(checkpoint("bert_uncased"), tmp_path, task)
    done(job)
    history = csv_lines(job.path / "history.csv")
    assert list(history[0]) == ["layer", "strength", "shift", "loss", "dev"]
    assert {row["layer"] for row in history} == {"last", "middle"}
    best = max(history, key=lambda row: float(row["dev"]))
    told = facts(job)
    assert (told["layer"], told["strength"]) == (best["layer"], float(best["strength"]))
    assert re.fullmatch("[2-5] folds of train", told["chosen_by"])
    assert execute_job(job).status == "already done"


@pytest.mark.costly
def test_its_predictions_are_those_of_scikit_learn(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "NEAR", 1e-12)
    for task in ("gad", "biosses"):
        job = planned(checkpoint("bert_uncased"), tmp_path, task)
        done(job)
        told, formulation = facts(job), bind(tasks.get(task))
        layer = frozen.LAYERS.index(told["layer"])
        tokenizer = job.source.checkpoint.tokenizer
        encoder, _ = Checkpoint(Path(job.source.location)).load_encoder()
        reader = Frozen(
            encoder,
            encoder.config.hidden_size,
            0,
            tokenizer.pad_id,
            probe.choose_device("cpu"),
            "fp32",
            "first",
        )
        x, units = {}, {}
        for split in ("train", "dev", "test"):
            units[split] = formulation.units(read_split(tasks.get(task), DATA, split))  # type: ignore[arg-type]
            parts = []
            for part in formulation.frozen_features(units[split], tokenizer, 512):
                width = reader.size * len(formulation.vectors)
                arrays = [np.empty((len(part), width), np.float16) for _ in range(2)]
                reader.fill(part, formulation.vectors, arrays)
                parts.append(arrays[layer].astype(np.float32))
            x[split] = formulation.joined(parts)
        scaler = StandardScaler().fit(x["train"])
        z = {split: scaler.transform(values) for split, values in x.items()}
        y = np.asarray(formulation.targets(units["train"]))
        stored = predictions(job)
        mine = [place for place, split in enumerate(stored["split"]) if split == "test"]
        right = np.asarray(formulation.targets(units["dev"]))
        figures = json.loads((job.path / "metrics.json").read_text())
        if task == "biosses":
            ridge = Ridge(alpha=told["strength"]).fit(z["train"], y)
            expected = ridge.predict(z["test"])
            error = mean_squared_error(right, ridge.predict(z["dev"]))
            assert figures["dev"]["squared_error"] == pytest.approx(error, abs=5e-3)
            assert [stored["prediction"][place] for place in mine] == pytest.approx(
                expected, abs=2e-3
            )
            continue
        # Of two classes we have a vector each, scikit-learn has one, their difference: half the penalty.
        model = LogisticRegression(C=2 / told["strength"], max_iter=10_000, tol=1e-10).fit(
            z["train"], y
        )
        # Of equals the first class counts as the most frequent
        rarer = 1 if (y == 1).mean() <= 0.5 else -1
        logits = model.decision_function(z["test"]) + told["shift"] * rarer
        loss = log_loss(right, model.predict_proba(z["dev"]))  # of the fit, without the shift
        assert figures["dev"]["log_loss"] == pytest.approx(loss, abs=2e-3)
        found = np.array([stored["scores"][place][1] for place in mine])
        assert found == pytest.approx(1 / (1 + np.exp(-logits)), abs=2e-3)


@pytest.mark.costly
def test_cached_vectors_give_the_same_trial(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = planned(checkpoint("bert_uncased"), tmp_path / "runs", "ncbi-disease")
    done(job)
    first, history = predictions(job), (job.path / "history.csv").read_bytes()

    shutil.rmtree(job.path)
    with monkeypatch.context() as patch:
        patch.setattr(
            Frozen, "fill", lambda *given, **more: pytest.fail("the encoder was asked again")
        )
        done(job)
    assert predictions(job) == first
    assert (job.path / "history.csv").read_bytes() == history
    shutil.rmtree(job.path)
    shutil.rmtree(tmp_path / "home")
    done(job)
    assert predictions(job) == first


@pytest.mark.costly
def test_a_full_disk_costs_time_and_says_so(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = planned(checkpoint("bert_uncased"), tmp_path, "gad")
    done(job)
    first = predictions(job)
    shutil.rmtree(job.path)
    shutil.rmtree(tmp_path / "home")
    monkeypatch.setattr(vectors, "LIMIT", 10)
    done(job)
    assert predictions(job) == first
    assert facts(job)["test_vectors"].startswith("held in memory")
    assert "vectors of test: held in memory" in (job.path / "log.txt").read_text()


@pytest.mark.costly
def test_a_trial_that_was_stopped_goes_on(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = planned(checkpoint("bert_uncased"), tmp_path, "gad")
    fill, calls = Frozen.fill, []

    def stopped(self: Frozen, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        fill(self, *arguments)

    monkeypatch.setattr(Frozen, "fill", stopped)
    with pytest.raises(KeyboardInterrupt):
        execute_job(job)
    assert not Store(tmp_path).is_done(job.path)
    done(job)
    assert len(calls) == 4  # train was read once: it is in the cache; then dev, and test


def test_what_identifies_it(checkpoint: Builder, tmp_path: Path) -> None:
    folder = checkpoint("bert_uncased")
    gad = planned(folder, tmp_path, "gad").trial
    assert (gad.learner, gad.kind.name, gad.seed) == ("probe", "probe", 1)
    assert gad.settings == {
        "max_length": 128,
        "max_train": 0,
        "max_eval": 0,
        "head": "linear",
        "relation_input": "dummify",
    }
    assert set(planned(folder, tmp_path, "bc5-chem", word_pooling="mean").trial.settings) == {
        "max_length",
        "max_train",
        "max_eval",
        "head",
        "word_pooling",
        "tagging",
    }
    assert planned(folder, tmp_path, "gad", seeds=1).trial.hash == gad.hash
    assert planned(folder, tmp_path, "gad", max_train=5).trial.hash != gad.hash
    assert replace(gad, learner="").hash != gad.hash
    # As of every trial before there were probes
    assert "learner" not in replace(gad, learner="").content


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"seeds": 3}, "deterministic: 3 seeds would give the same number 3 times"),
        *(
            ({name: value}, f"--set: {name} does not apply to a probe")
            for name, value in (
                ("lr", 1e-5),
                ("epochs", 3),
                ("pooling", "mean"),
                ("head_init", "linear"),
            )
        ),
        ({"head": "bilstm"}, r"the head must be linear or crf \(NER and PICO\), not 'bilstm'"),
        ({"head": "crf"}, r"'crf' \(--set\) does not support gad"),
    ],
)
def test_seeds_and_settings_of_fine_tuning_are_refused(
    asked: dict[str, Any], told: str, checkpoint: Builder, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=told):
        planned(checkpoint("bert_uncased"), tmp_path, "gad", **asked)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 3", "remove seeds"),
        ("[all]\nlr = 1e-5", "lr does not apply to a probe"),
        ("[tasks.gad]\nepochs = 2", "epochs does not apply to a probe"),
        ("[search]\nlr = [1e-5]", "which always selects on dev"),
    ],
)
def test_a_protocol_of_ones_own(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('learner = "probe"\n[all]\nmax_train = 7\n')
    assert protocol_learner.load(str(path)).learner == "probe"
    path.write_text(f'learner = "probe"\n{text}\n')
    with pytest.raises(SettingsError, match=message):
        protocol_learner.load(str(path))
    path.write_text('learner = "prob"\n')
    with pytest.raises(Exception, match="Did you mean 'probe'"):
        protocol_learner.load(str(path))


@pytest.mark.costly
def test_a_chain_above_it(checkpoint: Builder, tmp_path: Path) -> None:
    plain = planned(checkpoint("bert_uncased"), tmp_path, "ncbi-disease")
    chained = planned(checkpoint("bert_uncased"), tmp_path, "ncbi-disease", head="crf")
    done(plain)
    done(chained)
    assert (plain.path / "history.csv").read_bytes() == (chained.path / "history.csv").read_bytes()
    for tags in predictions(chained)["prediction"]:
        assert all(
            not now.startswith("I-") or before != "O"
            for before, now in zip(["O", *tags], tags, strict=False)
        )


def test_units_of_a_document_are_in_one_fold() -> None:
    units = [{"doc_id": f"d{number // 3}"} for number in range(30)]
    dealt = assign_folds(units)
    assert set(dealt) == {0, 1, 2, 3, 4}
    assert [len(set(dealt[start : start + 3])) for start in range(0, 30, 3)] == [1] * 10
    assert np.array_equal(dealt, assign_folds(units))
    assert sorted(assign_folds([{"doc_id": None}, {"doc_id": None}, {}])) == [0, 1, 2]
    assert assign_folds([{"doc_id": "a"}] * 3) is None


def test_many_dev_units_choose_instead(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = planned(checkpoint("bert_uncased"), tmp_path, "gad")
    monkeypatch.setattr(probe, "FEW", 5)
    done(job)
    assert facts(job)["chosen_by"] == "dev"
    best = max(float(row["dev"]) for row in csv_lines(job.path / "history.csv"))
    assert Store(tmp_path).read(job.path).score("dev") == pytest.approx(best)


@pytest.mark.costly
def test_of_documents_that_are_scored_documents_are_counted(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = read_split(tasks.get("hoc"), DATA, "dev")
    documents = len({row["doc_id"] for row in rows})
    assert documents < len(rows)
    for few, by in ((documents, "dev"), (documents + 1, "folds of train")):
        monkeypatch.setattr(probe, "FEW", few)
        job = planned(checkpoint("bert_uncased"), tmp_path / str(few), "hoc")
        done(job)
        assert facts(job)["chosen_by"].endswith(by)


def test_a_baseline_is_one_under_this_protocol_too(tmp_path: Path) -> None:
    (job,) = trials.prepare(
        request(tmp_path, "baseline:majority", protocol_="probe", data=DATA)
    ).final
    assert (job.learner.name, job.trial.learner, job.configuration.note) == ("majority", "", "")

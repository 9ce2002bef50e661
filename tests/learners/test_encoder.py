"""One training step and predictions with every kind of checkpoint, and what is refused before anything is trained."""

import dataclasses
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from blurb import data, formulations, tasks
from blurb.checkpoints import Checkpoint
from blurb.execution.worker import execute_job
from blurb.formulations import bind
from blurb.heads import heads, poolings
from blurb.heads.crf import CRF
from blurb.heads.linear_chain_crf.model import Chain
from blurb.inputs.relations import MARKERS, STRATEGIES
from blurb.inputs.tagging import SCHEMES
from blurb.learners import building
from blurb.learners.base import History, Subset
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import EncoderLearner, check
from blurb.messages.errors import SettingsError, UnknownName
from blurb.planning import trials
from blurb.protocols import protocol
from blurb.protocols.settings import Settings
from blurb.store.record import read_predictions
from blurb.store.store import Store, read_json
from blurb.training.loop import Trainer
from tests import checkpoints
from tests.conftest import Builder
from tests.planning.requests import request
from tests.rewriting import rewrite

TEXTS = checkpoints.texts(seed=11, size=12)
IDLE = re.compile("_global|mask_emb|seg_embed|r_s_bias")
"""Weights for what is not used: Longformer's global attention, XLNet's masks, segments where the tokenizer has none."""


def _words(tag: str) -> list[dict[str, Any]]:
    rows = []
    for number, text in enumerate(TEXTS):
        tokens = [*text.split(" "), "\x07"]
        tags = [tag if token[0].isupper() else "O" for token in tokens]
        rows.append({"id": str(number), "doc_id": None, "tokens": tokens, "tags": tags})
    return rows


def _relation() -> list[dict[str, Any]]:
    rows = []
    for number, text in enumerate(TEXTS):
        whole = f"@GENE$ {text} @DISEASE$ kalo"
        end = whole.index("@DISEASE$")
        spans = {
            "head": {"start": 0, "end": 6, "type": "GENE"},
            "tail": {"start": end, "end": end + 9, "type": "DISEASE"},
        }
        rows.append(
            {"id": str(number), "doc_id": None, "text": whole, "label": str(number % 2), **spans}
        )
    return rows


def _qa() -> list[dict[str, Any]]:
    return [
        {
            "id": str(i),
            "question": text,
            "context": f"{text} {text}",
            "label": ("yes", "no", "maybe")[i % 3],
        }
        for i, text in enumerate(TEXTS)
    ]


def _similarity() -> list[dict[str, Any]]:
    return [
        {"id": str(i), "text_a": text, "text_b": TEXTS[-i], "score": i % 5.0}
        for i, text in enumerate(TEXTS)
    ]


def _documents() -> list[dict[str, Any]]:
    labels = tasks.get("hoc").labels
    return [
        {
            "id": f"{i // 3}_s{i % 3}",
            "doc_id": str(i // 3),
            "text": text,
            "labels": [labels[i % 10]],
        }
        for i, text in enumerate(TEXTS)
    ]


ROWS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "bc2gm": partial(_words, "B-GENE"),
    "ebm-pico": partial(_words, "I-PAR"),
    "gad": _relation,
    "pubmedqa": _qa,
    "biosses": _similarity,
    "hoc": _documents,
}


def _settings(**values: Any) -> Settings:
    return Settings(
        **{"max_length": 48, "epochs": 1, "batch_size": 12, "lr": 1e-3, "warmup": 0.0, **values}
    )


def _fit(
    folder: Path, task: str, seed: int = 1, **values: Any
) -> tuple[EncoderLearner, Subset, History]:
    source = resolve_model(str(folder))
    formulation = bind(tasks.get(task), _settings(**values))
    learner = building.learner(source, formulation, "cpu", "fp32")
    units = Subset(
        formulation.units(ROWS[task]()), key=f"{task} {values.get('document_unit')}", name="train"
    )
    return learner, units, learner.fit(units, units, seed, lambda done, total: None)


@pytest.mark.parametrize("task", ["bc2gm", "gad", "pubmedqa"])
@pytest.mark.parametrize("kind", [*checkpoints.KINDS, *checkpoints.FAMILIES])
def test_every_checkpoint_takes_a_step_and_predicts(
    checkpoint: Builder, kind: str, task: str
) -> None:
    values = (
        {"pooling": "mean"}
        if kind in ("t5", "eurobert", "ultrabert", "embedding_gemma2") and task != "bc2gm"
        else {}
    )
    learner, units, history = _fit(checkpoint(kind), task, **values)
    before = Checkpoint(checkpoint(kind)).load_encoder()[0].state_dict()
    after = learner.trainer.network.encoder.state_dict()
    shared = [
        name for name in before if name in after and before[name].ndim > 1 and not IDLE.search(name)
    ]
    moved = [name for name in shared if not torch.equal(before[name], after[name])]
    assert len(moved) > 0.8 * len(shared) > 3
    (epoch,) = history
    assert np.isfinite(epoch["loss"])
    assert 0 <= epoch["dev"] <= 1
    predicted, scores, *_ = learner.predict(units)
    assert len(predicted) == len(scores) == len(units.rows)
    if task == "bc2gm":
        assert [len(row) for row in predicted] == [len(row["tokens"]) for row in units.rows]
        assert {tag for row in predicted for tag in row} <= {"O", "B-GENE", "I-GENE"}
        if kind.startswith("bert_"):
            assert {row[-1] for row in predicted} == {"O"}  # the control character that BERT drops
    else:
        assert set(predicted) <= set(tasks.get(task).labels)
        assert np.allclose(np.sum(scores, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("task", "values"),
    [
        ("biosses", {}),
        ("hoc", {}),
        ("hoc", {"document_unit": "abstract"}),
        ("gad", {"pooling": "cls-pooler"}),
    ],
)
def test_the_other_types_and_poolings(
    checkpoint: Builder, task: str, values: dict[str, str]
) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), task, **values)
    predicted, *_ = learner.predict(units)
    assert len(predicted) == (4 if "document_unit" in values else 12)
    if task == "biosses":
        assert all(isinstance(value, float) and np.isfinite(value) for value in predicted)


@pytest.mark.parametrize("pooling", ["cls", "cls-pooler"])
def test_cls_is_refused_for_t5_and_what_is_possible_is_named(
    checkpoint: Builder, pooling: str
) -> None:
    source, settings = (
        resolve_model(str(checkpoint("t5"))),
        Settings(max_length=48, pooling=pooling),
    )
    with pytest.raises(
        SettingsError,
        match=f"'{pooling}' does not work on gad .*no classification token.* Possible values: .*mean",
    ):
        check(source, bind(tasks.get("gad"), settings))
    check(source, bind(tasks.get("bc2gm"), settings))  # words are not pooled
    check(source, bind(tasks.get("gad"), dataclasses.replace(settings, pooling="mean")))


@pytest.mark.parametrize(
    ("setting", "value", "meant"), [("pooling", "means", "mean"), ("head", "linaer", "linear")]
)
def test_unknown_heads_and_poolings_suggest_what_was_meant(
    checkpoint: Builder, setting: str, value: str, meant: str
) -> None:
    settings = Settings(**{"max_length": 48, setting: value})
    with pytest.raises(UnknownName, match=f"no {setting} called '{value}'. Did you mean '{meant}'"):
        check(resolve_model(str(checkpoint("roberta"))), bind(tasks.get("gad"), settings))


def test_a_head_that_does_not_serve_the_task_is_refused(
    checkpoint: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads.get("linear"), "kinds", ("tokens",))
    with pytest.raises(SettingsError, match="The head 'linear' does not support gad"):
        check(
            resolve_model(str(checkpoint("roberta"))),
            bind(tasks.get("gad"), Settings(max_length=48)),
        )


def test_the_pooler_is_used_for_cls_pooler_and_dropped_otherwise(checkpoint: Builder) -> None:
    with_pooler, _, _ = _fit(checkpoint("bert_uncased"), "gad", pooling="cls-pooler")
    assert with_pooler.trainer.network.use_pooler
    for learner in (
        _fit(checkpoint("bert_uncased"), "gad")[0],
        _fit(checkpoint("bert_cased"), "gad", pooling="cls-pooler")[0],
    ):
        assert not learner.trainer.network.use_pooler
        assert not [
            name for name, _ in learner.trainer.network.named_parameters() if "pooler" in name
        ]


def test_inputs_are_never_longer_than_the_encoder_holds(checkpoint: Builder) -> None:
    learner, _, _ = _fit(checkpoint("bertweet"), "pubmedqa", max_length=512)
    assert learner.limit == learner.facts["max_length"] == 128


def test_each_length_has_features_of_its_own(checkpoint: Builder) -> None:
    """The cache knows the units by a key that says nothing of the length."""
    for length in (48, 24, 48):
        learner, units, _ = _fit(checkpoint("roberta"), "pubmedqa", max_length=length)
        assert int(learner._features(units).ids.lengths.max()) == length


def test_the_facts_tell_what_was_cut(checkpoint: Builder) -> None:
    words, questions = (
        _fit(checkpoint("roberta"), task, max_length=24)[0].facts for task in ("bc2gm", "pubmedqa")
    )
    assert words["train_inputs"]["units"] == 12 < words["train_inputs"]["rows"]
    assert words["train_inputs"]["windowed"] > 0 == words["train_inputs"]["truncated"]
    assert questions["train_inputs"]["rows"] == 12 >= questions["train_inputs"]["truncated"] > 0


def _state(learner: EncoderLearner) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in learner.trainer.network.state_dict().items()}


def test_a_seed_repeats_bit_for_bit_and_another_does_not(checkpoint: Builder) -> None:
    runs = [
        _fit(checkpoint("bert_uncased"), "gad", seed=seed, epochs=2, batch_size=4)
        for seed in (1, 1, 2)
    ]
    one, same, other = (_state(learner) for learner, _, _ in runs)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)
    scores = [learner.predict(units)[1] for learner, units, _ in runs]
    assert scores[0] == scores[1] != scores[2]
    assert runs[0][2] == runs[1][2]


def test_a_drawn_subset_is_trained_on_and_predicted_in_its_order(checkpoint: Builder) -> None:
    learner, units, _ = _fit(checkpoint("bert_uncased"), "gad")
    some = Subset(units.rows, units.key, [7, 2])
    whole, scores, *_ = learner.predict(units)
    part, part_scores, *_ = learner.predict(some)
    assert part == [whole[7], whole[2]]
    assert np.allclose(part_scores, [scores[7], scores[2]], atol=1e-5)


def test_the_dropout_of_the_checkpoint_holds(checkpoint: Builder, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(checkpoint("bert_uncased"), tmp_path / "dry"))
    rewrite(folder / "config.json", hidden_dropout_prob=0.3)
    learner, _, _ = _fit(folder, "gad", head_dropout=0.2)
    rates = {
        name: module.p
        for name, module in learner.trainer.network.named_modules()
        if hasattr(module, "p")
    }
    assert rates.pop("head.dropout") == 0.2
    assert set(rates.values()) == {0.3, 0.1}  # hidden states, attention


def test_a_draw_follows_from_the_seed_and_keeps_the_order() -> None:
    rows: list[dict[str, Any]] = [{"id": str(i)} for i in range(50)]
    one, same, other = (Subset.draw(rows, "k", 10, seed) for seed in (1, 1, 2))
    assert one.chosen == same.chosen != other.chosen
    assert list(one.chosen) == sorted(set(one.chosen))
    assert len(one.used) == 10
    assert [row["id"] for row in one.used] == [str(i) for i in one.chosen]


@pytest.mark.parametrize("most", [0, 50, 80])
def test_no_draw_where_all_are_wanted(most: int) -> None:
    rows: list[dict[str, Any]] = [{"id": str(i)} for i in range(50)]
    assert Subset.draw(rows, "k", most, 1).chosen is None


def test_units_without_a_document_are_drawn_one_by_one() -> None:
    rows = [{"id": str(place), "doc_id": None} for place in range(60)]
    assert len(Subset(rows, "").sample(10, seed=1, whole=True).used) == 10
    named = [{"id": str(place), "doc_id": str(place // 6)} for place in range(60)]
    assert len(Subset(named, "").sample(10, seed=1, whole=True).used) == 12


@pytest.mark.parametrize("head", ["crf", "bilstm-crf"])
def test_a_chain_finds_entities_that_a_window_cuts(checkpoint: Builder, head: str) -> None:
    """Each row alone obeys the scheme, so an entity across a cut has to begin anew in none of its rows."""
    learner, _, _ = _fit(checkpoint("bert_uncased"), "bc2gm", head=head, max_length=12)
    row = {
        "id": "1",
        "doc_id": None,
        "tokens": ["protein"] * 30,
        "tags": ["B-GENE", *["I-GENE"] * 29],
    }
    units = Subset(learner.formulation.units([row]), key="")
    network = learner.trainer.network
    chain = next(module for module in network.modules() if isinstance(module, Chain))
    labels = list(learner.formulation.labels)
    emissions = next(module for module in network.modules() if isinstance(module, CRF)).emissions
    with torch.no_grad():
        for parameter in (*emissions.parameters(), *chain.parameters()):
            parameter.zero_()
        emissions.linear.bias[labels.index("I-GENE")] = 1.0
        chain.transitions[labels.index("B-GENE"), labels.index("I-GENE")] = 9.0
    (tags,) = learner.predict(units).answers
    assert tags == row["tags"]


# One training step and predictions under every tagging scheme.


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_takes_a_step_and_predicts_bio(checkpoint: Builder, scheme: str) -> None:
    learner, units, (epoch,) = _fit(checkpoint("bert_uncased"), "ebm-pico", tagging=scheme)
    assert np.isfinite(epoch["loss"])
    assert (
        len(learner.trainer.network.head.problem.labels) == {"io": 4, "bio": 7, "bioul": 13}[scheme]
    )
    predicted, scores, *_ = learner.predict(units)
    assert (
        [len(row) for row in predicted]
        == [len(row) for row in scores]
        == [len(row["tokens"]) for row in units.rows]
    )
    assert {tag[0] for row in predicted for tag in row} <= set("OBI")
    # An untrained head: the conversion had work to do
    assert len({tag for row in predicted for tag in row}) > 1


# Every legal relation input x pooling trains one step; the others are refused with what is possible.


RELATIONS = [
    {
        "id": str(i),
        "doc_id": None,
        "text": f"{a} acts on {b} here",
        "label": label,
        "head": {"start": 0, "end": len(a), "type": "CHEMICAL"},
        "tail": {"start": (start := len(a) + 9), "end": start + len(b), "type": "GENE"},
    }
    for i, (a, b, label) in enumerate(
        [("aspirin", "COX-1", "CPR:4"), ("zinc", "p53", "false"), ("iron", "TF", "CPR:3")]
    )
]


def fit(folder: Path, pooling: str, strategy: str) -> EncoderLearner:
    task = tasks.get("chemprot")
    settings = protocol.load_protocol_file("smoke").settings(
        task, {"pooling": pooling, "relation_input": strategy, "epochs": 1, "max_train": 0}, 1
    )
    learner = EncoderLearner(
        building.resolve_model(str(folder)), formulations.bind(task, settings), "cpu", "fp32"
    )
    units = Subset(RELATIONS, f"relation inputs {strategy}")
    learner.fit(units, units, 1, lambda done, total: None)
    predicted, scores, *_ = learner.predict(units)
    assert set(predicted) <= set(task.labels)
    assert np.isfinite(scores).all()
    return learner


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "pooling", [name for name in poolings.names() if not poolings.get(name).needs_pair]
)
def test_one_step(pooling: str, strategy: str, checkpoint: Builder) -> None:
    if poolings.get(pooling).needs_markers and strategy not in MARKERS:
        with pytest.raises(SettingsError, match=r"no markers.*Possible values: attention, .*cls"):
            fit(checkpoint("bert_uncased"), pooling, strategy)
        return
    fit(checkpoint("bert_uncased"), pooling, strategy)


@pytest.mark.parametrize("kind", ["bert_cased", "roberta", "deberta", "modernbert"])
def test_markers_are_tokens_of_their_own_in_every_vocabulary(
    kind: str, checkpoint: Builder
) -> None:
    learner = fit(checkpoint(kind), "entity-start", "typed-markers")
    ids = learner.tokenizer.inner.convert_tokens_to_ids(["[CHEMICAL]", "[GENE]"])
    features = learner.formulation.features(RELATIONS, learner.tokenizer, 64)
    for row in range(len(features)):
        assert features.ids[row][features.entities[row, :, 0]].tolist() == ids
    assert learner.trainer.network.encoder.get_input_embeddings().weight.shape[0] > max(ids)


def test_poolings_of_entities_are_for_relations() -> None:
    document = formulations.bind(tasks.get("hoc"))
    assert not document.has_entities
    assert not document.needs_original


def test_gad_has_no_original() -> None:
    with pytest.raises(
        SettingsError, match=r"no original text\. Possible for relation_input: dummify"
    ):
        _ = formulations.bind(tasks.get("gad"), {"relation_input": "original"}).needs_original
    assert not formulations.bind(tasks.get("gad"), {"relation_input": "markers"}).needs_original
    assert formulations.bind(tasks.get("ddi"), {"relation_input": "markers"}).needs_original


# Settings of short fine-tunings through a trial: the start of the head, the dev sample, what is refused.


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

"""Every legal relation input x pooling trains one step; the others are refused with what is possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blurb import formulations, tasks
from blurb.heads import poolings
from blurb.inputs.relations import MARKERS, STRATEGIES
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.messages.errors import SettingsError
from blurb.protocols import protocol
from tests.conftest import Builder

ROWS = [
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
    units = Subset(ROWS, f"relation inputs {strategy}")
    learner.fit(units, units, 1, lambda done, total: None)
    predicted, scores, *_ = learner.predict(units)
    assert set(predicted) <= set(task.labels)
    assert scores is not None
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
    features = learner.formulation.features(ROWS, learner.tokenizer, 64)
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

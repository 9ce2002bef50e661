"""One training step and predictions under every tagging scheme."""

from __future__ import annotations

import numpy as np
import pytest

from blurb import tasks
from blurb.formulations import bind
from blurb.inputs.tagging import SCHEMES
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.building import resolve_model
from blurb.protocols.settings import Settings
from tests import checkpoints
from tests.conftest import Builder


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_takes_a_step_and_predicts_bio(checkpoint: Builder, scheme: str) -> None:
    rows = []
    for number, text in enumerate(checkpoints.texts(seed=11, size=12)):
        tokens = text.split(" ")
        tags = ["I-PAR" if token[0].isupper() else "O" for token in tokens]
        rows.append({"id": str(number), "doc_id": None, "tokens": tokens, "tags": tags})
    settings = Settings(max_length=48, epochs=1, batch_size=12, warmup=0.0, tagging=scheme)
    formulation = bind(tasks.get("ebm-pico"), settings)
    learner = building.learner(
        resolve_model(str(checkpoint("bert_uncased"))), formulation, "cpu", "fp32"
    )
    units = Subset(rows, key="tagging", name="train")
    (epoch,) = learner.fit(units, units, 1, lambda done, total: None)
    assert np.isfinite(epoch["loss"])
    assert (
        len(learner.trainer.network.head.problem.labels) == {"io": 4, "bio": 7, "bioul": 13}[scheme]
    )
    predicted, scores, *_ = learner.predict(units)
    assert (
        [len(row) for row in predicted]
        == [len(row) for row in scores]
        == [len(row["tokens"]) for row in rows]
    )
    assert {tag[0] for row in predicted for tag in row} <= set("OBI")
    assert (
        len({tag for row in predicted for tag in row}) > 1
    )  # an untrained head: the conversion had work to do

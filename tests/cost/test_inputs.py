"""Lengths: those of the real tokenisation where it is kept, those of a sample near them otherwise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from blurb import tasks
from blurb.cost import inputs
from blurb.cost.inputs import Inputs
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.planning import trials
from tests.conftest import Builder
from tests.cost.settings import lengths, request


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "overrides"),
    [
        ("bc2gm", {}),
        ("hoc", {"document_unit": "abstract"}),
        ("ddi", {}),
        ("biosses", {"max_length": 24}),
    ],
)
def test_a_sample_is_near_and_what_is_kept_is_exact(
    task: str,
    overrides: dict[str, object],
    checkpoint: Builder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BLURB_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(inputs, "SAMPLE", 64)
    source = building.resolve_model(str(checkpoint("bert_uncased")), name="m")
    (job,) = trials.prepare(request(source, task, tmp_path / "runs", **overrides)).final
    shape = source.checkpoint.size
    sampled = Inputs().of(job, shape)
    assert not sampled["train"].exact
    assert execute_job(job).status == "done"
    kept = Inputs().of(job, shape)
    for split in tasks.SPLITS:
        assert kept[split].exact
        assert kept[split].seconds == 0
        assert sampled[split].units == kept[split].units
        assert sampled[split].words == kept[split].words
        assert sampled[split].rows.sum() == pytest.approx(kept[split].rows.sum(), rel=0.1)
        assert sampled[split].rows.max() <= overrides.get("max_length", 512)  # type: ignore[operator]


def test_the_units_drawn_are_those_of_the_trial() -> None:
    found = lengths(50)
    chosen = Subset.draw([{"id": str(i)} for i in range(50)], "key", 7, seed=3).chosen
    assert inputs.drawn(found, 7, 3).tolist() == chosen  # type: ignore[union-attr]
    assert inputs.drawn(found, 0, 3) is None
    assert inputs.drawn(found, 50, 3) is None


def test_a_sample_is_repeated_until_there_are_enough() -> None:
    from blurb.inputs.features import Features, Ragged

    features = Features(
        Ragged.of([[1] * 4, [1] * 5, [1] * 6]), np.array([0, 0, 1])
    )  # the first unit has two rows
    found = inputs.replicate(features, 5, words=9, seconds=1.0)
    assert found.rows.tolist() == [4, 5, 6, 4, 5, 6, 4, 5]
    assert found.unit.tolist() == [0, 0, 1, 2, 2, 3, 4, 4]
    assert not found.exact

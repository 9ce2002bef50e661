"""What 53549ab finished stays finished: the golden checkpoint and every trial of `hashes.csv` keep their hashes.

`baseline-hashes.csv` has those of the baselines that came later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.learners import building
from blurb.planning import trials
from blurb.protocols.settings import parse_overrides
from tests.golden import encoder
from tests.planning.requests import request
from tests.rewriting import csv_lines

HERE = Path(__file__).parent
WEIGHTS = "8b62bb2d4ecb372995b31c7f6e0d6e869aefa7db3e64e80aa098b650b08f640e"
TOKENIZER = "a5f35f9d18b6fd684e6a34d88e14c5fe241340ed3ee8b683e6abd424687064b7"
RAISED = {"baseline:constant": 1}
"""Learner -> the recipe that it had then: its trials of today differ in nothing else."""
LINES: list[dict[str, str]] = []
for _name in ("hashes.csv", "baseline-hashes.csv"):
    LINES += csv_lines(HERE / _name)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModelSource]:
    folder = encoder.build(tmp_path_factory.mktemp("golden") / "golden-encoder")
    known = building.resolve_model(str(folder))
    return lambda learner: known if learner == "encoder" else building.resolve_model(learner)


def test_the_checkpoint_is_the_one_that_was(source: Callable[[str], ModelSource]) -> None:
    found = source("encoder")
    assert (found.weights, found.tokenizer, found.parameters) == (WEIGHTS, TOKENIZER, 15_168)


@pytest.mark.parametrize("learner", sorted({line["learner"] for line in LINES}))
@pytest.mark.parametrize("kind", tasks.TYPES)
def test_every_trial_keeps_its_hash(
    learner: str, kind: str, source: Callable[[str], ModelSource], tmp_path: Path
) -> None:
    lines = [line for line in LINES if (line["learner"], line["type"]) == (learner, kind)]
    assert lines
    for line in lines:
        overrides = parse_overrides(dict(pair.split("=", 1) for pair in line["overrides"].split()))
        given = {"data": HERE / "data", "raw": HERE / "data", "overrides": overrides}
        asked = request(
            tmp_path, source(learner), tasks_="all", protocol_=line["protocol"], **given
        )
        trial = trials.job(asked, source(learner), tasks.get(line["task"]), 1).trial
        assert replace(trial, recipe=RAISED.get(learner, trial.recipe)).hash == line["trial"], line

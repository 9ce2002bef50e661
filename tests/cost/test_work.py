"""The work of a trial and its timed step. Oracles: batches counted by hand, a clock that is advanced by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from blurb import tasks
from blurb.cost import work
from blurb.cost.work import SplitSample, Work, count_work, sample_splits, time_step
from blurb.execution.job import Job
from blurb.learners import building
from blurb.planning import trials
from tests.conftest import Builder
from tests.planning.requests import request

SIZES = {"train": 96, "dev": 20, "test": 40}
ALL = {"batch_size": 16, "epochs": 3, "max_train": 0, "max_eval": 0, "dev_sample": 0}


def job(source: Any, store: Path, task: str = "gad", **settings: Any) -> Job:
    asked = request(store, source, tasks_=task, overrides=settings, suite="demo")
    return trials.prepare(asked).final[0]


def of_ten(sizes: dict[tasks.Split, int]) -> dict[tasks.Split, SplitSample]:
    """Splits whose examples all have ten sub-tokens, of which a quarter was sampled."""
    return {
        split: SplitSample(size, [{}] * (size // 4), np.full(size // 4, 10), np.arange(size // 4))
        for split, size in sizes.items()
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # All passes over train, dev after each of them, test.
        ({}, Work(3 * 960, 3 * 200 + 400)),
        ({"select": "last"}, Work(3 * 960, 200 + 400)),
        # 8 updates of 16 are a pass and a third: two looks at dev.
        ({"max_updates": 8}, Work(8 * 160, 2 * 200 + 400)),
        ({"max_updates": 999}, Work(3 * 960, 3 * 200 + 400)),
        ({"max_train": 32, "max_eval": 8}, Work(3 * 320, 3 * 80 + 80)),
        # Epochs are chosen on 5 of 20, and dev is read whole at the end.
        ({"dev_sample": 5}, Work(3 * 960, 3 * 50 + 200 + 400)),
        ({"head_init": "linear"}, Work(3 * 960, 3 * 200 + 400 + 960)),
    ],
)
def test_the_work_of_fine_tuning(
    settings: dict[str, Any], expected: Work, checkpoint: Builder, tmp_path: Path
) -> None:
    given = {"select": "best", "head_init": "random", **ALL, **settings}
    planned = job(checkpoint("bert_uncased"), tmp_path, **given)
    assert count_work(planned, of_ten(SIZES)) == pytest.approx(expected)  # type: ignore[arg-type]
    assert expected.passes == 3 * expected.trained + expected.read


def test_a_frozen_encoder_has_no_backward(checkpoint: Builder, tmp_path: Path) -> None:
    asked = request(tmp_path, checkpoint("bert_uncased"), protocol_="probe", suite="demo")
    probe = trials.prepare(asked).final[0]
    assert count_work(probe, of_ten(SIZES)) == (0, 960 + 200 + 400)


def test_padding_is_counted(tmp_path: Path, checkpoint: Builder) -> None:
    planned = job(checkpoint("bert_uncased"), tmp_path, **{**ALL, "epochs": 1})
    splits = of_ten(SIZES)
    splits["train"] = SplitSample(16, [{}] * 16, np.array([5] * 15 + [50]), np.arange(16))
    assert count_work(planned, splits).trained == 16 * 50


def test_a_sample_is_spread_evenly_and_has_the_lengths_of_the_tokenizer(
    checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = building.resolve_model(str(checkpoint("bert_uncased")))
    monkeypatch.setattr(work, "SAMPLE", 10_000)
    whole = sample_splits(job(source, tmp_path))["train"]
    assert len(whole.lengths) == whole.units
    monkeypatch.setattr(work, "SAMPLE", 8)
    part = sample_splits(job(source, tmp_path))["train"]
    places = [int(place * whole.units / 8) for place in range(8)]
    assert part.units == whole.units
    assert part.lengths.tolist() == [whole.lengths[place] for place in places]
    assert len(part.used(12)) == 12
    assert len(part.used(0)) == whole.units


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["bert_uncased", "baseline:bilstm"])
def test_a_step_is_what_the_clock_says_without_the_update(
    kind: str, checkpoint: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock says 7, 1 and 2 seconds for start, gradients and pass, and 100 for what is between them."""
    planned = job(kind if ":" in kind else checkpoint(kind), tmp_path, batch_size=6)
    train = sample_splits(planned)["train"]
    times = iter([0.0, 7.0, 107.0, 108.0, 208.0, 210.0])
    monkeypatch.setattr(work, "clock", times.__next__)
    threads = torch.get_num_threads()
    step = time_step(planned, train, threads + 1)
    tokens = (6 if ":" in kind else work.INPUTS) * float(np.median(train.lengths))
    assert step == pytest.approx((7.0, 1 / tokens, 2 / tokens))
    assert next(times, None) is None
    assert torch.get_num_threads() == threads


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["roberta", "modernbert", "deberta", "t5", "albert"])
@pytest.mark.parametrize("protocol", ["smoke", "probe"])
def test_any_architecture_can_be_timed(
    kind: str, protocol: str, checkpoint: Builder, tmp_path: Path
) -> None:
    given = {"pooling": "mean"} if protocol == "smoke" else {}
    source = checkpoint(kind)
    asked = request(
        tmp_path, source, protocol_=protocol, suite="demo", tasks_="biosses", overrides=given
    )
    planned = trials.prepare(asked).final[0]
    step = time_step(planned, sample_splits(planned)["train"], 1)
    assert min(step.start, step.read) > 0
    assert (step.trained > 0) is (protocol == "smoke")

"""Trials and encoders for the tests of the cost model: sizes that are known, and no time measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from blurb import tasks
from blurb.checkpoints import ModelSource
from blurb.checkpoints.architecture import EncoderSize
from blurb.cost.inputs import InputLengths
from blurb.cost.learners import TrialProfile
from blurb.cost.model import Correction, Cost, Estimate, TrialEstimate
from blurb.cost.throughput import Rates
from blurb.planning.request import Request
from blurb.protocols.settings import Settings
from tests.planning.requests import request as requested

EVERY = (8, 32, 128, 512)


def rates(
    step: float = 0.0, piece: float = 0.0, pass_piece: float = 0.0, shape: EncoderSize | None = None
) -> Rates:
    """An encoder that takes so many seconds a step, a padded sub-token of it, and one of a pass without gradients.

    An operation a sub-token, and rates to match, so that seconds are counts; nothing to load.
    """
    shape = shape or EncoderSize(body=0, table=0, vocabulary=1, layers=0, hidden=0, most=512)
    unit = EncoderSize(
        body=0.5,
        table=shape.table,
        vocabulary=shape.vocabulary,
        layers=0,
        hidden=shape.hidden,
        most=512,
    )  # type: ignore[arg-type]
    train, predict = (
        dict.fromkeys(EVERY, each / rate if rate else 1e30)
        for each, rate in ((3, piece), (1, pass_piece))
    )
    return Rates(unit, 0.0, step, train, predict, {at: 10.0 * at + at**2 for at in EVERY})


def lengths(units: int, length: int = 10, words: int = 0, **more: Any) -> InputLengths:
    """So many units of one length."""
    return InputLengths(np.full(units, length), np.arange(units), units, words=words, **more)


def profile(
    settings: Mapping[str, Any],
    rates: Rates | None,
    sizes: tuple[int, int, int] = (100, 20, 30),
    **more: Any,
) -> TrialProfile:
    """A trial of a hundred training units, 20 of dev and 30 of test, of ten sub-tokens each."""
    found = dict(zip(tasks.SPLITS, (lengths(size) for size in sizes), strict=True))
    values = {
        "seed": 1,
        "lengths": found,
        "labels": 2,
        "parameters": 1_000,
        "device": "cpu",
        "precision": "fp32",
        **more,
    }
    return TrialProfile(Settings(**{"max_length": 512, **settings}), rates=rates, **values)


def request(source: ModelSource, task: str, store: Path, **overrides: Any) -> Request:
    """A trial or several of the demo suite."""
    return requested(store, source, tasks_=task, overrides=overrides, suite="demo")


def estimate(seconds: Mapping[str, float | list[float]], jobs: int = 1, **more: Any) -> Estimate:
    """An estimate of trials that take so many seconds, by task."""
    trials = []
    for name, found in seconds.items():
        for seed, each in enumerate(found if isinstance(found, list) else [found], 1):
            trial = SimpleNamespace(task=name, seed=seed)
            job: Any = SimpleNamespace(
                trial=trial, source=SimpleNamespace(name="m"), path=Path(f"m/{name}/{seed}")
            )
            trials.append(TrialEstimate(job, name, Cost(fit=each), False, Correction(**more)))
    return Estimate(trials, jobs)

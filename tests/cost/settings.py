"""Estimates and steps that are made up, for the tests of whoever shows or spends them."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from blurb.cost import estimator
from blurb.cost.work import SplitSample, TimedStep
from blurb.execution.estimate import Estimate, TrialEstimate
from blurb.execution.job import Job


def made_up_step(monkeypatch: pytest.MonkeyPatch, step: TimedStep) -> list[tuple[Job, int]]:
    """No encoder is timed; the jobs and threads of the steps that were asked for."""
    asked: list[tuple[Job, int]] = []

    def note(job: Job, train: SplitSample, threads: int) -> TimedStep:
        asked.append((job, threads))
        return step

    monkeypatch.setattr(estimator, "time_step", note)
    return asked


def estimate(seconds: Mapping[str, float | list[float]], jobs: int = 1) -> Estimate:
    """An estimate of trials that take so many seconds, by task."""
    trials = []
    for name, found in seconds.items():
        for seed, each in enumerate(found if isinstance(found, list) else [found], 1):
            trial = SimpleNamespace(task=name, seed=seed)
            job: Any = SimpleNamespace(
                trial=trial, source=SimpleNamespace(name="m"), path=Path(f"m/{name}/{seed}")
            )
            trials.append(TrialEstimate(job, each, basis="step"))
    return Estimate(trials, jobs)

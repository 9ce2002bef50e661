"""What a command costs that plans and runs very many trials of no length: the driver alone, without any training.

The models are invented: all are one tiny checkpoint under other names and hashes. The data is that of the demo suite,
as large in planning as any, since a task is read and hashed once.
"""

from __future__ import annotations

import contextlib
import io
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blurb import models, tasks
from blurb.corpora import demo
from blurb.models import Source, Subset, scratch
from blurb.protocols import protocol
from blurb.runs import engine, plan
from blurb.runs.engine import LocalEngine
from blurb.runs.engines.slurm import Slurm, SlurmEngine
from blurb.runs.events import News
from blurb.runs.plan import Planned, Request
from blurb.runs.worker import Job, TrialOutcome

SEEDS = 5
SECONDS = 30.0
"""Predicted seconds of a trial in the parts of Slurm's jobs."""
Figures = dict[str, float]


def request(store: Path, trials: int) -> Request:
    """What a command asks for that has at least so many trials: all datasets with five seeds of many models."""
    data = demo.prepare()
    names = [task for task in tasks.all() if task.paper_order]
    tiny = models.resolve(str(scratch.build("scratch:tiny", data)), "tiny")
    sources = [
        replace(tiny, name=f"org/encoder-{number:05d}", weights=f"{number:064x}")
        for number in range(-(-trials // (len(names) * SEEDS)))
    ]
    return Request(sources, names, protocol.load("quick"), data, store, "fp32", "cpu", seeds=SEEDS)


def idle(job: Job, tell: Callable[[News], None] = lambda news: None) -> TrialOutcome:
    """A trial of no length that leaves nothing."""
    return TrialOutcome(job, "done")


@contextlib.contextmanager
def replaced(place: Any, name: str, value: object) -> Iterator[None]:
    """Another value for a name while the block runs."""
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


def run(planned: Planned, runner: engine.Engine) -> list[TrialOutcome]:
    """As `blurb run` does it, without display and tables."""
    return plan.run([planned], runner, lambda outcome: None, lambda job, news: None)


class Idle:
    """A learner of no cost: it answers what the first unit has as its gold."""

    tracking: Any = None
    facts: Mapping[str, Any] = {}

    def __init__(self, source: Source, formulation: Any, *rest: object) -> None:
        self.formulation = formulation

    def fit(self, *data: object) -> list[dict[str, Any]]:
        return []

    def predict(self, units: Subset) -> tuple[list[Any], None]:
        return [self.formulation.gold(unit) for unit in units.used], None


def timed(trials: int, block: Callable[[], object]) -> float:
    """Milliseconds of the processor a trial."""
    start = time.process_time()
    block()
    return 1000 * (time.process_time() - start) / trials


def memory() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

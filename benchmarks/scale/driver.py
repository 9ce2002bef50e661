"""What a command costs that plans and runs very many trials of no length: the driver alone, without any training.

The models are invented: all are one tiny checkpoint under other names and hashes. The data is that of the demo suite,
as large in planning as any, since a task is read and hashed once.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.scale import store
from blurb import tasks
from blurb.checkpoints import ModelSource, scratch
from blurb.corpora import demo
from blurb.execution.engine import Engine, Launch
from blurb.execution.engines import here, local
from blurb.execution.job import Job, TrialOutcome, TrialProgress
from blurb.extensions.clusters import ray, slurm
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.planning import trials
from blurb.planning.trials import Planned, Request, prepare
from blurb.protocols import protocol

SEEDS = 5
SECONDS = 30.0
"""Predicted seconds of a trial in the parts of Slurm's jobs."""
WORKED, WARM = 520, 65
"""Trials that go through the worker, and those of them that are not counted."""
BLOCK = 4096
"""Bytes of a block of the disk."""
Figures = dict[str, float]


def request(runs: Path, trials: int, real: bool = False) -> Request:
    """What a command asks for that has at least so many trials: all datasets with five seeds of many models.

    :param real: all models have the weights that they are of, which the worker compares
    """
    data = demo.prepare()
    names = [task for task in tasks.all() if task.paper_order]
    tiny = building.resolve_model(str(scratch.build("scratch:tiny", data)), "tiny")
    sources = [
        replace(
            tiny,
            name=f"org/encoder-{number:05d}",
            weights=tiny.weights if real else f"{number:064x}",
        )
        for number in range(-(-trials // (len(names) * SEEDS)))
    ]
    return Request(
        sources,
        names,
        protocol.load_protocol_file("quick"),
        data,
        runs,
        "fp32",
        device="cpu",
        seeds=SEEDS,
    )


def idle(job: Job, tell: Callable[[TrialProgress], None] = lambda news: None) -> TrialOutcome:
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


def run(planned: Planned, runner: Engine) -> list[TrialOutcome]:
    """As `blurb run` does it, without display and tables."""
    return trials.run([planned], runner, lambda outcome: None, lambda job, news: None)


class Idle:
    """A learner of no cost: it answers what the first unit has as its gold."""

    tracking: Any = None
    facts: Mapping[str, Any] = {}

    def __init__(self, source: ModelSource, formulation: Any, *rest: object) -> None:
        self.formulation = formulation

    def fit(self, *data: object) -> list[dict[str, Any]]:
        return []

    def predict(self, units: Subset) -> tuple[list[Any], None]:
        return [self.formulation.gold(unit) for unit in units.used], None


def plan_and_run(folder: Path, trials: int) -> Figures:
    """Planning, and a run whose trials take no time and leave nothing but their rows."""
    prepare(request(folder / "runs", 1))  # loads what is loaded once
    asked, before = request(folder / "runs", trials), memory()
    planned, planning = timed(lambda: prepare(asked))
    count = len(planned.final)
    with replaced(local, "execute_job", idle):
        _, running = timed(lambda: run(planned, here()))
    return {
        "trials": count,
        "planning_ms": 1000 * planning / count,
        "scheduling_ms": 1000 * running / count,
        "driver_mb": memory(),
        "driver_libraries_mb": before,
    }


def through_slurm(folder: Path, trials: int) -> Figures:
    """Parts, sweep and script of Slurm's jobs."""
    planned = prepare(request(folder / "slurm", trials))
    jobs = [replace(job, predicted=SECONDS) for job in planned.final]
    engine = slurm.SlurmEngine(Launch(shown=True))
    _, seconds = timed(lambda: engine.run(jobs, lambda one: None, lambda *news: None))
    return {"slurm_ms": 1000 * seconds / len(jobs), "slurm_mb": memory()}


def through_ray(folder: Path, trials: int) -> Figures:
    """A task of Ray for each trial, of no length: seconds that pass, as most of them are those of Ray's processes."""
    planned = prepare(request(folder / "ray", trials))
    with replaced(ray, "run_one", nothing):
        start = time.perf_counter()
        outcomes = run(planned, ray.RayEngine(Launch(), gpus=0))
    assert {outcome.status for outcome in outcomes} == {"done"}
    return {
        "ray_passed_ms": 1000 * (time.perf_counter() - start) / len(outcomes),
        "ray_mb": memory(),
    }


def nothing(folder: str, index: int, cpus: float, code: str) -> tuple[str, float, str]:
    """What a task of Ray answers that has nothing to do."""
    return "done", 0.0, ""


def filled(folder: Path, trials: int) -> Figures:
    """Writes the trials of the plan."""
    store.fill(prepare(request(folder / "runs", trials)))
    return {}


def passed_over(folder: Path, trials: int) -> Figures:
    """The same command when all is done: every trial is looked at, and passed over."""
    planned = prepare(request(folder / "runs", trials))
    outcomes, seconds = timed(lambda: run(planned, here()))
    assert {outcome.status for outcome in outcomes} == {"already done"}
    return {"passing_over_ms": 1000 * seconds / len(outcomes), "passing_over_mb": memory()}


def worked(folder: Path, trials: int) -> Figures:
    """Trials of a learner of no cost through the worker into a store: seconds that pass, as it waits for the disk."""
    planned = prepare(request(folder / "worked", min(trials, WORKED), real=True))
    with replaced(building, "learner", Idle):
        run(replace(planned, final=planned.final[:WARM]), here())
        rest = planned.final[WARM:]
        start = time.perf_counter()
        outcomes, seconds = timed(lambda: run(replace(planned, final=rest), here()))
        passed = time.perf_counter() - start
    assert {outcome.status for outcome in outcomes} == {"done"}, outcomes[0].message
    files = [path for job in rest for path in job.path.iterdir()]
    return {
        "worker_ms": 1000 * seconds / len(rest),
        "worker_passed_ms": 1000 * passed / len(rest),
        "inodes": len(files) / len(rest) + 1,
        "disk_kb": sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in files)
        / 1024
        / len(rest),
    }


PHASES = {
    "driver": plan_and_run,
    "slurm": through_slurm,
    "ray": through_ray,
    "fill": filled,
    "passing over": passed_over,
    "worker": worked,
}
"""What `benchmarks.scale` measures, each in a process of its own."""


def timed(block: Callable[[], Any]) -> tuple[Any, float]:
    """What a block returns, and its seconds of the processor."""
    start = time.process_time()
    return block(), time.process_time() - start


def memory() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

"""Predicts time and memory of trials, from a short calibration and the finished trials of the store."""

from __future__ import annotations

import contextlib
import dataclasses
import heapq
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blurb import formulations, tasks
from blurb.cost.inputs import Inputs
from blurb.cost.learners import Cost, TrialProfile
from blurb.cost.throughput import Rates, needed
from blurb.execution.data_sources import DataSource
from blurb.execution.environment import describe_environment, threads_of
from blurb.execution.job import Job
from blurb.messages import StoreError
from blurb.protocols.settings import Settings
from blurb.store.trial import PredictedCost, read_provenance

if TYPE_CHECKING:
    from blurb.planning.trials import Planned

LIBRARIES = 0.6e9
"""Bytes of a process that has only loaded the libraries."""


@dataclass(frozen=True)
class TrialEstimate:
    """A trial with its predicted cost.

    :param type: type of its task
    :param done: it is in the store, or another trial of the run is identical
    :param correction: from the history
    """

    job: Job
    type: str
    cost: Cost
    done: bool
    correction: Correction

    @property
    def seconds(self) -> float:
        """Predicted seconds after correction; 0 if the trial is done, or nothing is known of it."""
        return 0.0 if self.done else self.cost.seconds * self.correction.factor

    @property
    def foreseen(self) -> bool:
        """Whether its time is predicted, and not only what others took."""
        return bool(self.job.learner.cost)

    @property
    def memory(self) -> float:
        """Predicted peak bytes of a process that runs it alone."""
        return self.cost.memory + LIBRARIES


@dataclass(frozen=True)
class Estimate:
    """The predicted cost of trials.

    :param jobs: number of trials in parallel
    """

    trials: Sequence[TrialEstimate]
    jobs: int = 1

    @property
    def waiting(self) -> list[TrialEstimate]:
        """The trials that are not done."""
        return [trial for trial in self.trials if not trial.done]

    @property
    def tasks(self) -> dict[str, Estimate]:
        """The estimate of each task, as if it ran alone, in the order of the trials."""
        return {
            name: self.of([name])
            for name in dict.fromkeys(trial.job.trial.task for trial in self.trials)
        }

    def of(self, names: Collection[str]) -> Estimate:
        """The estimate of some tasks, as if they ran alone."""
        return dataclasses.replace(
            self, trials=[one for one in self.trials if one.job.trial.task in names]
        )

    @property
    def seconds(self) -> float:
        """Seconds until the last trial ends."""
        return wall(sorted((trial.seconds for trial in self.waiting), reverse=True), self.jobs)

    @property
    def history(self) -> int:
        """Smallest number of finished trials behind any of the times; 0 means calibration only."""
        return min((trial.correction.trials for trial in self.waiting), default=0)

    @property
    def memory(self) -> float:
        """Bytes of the largest trials that may run in parallel, with their processes."""
        largest = sorted((trial.cost.memory for trial in self.waiting), reverse=True)[: self.jobs]
        return sum(largest) + LIBRARIES * (len(largest) + (self.jobs > 1)) if largest else 0.0


def wall(waiting: Iterable[float], workers: int) -> float:
    """Seconds until the last trial ends, if each free worker takes the next one.

    :param waiting: seconds of the trials, in their order of start
    :param workers: number of workers
    """
    free = [0.0] * workers
    for seconds in waiting:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def estimate(planned: Sequence[Planned], jobs: int, known: Inputs | None = None) -> Estimate:
    """Predicts the cost of planned trials; loads and times the encoders if they are not in the cache.

    :param jobs: number of trials in parallel
    :param known: input lengths known already, shared by the estimates of a budget
    :raises BlurbError: if an encoder cannot be loaded; RuntimeError if it cannot be run
    """
    inputs = known or Inputs()
    listed = _without_twins([state for plan in planned for state in _states(plan)])
    waiting = [job for job, done in listed if not done]
    if not waiting:
        return Estimate(
            [TrialEstimate(job, "", Cost(), True, Correction()) for job, _ in listed], jobs
        )
    threads = threads_of(jobs) if jobs > 1 else None
    rates = _rates(waiting, inputs, threads)
    costs = [_cost(job, inputs, rates) for job, _ in listed]
    predicted = {
        job.path: (job.learner.name, type_, cost.seconds)
        for (job, _), (type_, cost) in zip(listed, costs, strict=True)
    }
    own = {"threads": threads} if threads else {}
    past = {
        place: read_history(waiting[0].store, predicted, {**describe_environment(place), **own})
        for place in {job.place for job, _ in listed}
    }
    return Estimate(
        [
            _corrected(TrialEstimate(job, type_, cost, done, Correction()), past[job.place])
            for (job, done), (type_, cost) in zip(listed, costs, strict=True)
        ],
        jobs,
    )


def _corrected(trial: TrialEstimate, past: History) -> TrialEstimate:
    """The estimate with what finished trials say; a kind without a function of its cost takes as long as they did."""
    kind = trial.job.learner
    if kind.cost:
        return dataclasses.replace(trial, correction=past.correction(kind.name, trial.type))
    taken = past.seconds.get((kind.name, trial.type), [])
    seconds = statistics.fmean(taken or [0.0])
    return dataclasses.replace(
        trial, cost=Cost(fit=seconds), correction=Correction(trials=len(taken))
    )


def least(jobs: Sequence[Job]) -> Estimate:
    """The memory that trials need at least, without running an encoder; of their times it says nothing.

    :raises BlurbError: if data or a tokenizer cannot be loaded
    """
    inputs = Inputs()
    sources = {_encoder(job): job.source for job in jobs if job.source.tokenizer}
    rates = {key: Rates.unmeasured(source.checkpoint.size) for key, source in sources.items()}
    costs = [(job, *_cost(job, inputs, rates)) for job in jobs]
    return Estimate(
        [TrialEstimate(job, type_, cost, False, Correction()) for job, type_, cost in costs]
    )


def _states(plan: Planned) -> list[tuple[Job, bool]]:
    """The trials of a plan and whether they are done; a search includes the winner's trial with the first seed."""
    searched = {(job.source.name, job.trial.task, job.trial.seed) for job in plan.searched}
    states = [(job, _is_there(job.path)) for job in plan.searched]
    for job in plan.final:
        place = (job.source.name, job.trial.task, job.trial.seed)
        states.append((job, place in searched or _is_there(job.path)))
    return states


def _without_twins(states: Sequence[tuple[Job, bool]]) -> list[tuple[Job, bool]]:
    """Marks repeated trials as done, except the first: cells of an ablation may share trials."""
    seen: set[Path] = set()
    marked = []
    for job, done in states:
        marked.append((job, done or job.path in seen))
        seen.add(job.path)
    return marked


def _is_there(path: Path) -> bool:
    """Whether a trial seems done; good enough for an estimate, as the worker checks the hashes."""
    return (path / "DONE.json").is_file()


def _rates(jobs: Sequence[Job], inputs: Inputs, threads: int | None) -> dict[Encoder, Rates]:
    """The rates of the encoders, at the input lengths of most of their sub-tokens."""
    from blurb.cost.calibration import rates_of

    encoders: dict[Encoder, dict[DataSource, Job]] = {}
    for job in jobs:
        if job.source.tokenizer:
            encoders.setdefault(_encoder(job), {})[job.data] = job
    rates = {}
    for key, by_data in encoders.items():
        first = next(iter(by_data.values()))
        shape = first.source.checkpoint.size
        rows = [split.rows for job in by_data.values() for split in inputs.of(job, shape).values()]
        lengths = np.sort(np.concatenate(rows))
        within = np.searchsorted(np.cumsum(lengths), [0.05 * lengths.sum(), 0.95 * lengths.sum()])
        around = needed(int(lengths[place]) for place in within)
        rates[key] = rates_of(
            first.source, first.device, first.trial.precision, threads, around, _adapter(first)
        )
    return rates


def _cost(job: Job, inputs: Inputs, rates: dict[Encoder, Rates]) -> tuple[str, Cost]:
    """Type of the task and cost of a trial; nothing if its kind says nothing of it."""
    from blurb.training.hardware import choose_device

    task = tasks.load(job.data.task)
    if not job.learner.cost:
        return task.type, Cost()
    encoder = rates.get(_encoder(job))
    lengths = inputs.of(job, job.source.checkpoint.size) if encoder else inputs.units(job)
    formulation = formulations.bind(task, job.trial.settings)
    profile = TrialProfile(
        settings=formulation.settings,
        seed=job.trial.seed,
        lengths=lengths,
        labels=len(formulation.labels),
        parameters=job.source.parameters,
        device=choose_device(job.device).type,
        precision=job.trial.precision,
        rates=encoder,
        **_of_adapter(job),
        recomputes=job.checkpointing == "on",
    )
    return task.type, job.learner.load("cost")(profile)


Encoder = tuple[str, str, str]
"""What is measured: folder, precision, and the adapter that learns in its place."""


def _encoder(job: Job) -> Encoder:
    adapter = _adapter(job)
    about = f"{adapter.lora_rank} {adapter.lora_targets}" if adapter else ""
    return job.source.location, job.trial.precision, about


def _adapter(job: Job) -> Settings | None:
    """The settings of a trial that trains an adapter."""
    stored = job.trial.settings
    return (
        formulations.bind(tasks.load(job.data.task), stored).settings
        if "adapter" in stored
        else None
    )


def _of_adapter(job: Job) -> dict[str, Any]:
    """The facts of a profile that an adapter decides."""
    settings = _adapter(job)
    if settings is None:
        return {}
    from blurb.learners.finetuning import adapters

    checkpoint = job.source.checkpoint
    keeps_bf16 = job.trial.precision == "bf16" and checkpoint.weights.dtype == "bfloat16"
    return {"trained": adapters.trained(checkpoint.outline, settings), "keeps_bf16": keeps_bf16}


def predicted(planned: Sequence[Planned], found: Estimate) -> list[Planned]:
    """The plans with predicted times in their jobs, for the order of the trials and for provenance.

    The times are uncorrected, so that the next correction starts from the calibration and not from the last correction.
    """
    seconds = {trial.job.path: trial.cost.seconds for trial in found.trials}

    def told(jobs: Sequence[Job]) -> list[Job]:
        return [dataclasses.replace(job, predicted=seconds[job.path]) for job in jobs]

    return [
        dataclasses.replace(plan, searched=told(plan.searched), final=told(plan.final))
        for plan in planned
    ]


ENOUGH = 3
"""Finished trials of a type that correct a prediction in full; of fewer, each corrects by its share of so many, as the
machine may have been busy at the time."""
SHORT = 10.0
"""Predicted seconds below which a trial does not correct longer ones: what it took was mostly its start."""

ROUNDED = 0.01
"""The measured times are rounded to so many seconds; a trial that took less is known nevertheless."""


@dataclass(frozen=True)
class Correction:
    """The factor for a predicted time.

    :param trials: number of finished trials behind it
    """

    factor: float = 1.0
    trials: int = 0


@dataclass(frozen=True)
class History:
    """Ratios of measured to predicted seconds of finished trials, and all measured seconds.

    :param ratios: by kind of learner and type of task, as `seconds`
    """

    ratios: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)
    seconds: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)

    def correction(self, learner: str, type_: str) -> Correction:
        """The correction from trials of that learner and type: their geometric mean, of n below `ENOUGH` to the power
        n / `ENOUGH`.
        """
        ratios = self.ratios.get((learner, type_))
        if not ratios:
            return Correction()
        return Correction(
            statistics.geometric_mean(ratios) ** min(1.0, len(ratios) / ENOUGH), len(ratios)
        )


def read_history(
    root: Path, predicted: Mapping[Path, tuple[str, str, float]], environment: Mapping[str, Any]
) -> History:
    """The history of a store, limited to trials on the same kind of device with the same number of threads.

    :param predicted: kind, type and predicted seconds of known trials, by folder; for others the provenance counts
    """
    ratios: dict[tuple[str, str], list[float]] = {}
    measured: dict[tuple[str, str], list[float]] = {}
    for path, foreseen, taken in _finished(root, environment):
        kind, type_, seconds = predicted.get(path) or foreseen or ("", "", 0.0)
        measured.setdefault((kind, type_), []).append(max(taken, ROUNDED))
        if seconds >= SHORT and taken > 0:
            ratios.setdefault((kind, type_), []).append(taken / seconds)
    return History(ratios, measured)


def _finished(
    root: Path, environment: Mapping[str, Any]
) -> Iterator[tuple[Path, PredictedCost | None, float]]:
    """The trials of such an environment, with what was predicted and the seconds that they took."""
    for done in sorted(root.glob("[!.]*/[!.]*/[!.]*/DONE.json")):
        with contextlib.suppress(StoreError):  # damage is told by others
            there, predicted, taken = _from_folder(done.parent)
            if all(there.get(name) == environment[name] for name in ("device", "threads", "cpus")):
                yield done.parent, predicted, taken


Found = tuple[Mapping[str, Any], PredictedCost | None, float]
"""Environment, what was predicted, and the seconds of training and prediction."""


def _from_folder(path: Path) -> Found:
    made = read_provenance(path)
    return (
        made.environment,
        made.predicted,
        (made.train_seconds or 0.0) + (made.predict_seconds or 0.0),
    )

"""What trials will take: as long as finished ones of the store, else one timed step; scaled by sub-tokens."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from blurb import formulations, tasks
from blurb.cost.work import SplitSample, TimedStep, count_work, sample_splits, time_step
from blurb.execution.environment import describe_environment, threads_of
from blurb.execution.estimate import Estimate, TrialEstimate, trial_memory
from blurb.execution.job import Job
from blurb.messages import BlurbError
from blurb.store.trial import Trial, from_json, read_provenance
from blurb.system.files import read_json

if TYPE_CHECKING:
    from blurb.planning.trials import Planned

SHORT = 10.0
"""Seconds below which a trial tells nothing of longer ones: what it took was mostly its start."""


def read_finished(job: Job, threads: int) -> Iterator[tuple[Trial, float]]:
    """Finished trials of the model, task, learner and precision on such a device, with their seconds."""
    here = {**describe_environment(job.place), "threads": threads}
    for done in sorted(job.path.parent.glob("[!.]*/DONE.json")):
        with contextlib.suppress(BlurbError):  # damage is reported by others
            trial = from_json(Trial, read_json(done.with_name("spec.json")), done)
            provenance = read_provenance(done.parent)
            # Times are rounded to 0.01 s, and a quick trial is known nevertheless.
            seconds = max(
                0.01, sum(filter(None, (provenance.train_seconds, provenance.predict_seconds)))
            )
            if (trial.kind, trial.precision) == (job.learner, job.trial.precision) and all(
                provenance.environment.get(name) == here[name]
                for name in ("device", "threads", "cpus")
            ):
                yield trial, seconds


def open_trials(planned: Sequence[Planned]) -> list[TrialEstimate]:
    """The trials with the memory that they need at least, each marked as done if nothing is left of it.

    A search includes the winner's trial with the first seed; cells of an ablation may share trials.
    """
    seen: set[object] = set()
    trials = []
    for plan in planned:
        won = {(job.source.name, job.trial.task, job.trial.seed) for job in plan.searched}
        for number, job in enumerate(plan.jobs):
            row = job.source.name, job.trial.task, job.trial.seed
            of_search = number >= len(plan.searched) and row in won
            # The worker checks the hashes; for an estimate the file is enough.
            done = of_search or job.path in seen or (job.path / "DONE.json").is_file()
            trials.append(TrialEstimate(job, memory=trial_memory(job), done=done))
            seen.add(job.path)
    return trials


class Estimator:
    """Estimates trials, and keeps what it tokenised and timed: the rungs of a budget share it.

    :param timed: whether a step may be timed where no finished trial tells; else its time is unknown
    """

    def __init__(self, timed: bool) -> None:
        self.timed = timed
        self._splits: dict[object, Mapping[tasks.Split, SplitSample]] = {}
        self._steps: dict[object, TimedStep] = {}

    def estimate(self, planned: Sequence[Planned], workers: int) -> Estimate:
        """The expected cost of planned trials.

        :param workers: number of trials in parallel
        :raises BlurbError: if an encoder cannot be loaded; RuntimeError if it cannot be run
        """
        threads = threads_of(workers) if workers > 1 else torch.get_num_threads()
        trials = open_trials(planned)
        alike: dict[object, TrialEstimate] = {}  # those that differ in the seed alone
        for place, trial in enumerate(trials):
            key = trial.job.path.parent, trial.job.trial.family
            if not trial.done and key not in alike:
                alike[key] = self._estimate_trial(trial, threads)
            if not trial.done:
                trials[place] = replace(alike[key], job=trial.job)
        return Estimate(trials, workers)

    def _estimate_trial(self, waiting: TrialEstimate, threads: int) -> TrialEstimate:
        job, kind, settings = waiting.job, waiting.job.learner, waiting.job.trial.settings
        past = list(read_finished(job, threads))
        same = [seconds for trial, seconds in past if trial.settings == settings]
        if same:
            return replace(waiting, seconds=statistics.median(same), basis="history")
        timed = self.timed and (kind.reads_checkpoint or kind.backward) and not kind.seconds
        by_kind = replace(waiting, seconds=kind.seconds, basis="kind" if kind.seconds else "")
        if not past and not timed:
            return by_kind
        splits = self._sample(job)
        work = count_work(job, splits)
        waiting = replace(waiting, memory=trial_memory(job, int(splits["train"].lengths.max())))
        rates = []
        for trial, seconds in past:
            earlier = replace(job, trial=trial)
            passes = count_work(earlier, self._sample(earlier)).passes
            if seconds >= SHORT or work.passes <= 2 * passes:
                rates.append(seconds / passes)
        if rates:
            return replace(waiting, seconds=work.passes * statistics.median(rates), basis="history")
        if not timed:
            return replace(by_kind, memory=waiting.memory)
        network = settings.get("adapter"), settings.get("lora_rank"), job.checkpointing
        key = job.source.location, job.trial.precision, job.device, kind, network, threads
        if key not in self._steps:
            self._steps[key] = time_step(job, splits["train"], threads)
        step = self._steps[key]
        seconds = step.start + step.trained * work.trained + step.read * work.read
        return replace(waiting, seconds=seconds, basis="step")

    def _sample(self, job: Job) -> Mapping[tasks.Split, SplitSample]:
        """The sampled inputs of a trial; trials whose inputs are cut alike share them."""
        cut = ("max_length", *formulations.of(tasks.load(job.data.task)).own_settings)
        key = job.data, job.source.location, *(job.trial.settings.get(name) for name in cut)
        if key not in self._splits:
            self._splits[key] = sample_splits(job)
        return self._splits[key]


def with_predictions(planned: Sequence[Planned], expected: Estimate) -> list[Planned]:
    """The plans with the expected seconds in their jobs, for the order of the trials and for provenance."""
    seconds = {one.job.path: one.seconds for one in expected.trials}
    plans = []
    for plan in planned:
        searched, final = (
            [replace(job, predicted=seconds[job.path]) for job in jobs]
            for jobs in (plan.searched, plan.final)
        )
        plans.append(replace(plan, searched=searched, final=final))
    return plans

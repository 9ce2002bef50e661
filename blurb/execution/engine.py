"""Engines decide where the trials of a sweep run; one may be killed and restarted, as the store has finished trials."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from blurb.execution import sweeps
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job, JobQueue, OnFinished, OnProgress, TrialOutcome, longest_first


@dataclass(frozen=True)
class Launch:
    """The orders of a command to its engine.

    :param jobs: trials at a time on this machine (`--jobs`); "auto" is the engine's choice, as is None,
        which nobody typed
    :param leaderboard: table for jobs that run without the command; None for no table
    :param shown: whether the script of such jobs is shown and not submitted (`--print`)
    """

    jobs: int | str | None = None
    leaderboard: Path | None = None
    shown: bool = False

    @property
    def workers(self) -> int:
        """Trials at a time, 1 where that is the engine's choice."""
        return self.jobs if isinstance(self.jobs, int) else 1


@dataclass(frozen=True)
class Sweep:
    """Jobs of a store, and the folder where workers elsewhere find them by number.

    :param folder: of the sweep (`blurb.execution.sweeps`); of jobs of several sweeps, their common folder
    :param code: hash by which workers allow what the sweep runs
    """

    folder: Path
    jobs: Sequence[Job]
    code: str = ""


class Engine:
    """Runs jobs in any order and place; a failing job does not stop the others.

    An engine is a module of `blurb.execution.engines` with the class as its `ENGINE`, or an entry point in the group
    `blurb.engines`. It has `work`; one that hands its trials over to a scheduler has `run` instead. Its options are
    the parameters with defaults that its constructor adds, numbers, bools or strings, as those of a head
    (`ray,gpus=0.5`).
    """

    summary = ""
    """One line on the engine, for lists of engines."""
    hands_over = False
    """Whether `run` returns before the trials are done, as jobs of a scheduler run them, a part of the sweep each. Such
    trials are saved, since a job ends with its time, and the script of the jobs can be shown instead."""
    other_options = False
    """Whether the constructor takes options that it does not name, as texts."""
    of_file: tuple[str, ...] = ()
    """Options that a run file may give: numbers and names, and nothing that leads to code or to another machine."""
    options_hint = ""
    """A sentence for people who gave an unknown option."""
    without_jobs = ""
    """The options that set how many trials run at a time, where `--jobs` has no effect."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    def trials_at_once(self, jobs: Sequence[Job]) -> int:
        """How many of these trials run at a time on this machine."""
        return self.launch.workers

    @property
    def elsewhere(self) -> bool:
        """Whether the trials run on other machines, whose hardware is not known here."""
        return self.hands_over

    def check_there(self) -> None:
        """Raises a BlurbError if this machine lacks what the engine needs; loads nothing for it."""

    def shortfalls(self, expected: Estimate) -> Iterator[str]:
        """Sentences on what the machines of the trials lack for the requested or predicted needs."""
        yield from ()

    @classmethod
    def is_queued(cls, folder: Path) -> bool:
        """Whether jobs of a sweep that was handed over are still queued or running."""
        return False

    @classmethod
    def jobs_of_part(cls, folder: Path, number: int, allow: Collection[str]) -> list[Job]:
        """The trials of a numbered part, of an engine that hands sweeps over in parts; StoreError if there is none.

        :param allow: as for `sweeps.read`
        """
        return []

    @classmethod
    def started_this(cls) -> bool:
        """Whether this process was started by the engine; then its trials note that."""
        return False

    def run(
        self,
        jobs: Sequence[Job],
        on_finished: OnFinished,
        on_progress: OnProgress,
        keep_sweep: bool = False,
    ) -> list[TrialOutcome]:
        """Runs jobs of one store as a sweep, which workers on other machines can join until all of it is done.

        A command that is ended before any trial is finished may have been a mistake: its sweep is withdrawn, so that no
        worker goes on with it.

        :param on_finished: called in this process when a job ends
        :param on_progress: called in this process with the progress of a running job; both may be called from threads
        :param keep_sweep: whether workers may still join if this is ended before any trial is finished
        :returns: one outcome per job, in the order of the jobs
        """
        if not jobs:
            return []
        folder, code = sweeps.write(jobs[0].store, jobs)
        sweep = Sweep(folder, jobs, code)
        try:
            outcomes = self.run_sweep(sweep, on_finished, on_progress)
        except BaseException:
            if not keep_sweep and not any(map(sweeps.is_begun, jobs)):
                sweeps.end(sweep.folder)
            raise
        if all(outcome.status in ("done", "already done") for outcome in outcomes):
            sweeps.end(sweep.folder)
        return outcomes

    def run_sweep(
        self, sweep: Sweep, on_finished: OnFinished, on_progress: OnProgress
    ) -> list[TrialOutcome]:
        """Runs jobs of an existing sweep. A job held by another living process (`held`) is passed over, and waited for
        at the end, until it is done or can be taken over.
        """
        turns = JobQueue(sweep.jobs, self.order(sweep.jobs), on_finished, on_progress)
        self.work(sweep, turns)
        return turns.outcomes

    def order(self, jobs: Sequence[Job]) -> Sequence[int]:
        """Indices of the jobs in the order of their turns: the longest first, so that none remains alone at the end."""
        return longest_first(jobs)

    def work(self, sweep: Sweep, turns: JobQueue) -> None:
        """Takes every turn: `turns.next`, then `worker.execute_job` on any machine, then `turns.end`."""
        raise NotImplementedError(f"{type(self).__name__} has neither `work` nor `run`")

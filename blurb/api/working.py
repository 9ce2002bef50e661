"""`blurb worker`: joins the sweeps of a store from any machine that sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.errors import BlurbError, SettingsError, StoreError

if TYPE_CHECKING:
    from blurb.runs.worker import Job, TrialOutcome


class TooManyFailures(BlurbError):
    """So many trials failed that the machine, not the trials, is probably broken."""


def work(
    output: Path, sweep: Path | None = None, part: int | None = None, *, jobs: int = 1, device: str | None = None,
    data: Path | None = None, leaderboard: Path | None = None, max_failures: int = 0, progress: bool = True,
) -> list[TrialOutcome]:  # fmt: skip
    """Runs the trials of sweeps that are not done, until none is left that nobody runs.

    :param output: the store
    :param sweep: folder of one sweep; None for all of the store, also those that begin meanwhile
    :param part: number of a part of that sweep, as Slurm's jobs have
    :param jobs: number of trials at a time
    :param device: over that of the sweep
    :param data: data folder of this machine, over that of the sweep
    :param leaderboard: table to write at the end
    :param max_failures: number of failed trials after which it gives up; 0 never does
    :raises StoreError: if there is nothing to join
    :raises TooManyFailures: with the last reason
    """
    from blurb.results import tables
    from blurb.runs import sweeps
    from blurb.runs.engine import LocalEngine
    from blurb.runs.store import Store
    from blurb.terminal.progress import Display

    if part is not None and sweep is None:
        raise SettingsError("--part is a part of one sweep: add --sweep with its folder.")
    if sweep is None and not sweeps.folders(output):
        raise StoreError(
            f"{output} has no sweep to join; one begins with blurb run, and is there until its trials are done."
        )
    seen: set[Path] = set()
    outcomes: list[TrialOutcome] = []
    failures: list[str] = []
    while found := [job for job in _jobs(output, sweep, part) if job.path not in seen]:
        here = [_on_this_machine(job, device, data) for job in found]
        seen.update(job.path for job in here)
        shown = Display(here) if progress else nullcontext()
        with shown as display:

            def finished(outcome: TrialOutcome) -> None:
                if display is not None:
                    display.finished(outcome)
                failures.extend([outcome.message] if outcome.status == "failed" else [])
                if max_failures and len(failures) >= max_failures:
                    raise TooManyFailures(
                        f"{len(failures)} trials failed, the last one because: {failures[-1]} This machine is left, as "
                        "the others would probably fail here as well."
                    )

            on_progress = display.on_progress if display is not None else lambda job, news: None
            outcomes += LocalEngine(jobs).run(here, finished, on_progress)
        if sweep is not None:
            break
    store = output if sweep is None else sweep.absolute().parent.parent
    for folder in sweeps.folders(store):
        _end(folder)
    if leaderboard is not None:
        tables.rebuild(Store(store), leaderboard)
    return outcomes


def _jobs(output: Path, sweep: Path | None, part: int | None) -> Sequence[Job]:
    from blurb.runs import sweeps
    from blurb.runs.engines import slurm

    if sweep is None:
        return sweeps.unique(job for folder in sweeps.folders(output) for job in sweeps.read(folder))
    if part is None:
        return sweeps.read(sweep)
    # A sweep ends with its last trial, which someone else may have finished while this job was queued.
    return slurm.part(sweep, part) if sweep.exists() else []


def _on_this_machine(job: Job, device: str | None, data: Path | None) -> Job:
    """The job with the places of this machine; none of them is part of the trial."""
    if device is not None:
        job = dataclasses.replace(job, device=device)
    if data is not None and not job.data.original:
        job = dataclasses.replace(job, data=dataclasses.replace(job.data, folder=data))
    return job


def _end(folder: Path) -> None:
    """Removes a sweep whose trials are all done."""
    from blurb.runs import rescore, sweeps
    from blurb.runs.store import Store

    try:
        jobs = sweeps.read(folder)
    except StoreError:  # another worker has just removed it
        return
    if all(rescore.is_done(Store(job.store), job.path) for job in jobs):
        sweeps.remove(folder)

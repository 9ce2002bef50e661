"""`blurb worker`: joins the sweeps of a store from any machine that sees it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from blurb import tasks
from blurb.execution import engines, sweeps
from blurb.execution.engine import Sweep
from blurb.execution.job import Job, TrialOutcome
from blurb.messages import BlurbError, ErrorCollector, SettingsError, StoreError, opt, tell_damage
from blurb.options import Option
from blurb.planning.options import ALLOW, JOBS, OUTPUT
from blurb.results import tables
from blurb.store.row_contents import failure_of
from blurb.store.store import Store, check_schema
from blurb.terminal.progress import Display

DATA = Option(help="Data folder on this machine, if it differs.")
DEVICE = Option(help="Device, if not that of the sweep.")


class TooManyFailures(BlurbError):
    """So many trials failed that the machine, not the trials, is probably broken."""


def work_on_sweeps(
    output: Annotated[Path, OUTPUT] = Path("runs"),
    sweep: Annotated[
        Path | None,
        Option(
            help="Folder of one sweep.  [default: all of the store, including new ones]",
            metavar="FOLDER",
        ),
    ] = None,
    part: Annotated[
        int | None, Option(help="Number of a part of the sweep (used by Slurm jobs).", low=0)
    ] = None,
    *,
    jobs: Annotated[int | str | None, JOBS] = None,
    device: Annotated[str | None, DEVICE] = None,
    data: Annotated[Path | None, DATA] = None,
    leaderboard: Annotated[Path | None, Option(help="Table to write at the end.")] = None,
    max_failures: Annotated[
        int, Option(help="Give up after N failed trials; 0: never.", low=0, metavar="N")
    ] = 0,
    allow: Annotated[Sequence[str], ALLOW] = (),
    progress: bool = True,
) -> tuple[list[TrialOutcome], int]:
    """Runs the trials of sweeps that are not done, until none is left that nobody runs.

    :param output: the store
    :param sweep: folder of one sweep; None for all of the store, also those that begin meanwhile
    :param part: number of a part of that sweep, as the jobs of a scheduler have
    :param jobs: number of trials at a time
    :param device: over that of the sweep
    :param data: data folder of this machine, over that of the sweep
    :param leaderboard: table to write at the end
    :param max_failures: number of failed trials after which it gives up; 0 never does
    :param allow: hashes of sweeps that others planned, and that may run (`blurb.execution.sweeps`)
    :returns: the outcomes, and the number of trials that were passed over, as they had failed before
    :raises StoreError: if there is nothing to join
    :raises TooManyFailures: with the last reason
    """
    store = output if sweep is None else sweep.absolute().parent.parent
    check_schema(store)
    if part is not None and sweep is None:
        raise SettingsError(
            f"{opt('part')} is a part of one sweep: add {opt('sweep')} with its folder."
        )
    if sweep is None and not sweeps.folders(output):
        raise StoreError(
            f"{output} has no sweep to join; one begins with blurb run, and is there until its trials are done."
        )
    seen: set[Path] = set()
    outcomes: list[TrialOutcome] = []
    passed = 0
    while found := [
        job for job in _jobs_to_run(output, sweep, part, allow) if job.path not in seen
    ]:
        seen.update(job.path for job in found)
        here = [
            _on_this_machine(job, device, data)
            for job in found
            if not failure_of(job.path).exists()
        ]
        passed += len(found) - len(here)
        _check_places(here)
        outcomes += _run_jobs(
            Sweep(sweep or output / sweeps.FOLDER, here), jobs, max_failures, progress
        )
        if sweep is not None:
            break
    for folder in sweeps.folders(store):
        sweeps.end_if_done(folder)
    if leaderboard is not None:
        tables.rebuild(Store(store), leaderboard)
    return outcomes, passed


def retry_failed(
    output: Annotated[Path, OUTPUT] = Path("runs"),
    selection: Annotated[
        str,
        Option(
            help="Only trials of these tasks: names, types or files, comma-separated.",
            flag="--tasks",
            complete="tasks",
        ),
    ] = "all",
    *,
    later: Annotated[bool, Option(help="Run nothing here; let the workers run them.")] = False,
    jobs: Annotated[int | str | None, JOBS] = None,
    device: Annotated[str | None, DEVICE] = None,
    data: Annotated[Path | None, DATA] = None,
    allow: Annotated[Sequence[str], ALLOW] = (),
    progress: bool = True,
) -> tuple[int, list[TrialOutcome]]:
    """Runs the failed trials of the sweeps of a store again.

    :param selection: tasks
    :param later: only forgets that they failed, so that workers run them
    :param allow: as for `work_on_sweeps`
    :returns: the number of trials that had failed, and the outcomes
    :raises StoreError: if none of the trials of the sweeps failed
    """
    check_schema(output)
    chosen = (
        None
        if selection == "all"
        else {task.name for task in tasks.load_selection(selection, None)}
    )
    failed = [
        job
        for job in _jobs_to_run(output, None, None, None if later else allow)
        if failure_of(job.path).exists() and (chosen is None or job.trial.task in chosen)
    ]
    if not failed:
        raise StoreError(
            "no trial of a sweep failed",
            where=output,
            fix="blurb status shows where they stand. Where a trial has no sweep, run its blurb run command again.",
        )
    here = [_on_this_machine(job, device, data) for job in failed]
    if not later:
        _check_places(here)
    for job in failed:
        failure_of(job.path).unlink(missing_ok=True)
    if later:
        return len(failed), []
    outcomes = _run_jobs(Sweep(output / sweeps.FOLDER, here), jobs, 0, progress)
    for folder in sweeps.folders(output):
        sweeps.end_if_done(folder)
    return len(failed), outcomes


def _run_jobs(
    sweep: Sweep, workers: int | str | None, max_failures: int, progress: bool
) -> list[TrialOutcome]:
    failures: list[str] = []
    with Display(sweep.jobs) if progress else nullcontext() as display:

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
        return engines.here(workers).run_sweep(sweep, finished, on_progress)


def _jobs_to_run(
    output: Path, sweep: Path | None, part: int | None, allow: Collection[str] | None
) -> Sequence[Job]:
    """The jobs to run, or to list if `allow` is None; messages for sweeps that may not run here, if others may."""
    if sweep is None:
        problems: list[BlurbError] = []
        if not (jobs := sweeps.jobs_of(output, problems.append, allow)) and problems:
            raise problems[0] if len(problems) == 1 else StoreError("\n".join(map(str, problems)))
        for error in problems:
            tell_damage(error)
        return jobs
    # A sweep ends with its last trial, which someone else may have finished while this job was queued.
    if sweep.is_dir() and not (sweep / sweeps.JOBS).exists():
        return []
    if part is None:
        return sweeps.read(sweep, allow)
    kinds = engines.engines.usable().values()
    return [job for kind in kinds for job in kind.jobs_of_part(sweep, part, allow or ())]


def _check_places(jobs: Sequence[Job]) -> None:
    """Raises one SettingsError for all trials that would fail here: this machine does not see data or checkpoints, or
    lacks a device or precision."""
    data = {job.data.folder for job in jobs}
    models = {Path(job.source.location) for job in jobs if job.source.is_checkpoint}
    if missing := sorted(str(place) for place in data | models if not place.exists()):
        raise SettingsError(
            f"This machine does not see {', '.join(missing)}; nothing was run. Data that lies elsewhere is given with "
            f"{opt('data')}; checkpoints must be where the sweep has them."
        )
    from blurb.training import hardware

    errors = ErrorCollector()
    encoders = [job for job in jobs if job.source.is_checkpoint]
    for device, precision in dict.fromkeys((job.device, job.trial.precision) for job in encoders):
        with errors:
            hardware.choose_precision(precision, hardware.choose_device(device))
    if errors.errors:
        raise SettingsError(f"Nothing was run: {' '.join(map(str, errors.errors))}")


def _on_this_machine(job: Job, device: str | None, data: Path | None) -> Job:
    """The job with the places of this machine; none of them is part of the trial."""
    if device is not None:
        job = dataclasses.replace(job, device=device)
    if data is not None and not job.data.original:
        job = dataclasses.replace(job, data=dataclasses.replace(job.data, folder=data))
    return job

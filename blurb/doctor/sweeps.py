"""The sweeps of a store that are not over: whether this machine can run their trials, before `blurb worker` tries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from blurb.checkpoints import Checkpoint, Source
from blurb.cost import resources
from blurb.doctor._base import Problem, of_error
from blurb.execution import sweeps
from blurb.execution.allowed import NotAllowed
from blurb.execution.data_sources import DataSource, data_hash
from blurb.execution.job import Job
from blurb.messages.errors import BlurbError, ModelError, StoreError
from blurb.messages.text import plural

PLACE = "Let this machine see it at this path"
PLAN_AGAIN = "Run its blurb run command again, which plans its trials anew."


def examine(store: Path) -> tuple[list[Problem], dict[str, int]]:
    """What is wrong with the sweeps on this machine, and how many they are, with how many trials to run."""
    problems: list[Problem] = []
    waiting: dict[Path, Job] = {}
    folders = sweeps.folders(store)
    for folder in folders:
        try:
            waiting |= {job.path: job for job in sweeps.read(folder, allow=()) if not sweeps.is_done(job)}
        except NotAllowed as error:  # what it names is not opened
            problems.append(of_error(error, folder, "Give blurb worker this option if you trust who planned it."))
        except StoreError as error:
            problems.append(of_error(error, folder, PLAN_AGAIN))
    jobs = list(waiting.values())
    bad = [*_of_models(jobs), *_of_data(jobs), *_of_plugins(jobs), *of_hardware(jobs)]
    problems += bad or _of_memory(jobs, store)  # what cannot be read has no size
    facts = {"sweeps": len(folders), "trials_of_sweeps": len(jobs)} if folders else {}
    return list(dict.fromkeys(problems)), facts


def _of_models(jobs: Sequence[Job]) -> Iterator[Problem]:
    """Checkpoints that are not here, or are others than those that were hashed."""
    for source in dict.fromkeys(job.source for job in jobs if job.source.is_checkpoint):
        folder = Path(source.location)
        if not folder.is_dir():
            yield Problem(str(folder), f"The checkpoint of {source.name} is not visible here.", f"{PLACE}.")
            continue
        try:
            changed = _changed(source)
        except (ModelError, OSError) as error:
            yield of_error(error, folder, f"{PLACE} as it was, or {PLAN_AGAIN[0].lower()}{PLAN_AGAIN[1:]}")
            continue
        if changed:
            yield Problem(
                str(folder),
                f"The {changed} of {source.name} are others than those that the trials were planned with.",
                f"{PLACE} as it was, or {PLAN_AGAIN[0].lower()}{PLAN_AGAIN[1:]}",
            )


def _changed(source: Source) -> str:
    """Which files of a checkpoint are not those of the sweep; "" if none."""
    now = Checkpoint(Path(source.location), source.remote_code, source.casing)
    if now.weights_hash != source.weights:
        return "weights or the configuration"
    return "tokenizer files" if now.tokenizer.hash != source.tokenizer else ""


def _of_data(jobs: Sequence[Job]) -> Iterator[Problem]:
    """Data that is not here, or is not that of the trials; a folder that is not here is told once."""
    planned: dict[DataSource, str] = {}
    for job in jobs:
        planned.setdefault(job.data, job.trial.data)
    for folder in dict.fromkeys(source.folder for source in planned if not source.folder.is_dir()):
        yield Problem(str(folder), "The data is not visible here.", f"{PLACE}, or name another: blurb worker --data.")
    for source, expected in planned.items():
        if not source.folder.is_dir():
            continue
        fix = f"Put the data there that the trials were planned with, or {PLAN_AGAIN[0].lower()}{PLAN_AGAIN[1:]}"
        try:
            if data_hash(source) != expected:
                what = f"The examples of {source.task} are not those that the trials were planned with."
                yield Problem(f"{source.folder}: {source.task}", what, fix)
        except (BlurbError, OSError) as error:
            yield of_error(error, source.folder, fix)


def _of_plugins(jobs: Sequence[Job]) -> Iterator[Problem]:
    files = {path for job in jobs for named in job.plugins.values() for path in named.values() if path}
    for path in sorted(path for path in files if not path.is_file()):
        yield Problem(str(path), "The file of a plug-in is not visible here.", f"{PLACE}.")


def of_hardware(jobs: Sequence[Job]) -> Iterator[Problem]:
    """Devices and precisions that this machine lacks."""
    from blurb.training import hardware

    encoders = [job for job in jobs if job.source.is_checkpoint]
    for device, precision in dict.fromkeys((job.device, job.trial.precision) for job in encoders):
        try:
            hardware.choose_precision(precision, hardware.choose_device(device))
        except BlurbError as error:
            count = sum((job.device, job.trial.precision) == (device, precision) for job in encoders)
            where = f"{plural(count, 'trial')} of sweeps"
            yield Problem(where, str(error), "Run blurb worker elsewhere, or with --device and one that is here.")


def _of_memory(jobs: Sequence[Job], store: Path) -> list[Problem]:
    """Memory that this machine lacks for what the trials need at least."""
    from blurb.cost import model

    if not jobs:
        return []
    try:
        needed = model.least(jobs)
    except BlurbError as error:
        return [of_error(error, store, PLAN_AGAIN)]
    return [Problem("memory", text, "Run blurb worker on a larger machine.") for text in resources.memory(needed)]

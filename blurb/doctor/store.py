"""A store: row files, trials, what killed processes left, and whether this machine can run its open sweeps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from blurb import metrics
from blurb.checkpoints import Checkpoint
from blurb.cost import calibration, model
from blurb.doctor._base import Diagnosis, Fact, Fault, as_fault
from blurb.execution import sweeps
from blurb.execution.allowed import NotAllowed
from blurb.execution.data_sources import DataSource, data_hash
from blurb.execution.job import Job
from blurb.messages import (
    BlurbError,
    ModelError,
    StoreError,
    UnknownName,
    count_noun,
    with_full_stop,
)
from blurb.store import row_contents, row_trials as rows
from blurb.store.store import ASIDE, OLD, OWNERS, Store, left_out
from blurb.system.files import read_json, size_of
from blurb.training import hardware

RUN_AGAIN = "Run its blurb run command again."
PLACE = "Let this machine see it at this path"
PLAN_AGAIN = "Run its blurb run command again, which plans its trials anew."
OR_PLAN_AGAIN = f"or {PLAN_AGAIN[0].lower()}{PLAN_AGAIN[1:]}"


def examine(root: Path) -> Diagnosis:
    """The faults of a store, or of one trial of it; of a store of another schema only that."""
    is_trial = (root / "spec.json").is_file()
    try:
        store = Store(root.resolve().parents[2] if is_trial else root)
    except StoreError as error:  # of another schema: nothing in it can be read
        return Diagnosis("trial" if is_trial else "store", str(root), [as_fault(error, root, "")])
    if is_trial:
        return Diagnosis("trial", str(root), list(_trial(store, root)))
    damage: list[BlurbError] = []
    rows.read(store, damage.append)
    problems = [*(as_fault(error, root, RUN_AGAIN) for error in damage), *_owners(store)]
    for path in store.trial_folders():
        problems += _trial(store, path)
    of_sweeps, open_sweeps = examine_sweeps(root)
    problems += [*_failures(store), *_leftovers(store), *of_sweeps]
    return Diagnosis("store", str(root), problems, {**_facts(store), **open_sweeps})


def _owners(store: Store) -> Iterator[Fault]:
    for path in sorted(store.root.glob(f"*/{OWNERS}")):
        try:
            if not isinstance(read_json(path).get("models"), list):
                raise StoreError("no list of models.", where=path)
        except StoreError as error:
            yield as_fault(error, path, "Delete it; it is written again by the next blurb run.")


def _trial(store: Store, path: Path) -> Iterator[Fault]:
    try:
        if damage := store.damage(path):
            if damage == ["spec.json"] and (path / "spec.json").is_file():
                spec = store.read_spec(path)
                if (spec.task, spec.hash) != (path.parent.name, path.name):
                    yield Fault(
                        str(path),
                        f"Its spec.json is that of trial {spec.hash}: the folder was renamed or altered.",
                        f"Delete the folder. {RUN_AGAIN}",
                    )
                    return
            if not row_contents.is_running(store, path):
                yield as_fault(left_out(path, damage), path, RUN_AGAIN)
            return
        record = store.read(path)
        record.score("test")
        _ = record.task.task_type, metrics.get(record.task.metric)
        if record.metrics.get("metrics_version") != metrics.VERSION:
            yield Fault(
                str(path),
                "Its scores were computed by metrics of another version.",
                "blurb rescore",
            )
    except UnknownName as error:
        yield as_fault(error, path, "Install the plug-in that has it, or delete the trial.")
    except (BlurbError, OSError) as error:
        yield as_fault(error, path, RUN_AGAIN)
    except (KeyError, TypeError, ValueError) as error:
        yield Fault(
            str(path), f"It cannot be understood: {type(error).__name__}: {error}.", RUN_AGAIN
        )


def _failures(store: Store) -> Iterator[Fault]:
    """Trials that failed, and have not been done since."""
    for file in sorted(store.root.glob("*/*/*.failed.json")):
        path = file.with_name(file.name.removesuffix(".failed.json"))
        try:
            why = str(read_json(file).get("message", "for a reason that is not known"))
        except StoreError as error:
            why = str(error)
        if not path.exists() and not row_contents.is_running(store, path):
            yield Fault(
                str(path),
                with_full_stop(f"The trial failed: {why}"),
                f"{RUN_AGAIN} The traceback is in {file.name}.",
            )


def _leftovers(store: Store) -> Iterator[Fault]:
    """Temporary folders of trials whose process was killed."""
    for path in sorted(left for ending in ASIDE for left in store.root.glob(f"*/*/.*.{ending}")):
        trial = path.with_name(path.name[1:].partition(".")[0])
        if path.is_dir() and not row_contents.is_running(store, trial):
            size = size_of(path) / 1e6
            # What was about to be replaced may be whole, and is then put back by the next run.
            fix = (
                RUN_AGAIN
                if path.suffix == f".{OLD}" and not trial.exists()
                else f"rm -r {shlex.quote(str(path))}"
            )
            yield Fault(str(path), f"A process that was killed left it ({size:,.1f} MB).", fix)


def _facts(store: Store) -> dict[str, Fact]:
    known = rows.read(store, lambda text: None)
    trials = [trial for row in known for trial in row_contents.trials(store, row)]
    states = {
        state.replace(" ", "_"): sum(one.state == state for one in trials)
        for state in row_contents.STATES
    }
    others = row_contents.unlisted(store, known)
    return {
        "rows": len(known),
        "trials": len(trials),
        **states,
        "in_no_row": len(others),
        "bytes": size_of(store.root),
    }


def examine_sweeps(store: Path) -> tuple[list[Fault], dict[str, int]]:
    """The faults of the sweeps on this machine; the number of sweeps, and of trials to run."""
    problems: list[Fault] = []
    waiting: dict[Path, Job] = {}
    folders = sweeps.folders(store)
    for folder in folders:
        try:
            waiting |= {
                job.path: job for job in sweeps.read(folder, allow=()) if not sweeps.is_done(job)
            }
        except NotAllowed as error:  # what it names is not opened
            problems.append(
                as_fault(
                    error, folder, "Give blurb worker this option if you trust who planned it."
                )
            )
        except StoreError as error:
            problems.append(as_fault(error, folder, PLAN_AGAIN))
    jobs = list(waiting.values())
    bad = [*_model_faults(jobs), *_data_faults(jobs), *_plugin_faults(jobs), *hardware_faults(jobs)]
    problems += bad or _memory_faults(jobs, store)  # what cannot be read has no size
    return list(dict.fromkeys(problems)), {
        "sweeps": len(folders),
        "trials_of_sweeps": len(jobs),
    } if folders else {}


def _model_faults(jobs: Sequence[Job]) -> Iterator[Fault]:
    """Checkpoints that are not here, or are others than those that were hashed."""
    for source in dict.fromkeys(job.source for job in jobs if job.source.is_checkpoint):
        folder = Path(source.location)
        if not folder.is_dir():
            yield Fault(
                str(folder), f"The checkpoint of {source.name} is not visible here.", f"{PLACE}."
            )
            continue
        fix = f"{PLACE} as it was, {OR_PLAN_AGAIN}"
        now = Checkpoint(folder, source.remote_code, source.casing)
        try:
            changed = "" if now.tokenizer.hash == source.tokenizer else "tokenizer files"
            changed = (
                changed if now.weights_hash == source.weights else "weights or the configuration"
            )
        except (ModelError, OSError) as error:
            yield as_fault(error, folder, fix)
            continue
        if changed:
            what = f"The {changed} of {source.name} are others than those that the trials were planned with."
            yield Fault(str(folder), what, fix)


def _data_faults(jobs: Sequence[Job]) -> Iterator[Fault]:
    """Data that is not here, or is not that of the trials; a folder that is not here is told once."""
    planned: dict[DataSource, str] = {}
    for job in jobs:
        planned.setdefault(job.data, job.trial.data)
    for folder in dict.fromkeys(source.folder for source in planned if not source.folder.is_dir()):
        yield Fault(
            str(folder),
            "The data is not visible here.",
            f"{PLACE}, or name another: blurb worker --data.",
        )
    for source, expected in planned.items():
        if not source.folder.is_dir():
            continue
        fix = f"Put the data there that the trials were planned with, {OR_PLAN_AGAIN}"
        try:
            if data_hash(source) != expected:
                what = f"The examples of {source.task} are not those that the trials were planned with."
                yield Fault(f"{source.folder}: {source.task}", what, fix)
        except (BlurbError, OSError) as error:
            yield as_fault(error, source.folder, fix)


def _plugin_faults(jobs: Sequence[Job]) -> Iterator[Fault]:
    files = {
        path for job in jobs for named in job.plugins.values() for path in named.values() if path
    }
    for path in sorted(path for path in files if not path.is_file()):
        yield Fault(str(path), "The file of a plug-in is not visible here.", f"{PLACE}.")


def hardware_faults(jobs: Sequence[Job]) -> Iterator[Fault]:
    """Devices and precisions that this machine lacks."""
    encoders = [job for job in jobs if job.source.is_checkpoint]
    for device, precision in dict.fromkeys((job.device, job.trial.precision) for job in encoders):
        try:
            hardware.choose_precision(precision, hardware.choose_device(device))
        except BlurbError as error:
            count = sum(
                (job.device, job.trial.precision) == (device, precision) for job in encoders
            )
            where = f"{count_noun(count, 'trial')} of sweeps"
            yield Fault(
                where,
                str(error),
                "Run blurb worker elsewhere, or with --device and one that is here.",
            )


def _memory_faults(jobs: Sequence[Job], store: Path) -> list[Fault]:
    """Memory that this machine lacks for what the trials need at least."""
    if not jobs:
        return []
    try:
        needed = model.least(jobs)
    except BlurbError as error:
        return [as_fault(error, store, PLAN_AGAIN)]
    return [
        Fault("memory", one, "Run blurb worker on a larger machine.")
        for one in calibration.lacking_memory(needed)
    ]

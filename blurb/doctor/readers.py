"""The readers of each kind of thing, called so that they collect all faults instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from blurb import metrics, tasks
from blurb.checkpoints import Checkpoint
from blurb.checkpoints.architecture import find_silent_faults
from blurb.checkpoints.source import check_trial
from blurb.data import loading
from blurb.data.schema import leaked_ids
from blurb.doctor import Fact, Subject
from blurb.execution import stale_files, sweeps, worker
from blurb.execution.job import Job
from blurb.learners import protocol_learner
from blurb.messages import DataError, ErrorCollector, StoreError, UnknownName, option_to_paste
from blurb.planning import run_file
from blurb.regression import rules
from blurb.row_files.references import table_rows
from blurb.store import index, row_contents, row_trials
from blurb.store.store import Store
from blurb.system.files import size_of
from blurb.table_files import table_of
from blurb.training import hardware

Facts = dict[str, Fact]


def read_table(path: Path, errors: ErrorCollector, facts: Facts) -> None:
    """Every line of a `results.csv`, a `leaderboard.csv` or an `external.csv` that cannot be read."""
    unread = ErrorCollector()
    with unread:
        facts["lines"] = len(table_of(path, unread).rows) + len(unread.errors)
    if rows := table_rows(path, errors):
        facts["rows"] = len(rows)


def read_checkpoint(path: Path, errors: ErrorCollector, facts: Facts) -> None:
    """The parts of a checkpoint, and if each is whole, whether they fit together. Its code is never run."""
    checkpoint = Checkpoint(path)
    checkpoint.check_files(errors=errors)
    errors.stop()
    with errors:
        checkpoint.check_fit()
        facts |= {
            "parameters": checkpoint.parameters,
            "weights": checkpoint.weights_hash[:12],
            "tokenizer": checkpoint.tokenizer.hash[:12],
            "tokenizer_entries": checkpoint.tokenizer.size,
        }
    checkpoint.check_filled()  # `check_fit` may have stopped before, and the rest would be built
    encoder, _ = checkpoint.load_encoder()
    facts["longest_input"] = checkpoint.size.most
    if checkpoint.ignored_code:  # the stock class was loaded: a remark, as it may be meant
        facts["ignored_code"] = checkpoint.ignored_code
    if not errors.errors:
        for error in find_silent_faults(path, checkpoint.tokenizer, encoder):
            errors.add(error)


def read_data(path: Path, errors: ErrorCollector, facts: Facts) -> None:
    """The files of all datasets, and whether they are BLURB's."""
    chosen = tasks.select_tasks("all")
    findings = [loading.examine_task(task, path) for task in chosen]
    facts |= {
        "datasets": len(findings),
        "whole": sum(not each.missing for each in findings),
        "identical_to_blurb": sum(each.verdict == "identical" for each in findings),
        "leaks_and_copies": f"blurb data audit{option_to_paste('--data', path)}",
    }
    if all(not each.counts and not each.errors for each in findings):
        hint = loading.hint_at_folder(chosen, path).strip()
        raise DataError(f"none of the data files is here. {hint}".strip(), path)
    for finding in findings:
        task, where = finding.task, f"{path}: {finding.task.name}"
        if finding.missing:
            files = ", ".join(task.files[split] for split in finding.missing)
            errors.add(StoreError(f"Missing: {files}.", where=where))
        for error in (*finding.errors, *finding.notes):
            errors.add(error)
        if finding.verdict == "differs" and not finding.errors:
            counts = ", ".join(
                f"{split} {count:,} instead of {task.expected(split) or 0:,}"
                for split, count in finding.counts.items()
            )
            errors.add(
                StoreError(f"These are not BLURB's examples ({task.unit}: {counts}).", where=where)
            )


def read_task_file(path: Path, errors: ErrorCollector, facts: Facts) -> None:
    """A task file, the files that it names, and their examples."""
    task = tasks.load(str(path))
    audit = f"blurb data audit{option_to_paste('--tasks', path)}"
    facts["leaks_and_copies"] = audit
    examples: dict[tasks.Split, list[Any]] = {}
    for split in tasks.SPLITS:
        examples[split] = loading.read_split(task, path.parent, split, errors)
        facts[f"{split}_examples"] = len(examples[split])
    if leaked := sorted(leaked_ids(examples)):
        errors.add(
            DataError(
                f"inputs of test that occur in train, a leak: {len(leaked):,}, such as {', '.join(leaked[:3])}.",
                path,
                fix=f"{audit} has all ids.",
            )
        )


def _read_trial(store: Store, path: Path, errors: ErrorCollector) -> None:
    """A trial by its hashes; one that a process writes is no fault."""
    if row_contents.is_running(store, path):
        return
    with errors:
        if index.read_folder(store, index.key_of(path), errors.add) is None:
            return
        record = store.read(path)
        try:
            _ = record.task.task_type, metrics.get(record.task.metric)
        except UnknownName as error:
            raise StoreError(
                error.what, where=path, fix="Install the plug-in that has it, or delete the trial."
            ) from error
        if record.metrics["metrics_version"] != metrics.VERSION:
            errors.add(
                StoreError(
                    "Its scores were computed by metrics of another version.",
                    where=path,
                    fix="blurb rescore",
                )
            )


def read_store(path: Path, errors: ErrorCollector, facts: Facts) -> None:
    """A store: rows, trials by their hashes, failures, leftovers, and sweeps on this machine."""
    store = Store(path)
    rows = row_trials.read(store, errors.add)
    for trial in store.hash_folders():
        _read_trial(store, trial, errors)
    for file in sorted(path.glob("*/*/*.failed.json")):
        trial = file.with_name(file.name.removesuffix(".failed.json"))
        if not trial.exists() and not row_contents.is_running(store, trial):
            errors.add(
                StoreError(
                    f"The trial failed: {row_contents.reason(file) or 'nobody knows why'}",
                    where=trial,
                    fix=f"Run its blurb run command again. The traceback is in {file.name}.",
                )
            )
    for left in stale_files.find_trial_leftovers(store):
        if left.kind == "temporary folder":
            errors.add(
                StoreError(
                    f"A process that was killed left it ({size_of(left.path) / 1e6:,.1f} MB).",
                    where=left.path,
                    fix="blurb gc removes it.",
                )
            )
    trials = [trial for row in rows for trial in row_contents.trials(store, row)]
    facts |= {"rows": len(rows), "trials": len(trials)}
    for state in row_contents.STATES:
        facts[state.replace(" ", "_")] = sum(one.state == state for one in trials)
    facts |= {"in_no_row": len(row_contents.unlisted(store, rows)), "bytes": size_of(path)}
    _read_sweeps(path, errors, facts)


def _read_sweeps(store: Path, errors: ErrorCollector, facts: Facts) -> None:
    """The open trials of sweeps, with what a worker on this machine would refuse before it trains."""
    folders = sweeps.folders(store)
    waiting: dict[Path, Job] = {}
    for folder in folders:
        with errors:
            jobs = sweeps.read(folder, allow=())
            waiting |= {job.path: job for job in jobs if not sweeps.has_nothing_left(job)}
    # Jobs differ in task and seed mostly: what they share is looked at once, as its hashes take seconds.
    shared = {
        (job.data, job.source, job.device, job.trial.precision): job for job in waiting.values()
    }
    for job in shared.values():
        with errors:
            worker.load_planned_data(job)
        with errors:
            check_trial(job.source, job.trial.weights, job.trial.tokenizer)
        with errors:
            if job.source.is_checkpoint:
                hardware.choose_precision(job.trial.precision, hardware.choose_device(job.device))
        for file in [path for kind in job.plugins.values() for path in kind.values()]:
            if file and not file.is_file():  # its code is not run here, so nobody else says it
                errors.add(StoreError("The file of a plug-in is not visible here.", where=file))
    if folders:
        facts |= {"sweeps": len(folders), "trials_of_sweeps": len(waiting)}


READERS: Mapping[Subject, Callable[[Path, ErrorCollector, Facts], object]] = {
    "store": read_store,
    "trial": lambda path, errors, facts: _read_trial(
        Store(path.resolve().parents[2]), path, errors
    ),
    "checkpoint": read_checkpoint,
    "data": read_data,
    "table": read_table,
    "task file": read_task_file,
    "protocol": lambda path, errors, facts: protocol_learner.load(path),
    "run file": lambda path, errors, facts: run_file.read(path),
    "rules": lambda path, errors, facts: rules.load_rules(path),
}

"""Runs one trial, from reading its data to writing its files into the store."""

from __future__ import annotations

import contextlib
import csv
import gc
import logging
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from blurb import formulations, tasks
from blurb.checkpoints.source import check_trial
from blurb.data import TaskData
from blurb.execution.data_sources import load_data
from blurb.execution.environment import describe_environment
from blurb.execution.job import (
    Job,
    Reporter,
    TrialOutcome,
    TrialProgress,
    predictions_of,
    units_and_cache_key,
)
from blurb.inputs import tokenized_split
from blurb.learners import building, saved_models
from blurb.learners.base import Subset
from blurb.messages import (
    BlurbError,
    DataError,
    SettingsError,
    TrainingError,
    opt,
    redact_secrets,
    safe_message,
)
from blurb.protocols.settings import example_limits
from blurb.store import plugins, rescore, row_contents, trial_checkpoints as checkpoints
from blurb.store.record import PREDICTIONS, read_predictions, write_predictions
from blurb.store.store import Store
from blurb.store.trial import PROVENANCE, Provenance
from blurb.system import leases, process, signals
from blurb.system.files import write_json
from blurb.training import tracking

log = logging.getLogger("blurb")

ALIKE = ("python", "torch", "transformers", "tokenizers", "numpy", "platform", "device", "threads")
"""Fields that are equal in two environments in which a trial gives the same predictions."""


def execute_job(
    job: Job, tell: Callable[[TrialProgress], None] = lambda news: None
) -> TrialOutcome:
    """Runs a trial unless it is done or another living process runs it (`held`).

    A process suspended for long may lose its trial to another, which runs it again; it still counts once.

    :param tell: receives the progress
    """
    plugins.remember(job.plugins)
    start = time.perf_counter()
    try:
        store = Store(job.store)
        job.path.parent.mkdir(parents=True, exist_ok=True)
        with leases.trying(store.lease(job.path)) as lease:
            if lease is None:
                return TrialOutcome(job, "held", message=leases.who(store.lease(job.path)))
            try:
                with process.one_process(), signals.keep_interrupts():
                    status = _execute_held(job, store, lease, tell)
            except Exception as error:
                # The trial is another process's now, with all that is wrong with it.
                if not lease.is_held():
                    return TrialOutcome(job, "held", message=leases.who(store.lease(job.path)))
                _note_failure(job, error)
                raise
    except Exception as error:  # noqa: BLE001 - whatever broke a trial must not stop the others
        return TrialOutcome(job, "failed", time.perf_counter() - start, safe_message(error))
    return TrialOutcome(job, status, time.perf_counter() - start if status == "done" else 0.0)


def _execute_held(
    job: Job, store: Store, lease: leases.Lease, tell: Callable[[TrialProgress], None]
) -> Literal["done", "already done"]:
    """Runs a trial whose lease this process holds."""
    path = job.path
    store.recover(path)
    done = rescore.is_done(store, path)
    if done and (job.keep == "none" or saved_models.is_kept(path)):
        checkpoints.remove(path)  # of a process that was killed before it did
        return "already done"

    def report_news(news: TrialProgress) -> None:
        # For others.
        lease.news = {
            name: getattr(news, name) for name in ("epoch", "epochs", "done", "total", "dev")
        }
        if lease.lost:  # what is to come would be dropped
            lease.check()
        tell(news)

    reporter = Reporter(report_news, job.trial.settings.get("epochs", 0))
    try:
        if done:
            put = _add_model(job, store, lease, reporter)
        else:
            outdated = store.is_done(path)  # and yet to run again
            with store.aside(path) as aside:
                _train_and_write(job, aside, reporter, lease)
                put = store.put(aside, path, lease, replace=outdated)
    finally:
        gc.collect()  # a learner refers to itself; its weights would wait for a chance collection
        process.trim_heap()
    process.freeze_gc()  # not after an error, whose traceback holds the learner
    row_contents.failure_of(path).unlink(missing_ok=True)
    checkpoints.remove(path)
    return "done" if put else "already done"


def note_death(job: Job, message: str) -> None:
    """Records that the process of a trial died, so that not every worker dies of it in turn."""
    with contextlib.suppress(OSError), leases.trying(Store(job.store).lease(job.path)) as lease:
        if lease is not None and not job.path.exists():
            _note_failure(job, BlurbError(message))


def _note_failure(job: Job, error: Exception) -> None:
    """Writes down why a trial failed; called while its error is handled."""
    reason = {
        "message": safe_message(error),
        "traceback": redact_secrets(traceback.format_exc()),
        "trial": job.trial.content,
    }
    if isinstance(error, TrainingError):  # going on would fail again
        checkpoints.remove(job.path)
    with contextlib.suppress(BlurbError, OSError):  # the reason may be that the disk is full
        write_json(row_contents.failure_of(job.path), reason)


def load_planned_data(job: Job) -> TaskData:
    """The data of a trial; DataError if it changed since the trial was planned."""
    content = load_data(job.data)
    if content.hash != job.trial.data:
        raise DataError(
            f"the data has changed since the trials were planned ({job.trial.task})",
            job.data.folder,
            fix="run the command again.",
        )
    return content


def _unchanged_data(job: Job) -> TaskData:
    """The data of a trial; BlurbError if data, code, recipe or model changed since it was planned."""
    trial, content = job.trial, load_planned_data(job)
    if plugins.identity(content.task, trial.settings, trial.kind) != trial.plugins:
        raise SettingsError(
            "The code of a plug-in has changed since the trials were planned",
            fix="run the command again.",
        )
    if trial.kind.recipe != trial.recipe:  # a sweep of before an update of blurb
        raise SettingsError(
            f"The trial was planned with recipe {trial.recipe} of its learner, but this version of blurb has "
            f"{trial.kind.recipe}, which gives other results.",
            fix="Run the command that planned it again.",
        )
    check_trial(job.source, trial.weights, trial.tokenizer)
    return content


def _train_and_write(job: Job, aside: Path, reporter: Reporter, lease: leases.Lease) -> None:
    """Trains and predicts; writes all files of the trial into a folder, with its model if it is to be kept."""
    trial = job.trial
    content = _unchanged_data(job)
    formulation = formulations.bind(content.task, trial.settings)
    watch = _start_tracking(job, reporter)
    handler = _Log(aside / "log.txt", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        started = time.time()
        log.info("trial %s: %s on %s, seed %d", trial.hash, job.source.name, trial.task, trial.seed)
        log.info("command: %s", shlex.join(sys.argv))
        learner = building.learner(
            job.source, formulation, job.device, trial.precision, trial.learner
        )
        learner.tracking, learner.checkpointing = watch, job.checkpointing
        if job.resume:
            here = describe_environment(job.place)
            about = checkpoints.about(trial.hash, {name: here[name] for name in ALIKE})
            learner.checkpoints = checkpoints.TrialCheckpoints(job.path, aside, about, lease)
        units = {
            split: Subset.draw(
                *units_and_cache_key(formulation, content, split),
                *example_limits(formulation.settings, split, trial.seed),
                split,
            )
            for split in tasks.SPLITS
        }
        clock = time.perf_counter()
        history = learner.fit(units["train"], units["dev"], trial.seed, reporter.step)
        fitted = time.perf_counter()
        columns = predictions_of(formulation, learner, units)
        facts = {
            "train_seconds": round(
                fitted - clock + learner.facts.get("resumed", {}).get("seconds", 0.0), 2
            ),
            "predict_seconds": round(time.perf_counter() - fitted, 2),
            "train_units": len(units["train"].used),
            "features_version": tokenized_split.VERSION,
            "predicted": {
                "learner": job.learner.name,
                "type": content.task.type,
                "seconds": round(job.predicted, 2),
            },
            **learner.facts,
        }
        log.info("trained in %.1f s", fitted - clock)
        figures = rescore.figures(formulation, columns)
        watch.log({f"test/{name}": value for name, value in figures["test"].items()}, len(history))
    finally:
        watch.finish()
        log.removeHandler(handler)
        handler.close()
    write_json(aside / "spec.json", trial.content)
    write_predictions(aside / PREDICTIONS, columns)
    write_json(aside / "metrics.json", figures)
    write_json(aside / PROVENANCE, _make_provenance(job, content, started, facts).content)
    _write_history(aside / "history.csv", history)
    if job.keep != "none":
        about = {
            "trial": trial.hash,
            "settings": dict(trial.settings),
            "precision": trial.precision,
        }
        trial.kind.load("save")(learner, aside / saved_models.FOLDER, about)


def _add_model(job: Job, store: Store, lease: leases.Lease, reporter: Reporter) -> bool:
    """Trains a finished trial again for its model, which is kept only if it reproduces the stored predictions.

    :returns: True, like `Store.put`
    :raises SettingsError: in another environment or on other predictions, unless it may replace the trial
    """
    path = job.path
    before, now = store.read(path).provenance.environment, describe_environment(job.place)
    changed = [
        f"{name} {before.get(name)}, now {now[name]}"
        for name in ALIKE
        if before.get(name) != now[name]
    ]
    cure = (
        f"Replace the trial with {opt('keep-model', 'replace')}, or keep its model in another "
        f"{opt('output')} folder."
    )
    if changed and job.keep != "replace":
        raise SettingsError(
            f"The trial is finished without its model, in another environment ({'; '.join(changed)}), where it may "
            f"give other predictions. {cure}"
        )
    with store.aside(path) as aside:
        _train_and_write(job, aside, reporter, lease)
        lease.check()
        if read_predictions(aside / PREDICTIONS) == read_predictions(path / PREDICTIONS):
            # The model is damaged, or would not be made again.
            shutil.rmtree(path / saved_models.FOLDER, ignore_errors=True)
            (aside / saved_models.FOLDER).rename(path / saved_models.FOLDER)
        elif job.keep == "replace":
            store.put(aside, path, lease, replace=True)
        else:
            raise SettingsError(
                f"Trained again, the trial gives other predictions than the stored ones. {cure}"
            )
    return True


class _Log(logging.FileHandler):
    def format(self, record: logging.LogRecord) -> str:
        return redact_secrets(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignores errors: on a full disk the trial fails anyway, and every line of its log would add a traceback."""


def _start_tracking(job: Job, reporter: Reporter) -> tracking.Tracking:
    trial = job.trial
    settings = {**trial.settings, "seed": trial.seed, "precision": trial.precision}
    run = f"{job.path.parent.parent.name}/{trial.task}/{trial.seed}"
    return tracking.Tracking(
        job.track, run, trial.hash, job.store / tracking.FOLDER, settings, reporter.epoch
    )


def _make_provenance(
    job: Job, content: TaskData, started: float, facts: Mapping[str, Any]
) -> Provenance:
    return Provenance(
        data_verdict=content.verdict,
        model=job.source.name,
        revision=job.source.revision,
        parameters=job.source.parameters,
        configuration=job.configuration,
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        facts=facts,
        environment=describe_environment(job.place),
        declaration=content.task.declaration if content.task.is_declared else None,
    )


def _write_history(path: Path, history: list[dict[str, Any]]) -> None:
    """Writes one line per epoch, or per candidate the learner tried."""
    columns = list(history[0]) if history else ["epoch", "loss", "learning_rate", "dev"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(history)

"""`blurb reproduce`: a finished trial is run again, and its predictions are compared with the stored ones."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blurb.errors import SettingsError, StoreError
from blurb.tasks import SCORED, Scored, Split

if TYPE_CHECKING:
    from blurb.checkpoints import Source
    from blurb.runs.data_sources import DataSource
    from blurb.runs.spec import Trial
    from blurb.runs.store import Record


@dataclass(frozen=True)
class SplitOutcome:
    """The predictions of a split, then and now.

    :param units: number of predictions
    :param differing: number of those that are not the same
    :param stored: score of the stored ones, as a fraction
    :param now: score of the new ones
    """

    split: Split
    units: int
    differing: int
    stored: float
    now: float


@dataclass(frozen=True)
class Reproduction:
    """A trial that was run again.

    :param environment: what is not as it was then: name -> (then, now)
    :param seconds: that it took
    """

    trial: str
    task: str
    seed: int
    splits: Sequence[SplitOutcome]
    environment: Mapping[str, tuple[Any, Any]]
    seconds: float

    @property
    def same(self) -> bool:
        """Whether all predictions are the same."""
        return not any(one.differing for one in self.splits)


def reproduce(
    record: Record, model: str, data: Path, raw: Path | None = None, *,
    device: str = "auto", casing: str | None = None, trust_remote_code: bool = False, head: str | None = None,
    pooling: str | None = None,
) -> Reproduction:  # fmt: skip
    """Runs a finished trial again, in a temporary folder: the store is not changed.

    :param model: the same as then: a folder, a Hub id, a preset, a baseline
    :param data: folder of the datasets, or for `scratch:` and the demo suite of theirs
    :param raw: folder of the original releases, if the trial reads them
    :param head: its head, if that is a file: a trial of a store brings no code
    :param pooling: its pooling, likewise
    :raises SettingsError: if the model or the recipe is another one
    :raises DataError: if the data is not there
    :raises StoreError: if the trial fails
    """
    from blurb import tasks
    from blurb.api.request import source
    from blurb.runs import plugins
    from blurb.runs.data_sources import DataSource
    from blurb.runs.environment import environment
    from blurb.runs.store import PREDICTIONS, Store, read_predictions
    from blurb.runs.worker import Job, execute

    plugins.load_all([{"head": head, "pooling": pooling}])
    trial, made = record.trial, record.provenance
    if made.configuration is None:
        raise StoreError("its provenance has no configuration, so it cannot be run again.", where=record.path)
    found = source(model, made.model, None, trust_remote_code, data, casing)
    task = tasks.to_read(record.task)
    origin = DataSource(task.file or task.name, data)
    if _reads_originals(record):
        if raw is None:
            raise SettingsError("The trial reads the original release: add --raw with its folder.")
        origin = DataSource(task.name, raw, original=True)
    _check(trial, model, found, origin)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="blurb-reproduce-") as folder:
        job = Job(trial, found, made.configuration, origin, Path(folder), device)
        Store(job.store).claim(found.name)
        outcome = execute(job)
        if outcome.status == "failed":
            raise StoreError(f"The trial failed this time: {outcome.message}")
        again = Store(job.store).read(job.path)
        before, now = (read_predictions(path / PREDICTIONS) for path in (record.path, job.path))
        splits = [_compared(split, before, now, record, again) for split in SCORED]
        there, here = made.environment, environment(job.place)
    changed = {name: (there.get(name), here.get(name)) for name in here if name in there and there[name] != here[name]}
    return Reproduction(trial.hash, trial.task, trial.seed, splits, changed, time.perf_counter() - begun)


def _reads_originals(record: Record) -> bool:
    from blurb.formulations import bind

    return bind(record.task, record.trial.settings).needs_original


def _check(trial: Trial, model: str, found: Source, origin: DataSource) -> None:
    """Raises a SettingsError if this is not the same trial any more: another model, other data, another recipe."""
    from blurb.runs.data_sources import data_hash

    for what, then, now in (
        (f"{model} is another model", trial.weights, found.weights),
        (f"{model} has another tokenizer", trial.tokenizer, found.tokenizer),
        (f"{origin.folder} has other data", trial.data, data_hash(origin)),
    ):
        if then != now:
            raise SettingsError(f"{what} than that of the trial (hash {now[:24]}, there {then[:24]}).")
    if trial.kind.recipe != trial.recipe:
        raise SettingsError(
            f"The trial has recipe {trial.recipe} of its learner, this version of blurb has "
            f"{trial.kind.recipe}, which gives other results",
            fix="use the version that ran it.",
        )


def _compared(
    split: Scored, before: Mapping[str, list[Any]], now: Mapping[str, list[Any]], record: Record, again: Record
) -> SplitOutcome:
    answers = [
        dict(zip(_of(columns, split, "id"), _of(columns, split, "prediction"), strict=True))
        for columns in (before, now)
    ]
    differing = sum(answers[0].get(unit) != answers[1].get(unit) for unit in answers[0].keys() | answers[1].keys())
    return SplitOutcome(split, len(answers[0]), differing, record.score(split), again.score(split))


def _of(columns: Mapping[str, list[Any]], split: Split, name: str) -> list[Any]:
    return [value for value, place in zip(columns[name], columns["split"], strict=True) if place == split]

"""What stands in the way of a sweep's trials on this machine, before one of them is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from blurb.errors import BlurbError
from blurb.models.weights import hash_weights
from blurb.runs.data_sources import data_hash
from blurb.runs.worker import Job


def obstacles(jobs: Sequence[Job], thorough: bool = False) -> Iterator[str]:
    """Sentences: data and checkpoints that are not seen here, a device or precision that this machine lacks.

    :param thorough: also reads data and checkpoints, to see whether they are those of the sweep
    """
    checkpoints = dict.fromkeys((job.source.location, job.source.weights, job.source.remote_code)
                                for job in jobs if job.source.kind == "encoder")  # fmt: skip
    for location, weights, remote_code in checkpoints:
        if not Path(location).is_dir():
            yield f"This machine does not see the checkpoint {location}; it must be where the sweep has it."
        elif thorough and hash_weights(Path(location), remote_code) != weights:
            yield f"The checkpoint {location} has other weights than when the sweep began."
    for folder in dict.fromkeys(job.data.folder for job in jobs):
        if not folder.is_dir():
            yield f"This machine does not see the data in {folder}; name its folder here with --data."
        elif thorough:
            yield from _data(folder, jobs)
    for device, precision in dict.fromkeys((job.place, job.trial.precision) for job in jobs):
        yield from _hardware(device, precision)


def _data(folder: Path, jobs: Sequence[Job]) -> Iterator[str]:
    for source, planned in dict.fromkeys((job.data, job.trial.data) for job in jobs if job.data.folder == folder):
        try:
            if data_hash(source) != planned:
                yield f"The data of {source.task} in {folder} is not that which the sweep began with."
        except BlurbError as error:
            yield str(error)


def _hardware(device: str, precision: str) -> Iterator[str]:
    from blurb.training import hardware

    try:
        hardware.choose_precision(precision, hardware.choose_device(device))
    except BlurbError as error:
        yield str(error)

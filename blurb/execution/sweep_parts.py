"""Parts of a sweep: the trials that one job of a scheduler runs, with `blurb worker --sweep FOLDER --part NUMBER`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.messages.errors import StoreError
from blurb.system.files import check_types, read_json, write_json

PARTS = "slurm.json"
"""File of a sweep: the trials of each part, the numbers of the submitted jobs, and how many parts these took."""


def write(folder: Path, parts: Sequence[Sequence[int]]) -> None:
    """Writes the parts of a sweep of which nothing is submitted; those that are there stay as they are.

    :param parts: indices of the trials of each
    """
    if not (folder / PARTS).exists():
        write_json(folder / PARTS, {"parts": parts, "submitted": [], "taken": 0})


def read(folder: Path) -> dict[str, Any]:
    """What the file of a sweep has; without a file, no parts. StoreError if it is of other types."""
    file = folder / PARTS
    if not file.exists():
        return {"parts": [], "submitted": [], "taken": 0}
    content = read_json(file)
    check_types(content, {"parts": list, "taken": int, "submitted": list}, file)
    return content


def note_submitted(folder: Path, number: str, taken: int) -> None:
    """Notes a job of the scheduler.

    :param taken: number of parts that jobs run by now
    """
    content = read(folder)
    content["submitted"].append(number)
    content["taken"] = max(content["taken"], taken)
    write_json(folder / PARTS, content)


def jobs_of(folder: Path, numbers: Iterable[int], allow: Collection[str] | None = None) -> list[Job]:
    """The trials of some parts of a sweep; StoreError if one of the parts is not there.

    :param allow: as for `sweeps.read`
    """
    parts, jobs = read(folder)["parts"], sweeps.numbered(folder, allow)
    chosen: list[Job] = []
    number = 0
    try:
        for number in numbers:
            if number < 0:
                raise IndexError(number)
            chosen += [job for index in parts[number] if (job := jobs[index]) is not None]
        return chosen
    except (IndexError, TypeError) as error:
        raise StoreError(f"{folder} has no part {number}: it has {len(parts)} parts, numbered from 0.") from error

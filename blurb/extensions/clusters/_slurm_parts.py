"""The parts of a sweep that jobs of Slurm run one each: how trials are packed, and `slurm.json`, which lists them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.messages import StoreError
from blurb.system.files import check_types, read_json, write_json

PARTS = "slurm.json"
"""File of a sweep: the trials of each part, the numbers of the submitted jobs, and how many parts these took."""


def write_parts(folder: Path, parts: Sequence[Sequence[int]]) -> None:
    """Writes the parts of a sweep of which nothing is submitted; those that are there stay as they are.

    :param parts: indices of the trials of each
    """
    if not (folder / PARTS).exists():
        write_json(folder / PARTS, {**read_parts(folder), "parts": parts})


def read_parts(folder: Path) -> dict[str, Any]:
    """Read the parts of a sweep from its file; none without a file. StoreError for values of other types."""
    file = folder / PARTS
    if not file.exists():
        return {"parts": [], "submitted": [], "taken": 0}
    content, kinds = read_json(file), {"parts": list, "taken": int, "submitted": list}
    check_types({**dict.fromkeys(kinds), **content}, kinds, file)
    return content


def note_submitted(folder: Path, number: str, taken: int) -> None:
    """Notes a job of the scheduler.

    :param taken: number of parts that jobs run by now
    """
    content = read_parts(folder)
    content["submitted"].append(number)
    content["taken"] = max(content["taken"], taken)
    write_json(folder / PARTS, content)


def jobs_of_parts(
    folder: Path, numbers: Iterable[int], allow: Collection[str] | None = None
) -> list[Job]:
    """The trials of some parts of a sweep; StoreError if there is no such part, or it does not list trials.

    :param allow: as for `sweeps.read`
    """
    parts, jobs = read_parts(folder)["parts"], sweeps.numbered(folder, allow)
    chosen: list[Job] = []
    for number in numbers:
        if not 0 <= number < len(parts):
            raise StoreError(
                f"has no part {number}: it has {len(parts)} parts, numbered from 0", where=folder
            )
        try:
            chosen += [job for index in parts[number] if (job := jobs[index]) is not None]
        except (IndexError, TypeError) as error:
            raise StoreError(
                f"part {number} is no list of the sweep's trials", where=folder / PARTS
            ) from error
    return chosen


def pack_trials(seconds: Sequence[float], limit: float, most: int = 0) -> list[list[int]]:
    """Indices of the trials of each part, the longest parts first.

    Trials go, the longest first, into the emptiest part, or into a new one if that has no room (worst-fit decreasing).
    One that is longer than the limit has a part of its own. Where nothing was predicted, a trial counts as a quarter of
    the limit.

    :param seconds: predicted seconds of each trial, 0 if not known
    :param limit: seconds of a part
    :param most: largest number of trials in a part; 0 is any number

    >>> pack_trials([50, 10, 40, 200, 60], limit=100)
    [[3], [0, 2], [4, 1]]
    >>> pack_trials([0, 0, 0, 0, 0], limit=100)
    [[0, 1, 2, 3], [4]]
    """
    expected = [one or limit / 4 for one in seconds]
    parts: list[list[int]] = []
    # Seconds of a part that still takes trials, and its place
    emptiest: list[tuple[float, int]] = []
    for index in sorted(range(len(expected)), key=lambda index: -expected[index]):
        used, place = emptiest[0] if emptiest else (math.inf, 0)
        if used + expected[index] <= limit:
            heapq.heappop(emptiest)
        else:
            used, place = 0.0, len(parts)
            parts.append([])
        parts[place].append(index)
        if not most or len(parts[place]) < most:
            heapq.heappush(emptiest, (used + expected[index], place))
    return sorted(parts, key=lambda part: -sum(expected[index] for index in part))

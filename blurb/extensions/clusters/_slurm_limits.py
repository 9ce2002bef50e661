"""What is asked of Slurm against what is predicted: the time and memory of a job, and the number of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from blurb.extensions.clusters._slurm_script import SAVING
from blurb.extensions.clusters.slurm import limit_of_site
from blurb.messages.text import duration, size
from blurb.training.hardware import choose_device

if TYPE_CHECKING:
    from blurb.cost.model import Estimate, TrialEstimate

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def shortfalls(found: Estimate, sbatch: Mapping[str, str], parts: int) -> Iterator[str]:
    """Sentences on what is less than what the trials are predicted to need, on a machine like this one.

    :param sbatch: options, as sbatch knows them
    :param parts: number of parts into which the trials are packed
    """
    yield from _time(found, sbatch)
    yield from _memory(found, sbatch)
    most = limit_of_site("MaxJobCount")
    if most and parts > most:
        yield f"There are {parts:,} jobs, and this site takes {most:,} at a time; a larger minutes=N makes fewer."


def _time(found: Estimate, sbatch: Mapping[str, str]) -> Iterator[str]:
    limit = slurm_seconds(sbatch.get("time", ""))
    if not limit:
        return
    limit_text = f"time={sbatch['time']}"
    for saves, then in (
        (True, "it is saved in time, queued again, and goes on; with more time it ends in one job."),
        (False, "it does not save itself and would begin anew each time: give it more."),
    ):
        long = [one for one in found.waiting if _saves(one) is saves and one.seconds > max(0.0, limit - SAVING)]
        if long:
            yield f"{limit_text} is less than {_longest(long)}: {then}"


def _saves(trial: TrialEstimate) -> bool:
    """Whether a trial goes on where a job before it ended."""
    return trial.job.learner.resumes


def _longest(trials: list[TrialEstimate]) -> str:
    longest = max(trials, key=lambda one: one.seconds)
    others = f" (and {len(trials) - 1:,} more)" if len(trials) > 1 else ""
    return f"the {duration(longest.seconds)} that {_name(longest)} is predicted to take{others}"


def _name(trial: TrialEstimate) -> str:
    return f"{trial.job.source.name} on {trial.job.trial.task}"


def _memory(found: Estimate, sbatch: Mapping[str, str]) -> Iterator[str]:
    asked = {name: sbatch[name] for name in ("mem", "mem-per-cpu") if name in sbatch}
    given = bytes_of(sbatch.get("mem", ""))
    if not given and "mem" not in asked:
        cpus = sbatch.get("cpus-per-task", "1")
        given = bytes_of(asked.get("mem-per-cpu", "")) * (int(cpus) if cpus.isdecimal() else 1)
    here = [one for one in found.waiting if choose_device(one.job.place).type != "cuda"]  # a GPU has its own
    if given and here:
        largest = max(here, key=lambda one: one.cost.memory)
        needed = largest.memory
        if needed > given:
            told = ",".join(f"{name.replace('-', '_')}={value}" for name, value in asked.items())
            yield f"{told} is less than the {size(needed)} that {_name(largest)} is predicted to need: ask for more."


def slurm_seconds(time: str) -> float:
    """Seconds of a time as sbatch knows it; 0 for none, or what is no time.

    >>> [slurm_seconds(time) for time in ("90", "90:30", "2:00:00", "1-12", "1-0:30")]
    [5400.0, 5430.0, 7200.0, 129600.0, 88200.0]
    >>> slurm_seconds("UNLIMITED")
    0.0
    """
    if not re.fullmatch(r"(\d+-)?\d+(:\d+){0,2}", time):
        return 0.0
    days, dash, rest = time.rpartition("-")
    numbers = [int(part) for part in rest.split(":")]
    if dash:  # hours, minutes, seconds
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, [*numbers, 0][:2]
    return 86_400.0 * int(days or 0) + 3_600.0 * hours + 60.0 * minutes + seconds


def bytes_of(memory: str) -> int:
    """Bytes of a size as sbatch knows it, in megabytes without a unit; 0 for none, or what is no size.

    >>> bytes_of("16G"), bytes_of("500"), bytes_of("0"), bytes_of("a lot")
    (17179869184, 524288000, 0, 0)
    """
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", memory.upper())
    return int(found[1]) * UNITS[found[2] or "M"] if found else 0

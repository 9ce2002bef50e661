"""Requests to Slurm beside predictions: time and memory of a job, and the number of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from blurb.execution.estimate import LIBRARIES, Estimate, TrialEstimate
from blurb.extensions.clusters._slurm_script import SAVING
from blurb.extensions.clusters.slurm import limit_of_site
from blurb.messages import format_duration, format_size
from blurb.training.hardware import choose_device

UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def shortfalls(expected: Estimate, sbatch: Mapping[str, str], parts: int) -> Iterator[str]:
    """Sentences on what is less than what the trials are predicted to need, on a machine like this one.

    :param sbatch: options, as sbatch knows them
    :param parts: number of parts into which the trials are packed
    """
    limit = slurm_seconds(sbatch.get("time", ""))
    for saves, then in (
        (
            True,
            "it is saved in time, queued again, and goes on; with more time it ends in one job.",
        ),
        (False, "it does not save itself and would begin anew each time: give it more."),
    ):
        if long := [
            trial
            for trial in expected.waiting
            if trial.job.learner.resumes is saves
            and limit
            and trial.seconds > max(0.0, limit - SAVING)
        ]:
            longest = max(long, key=lambda trial: trial.seconds)
            others = f" (and {len(long) - 1:,} more)" if len(long) > 1 else ""
            yield (
                f"time={sbatch['time']} is less than the {format_duration(longest.seconds)} that {_name(longest)} is "
                f"predicted to take{others}: {then}"
            )
    cpus = sbatch.get("cpus-per-task", "1")
    given = bytes_of(sbatch.get("mem-per-cpu", "")) * (int(cpus) if cpus.isdecimal() else 1)
    if "mem" in sbatch:
        given = bytes_of(sbatch["mem"])
    # A GPU has memory of its own.
    here = [trial for trial in expected.waiting if choose_device(trial.job.place).type != "cuda"]
    if given and here:
        largest = max(here, key=lambda trial: trial.memory)
        needs = largest.memory + LIBRARIES
        if needs > given:
            request = ",".join(
                f"{name.replace('-', '_')}={sbatch[name]}"
                for name in ("mem", "mem-per-cpu")
                if name in sbatch
            )
            yield (
                f"{request} is less than the {format_size(needs)} that {_name(largest)} is predicted to need: "
                "ask for more."
            )
    most = limit_of_site("MaxJobCount")
    if most and parts > most:
        yield f"There are {parts:,} jobs, and this site takes {most:,} at a time; a larger minutes=N makes fewer."


def _name(trial: TrialEstimate) -> str:
    return f"{trial.job.source.name} on {trial.job.trial.task}"


def slurm_seconds(time: str) -> float:
    """Seconds of a time as sbatch knows it; 0 for none, or what is no time.

    >>> [slurm_seconds(time) for time in ("90", "90:30", "2:00:00", "1-12", "1-0:30")]
    [5400.0, 5430.0, 7200.0, 129600.0, 88200.0]
    >>> slurm_seconds("UNLIMITED")
    0.0
    """
    if not re.fullmatch(r"(\d+-)?\d+(:\d+){0,2}", time):
        return 0.0
    days, _, rest = time.rpartition("-")
    numbers = [int(part) for part in rest.split(":")]
    if not days and len(numbers) < 3:  # of minutes, or of minutes and seconds
        numbers = [0, *numbers]
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return 86_400.0 * int(days or 0) + 3_600.0 * hours + 60.0 * minutes + seconds


def bytes_of(memory: str) -> int:
    """Bytes of a size as sbatch knows it, in megabytes without a unit; 0 for none, or what is no size.

    >>> bytes_of("16G"), bytes_of("500"), bytes_of("0"), bytes_of("a lot")
    (17179869184, 524288000, 0, 0)
    """
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", memory.upper())
    return int(found[1]) * UNITS[found[2] or "M"] if found else 0

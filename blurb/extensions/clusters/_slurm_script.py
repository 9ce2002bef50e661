"""The script of Slurm's array jobs: plain text for sbatch within the limits of the site."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from blurb.extensions.clusters.slurm import limit_of_site
from blurb.messages.errors import BlurbError
from blurb.messages.spelling import opt
from blurb.messages.text import duration, plural, size
from blurb.training.hardware import choose_device

if TYPE_CHECKING:
    from blurb.cost.model import Estimate, TrialEstimate

SCRIPT = "slurm.sh"
SAVING = 120
"""Seconds before the time limit at which Slurm tells a job to save its trial and leave."""
STARTS = 100
"""A part is started again as often after time limits; one that gets nowhere must not go on for ever."""
UNFIT = re.compile(r"\\|[^ -~\w]")
"""What no path in a script may have: backslashes, and what is neither a letter nor printable ASCII."""


class SlurmError(BlurbError):
    """Slurm refuses, or is not there."""


@dataclass(frozen=True)
class Script:
    """What a script says.

    :param folder: of the sweep
    :param code: hash by which its workers allow it
    :param blocks: values of `--array`, one a submission
    :param parts: number of them
    :param sbatch: options, as sbatch knows them
    :param setup: shell file to read first; "" for none
    :param start_within: seconds over which the starts are spread
    :param failures: failed trials after which a part gives up
    """

    folder: Path
    code: str
    blocks: Sequence[str]
    parts: int
    sbatch: Mapping[str, str]
    setup: str
    start_within: int
    failures: int
    leaderboard: Path | None

    @property
    def path(self) -> Path:
        """Its file."""
        return self.folder / SCRIPT

    @property
    def job_name(self) -> str:
        """By which Slurm lists its jobs."""
        return f"blurb-{self.folder.name}"

    @property
    def text(self) -> str:
        """The script."""
        # -P: a file torch.py in the folder where the job starts is not the torch that is meant.
        command = [
            sys.executable,
            "-P",
            "-m",
            "blurb",
            "worker",
            "--sweep",
            str(self.folder.absolute()),
            "--max-failures",
            str(self.failures),
            "--allow-code",
            self.code,
        ]
        command += [] if self.leaderboard is None else ["--leaderboard", str(self.leaderboard.absolute())]
        by_hand = "\n".join(
            f"#     sbatch --array={block} {shlex.quote(str(self.path.absolute()))} {offset}"
            for block, offset in offsets(self.blocks)
        )
        # Slurm itself reads this line: it replaces %A, and a blank or # ends it.
        log = re.sub(r"([ #'\"])", r"\\\1", str(self.folder.absolute()).replace("%", "%%")) + "/%A_%a.log"
        return TEXT.format(
            by_hand=by_hand,
            parts=plural(self.parts, "part"),
            name=self.folder.name,
            job=self.job_name,
            log=log,
            saving=SAVING,
            starts=STARTS,
            asked="".join(f"\n#SBATCH --{name}={value}" for name, value in sorted(self.sbatch.items())),
            setup=f"\n. {shlex.quote(str(Path(self.setup).absolute()))}" if self.setup else "",
            spread=f'\nsleep "$((RANDOM % {self.start_within + 1}))"' if self.start_within else "",
            command=shlex.join(command),
        )


TEXT = """#!/bin/bash
# {parts} of the sweep {name}; written by blurb. To submit it:
{by_hand}
#SBATCH --job-name={job}
#SBATCH --output={log}
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@{saving}{asked}
{setup}
part=$((${{1:-0}} + SLURM_ARRAY_TASK_ID))
# Not all at once: thousands of starts in one second are too many for a file server.{spread}
{command} --part "$part" &
worker=$!
# USR1: the time limit is near. TERM: pre-empted, after which Slurm starts the job again itself, or cancelled.
trap 'near=1; kill -USR1 "$worker" 2>/dev/null' USR1
trap 'kill -TERM "$worker" 2>/dev/null' TERM
wait "$worker"
code=$?
while kill -0 "$worker" 2>/dev/null; do  # a signal ends the first wait, not the worker
    wait "$worker"
    code=$?
done
if [ -n "${{near:-}}" ] && [ "$code" -gt 128 ]; then
    if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {starts} ]; then
        echo "The time limit is near: this part is queued again and goes on from where it was saved."
        scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
        exit 0
    fi
    echo "This part was started {starts} times; give its trials more time." >&2
fi
exit "$code"
"""


def check_path(folder: Path) -> None:
    """Raises a SlurmError for a path that cannot stand in a comment of the script, which Slurm and the shell read."""
    bad = sorted(set(UNFIT.findall(str(folder))))
    if bad:
        raise SlurmError(
            f"The path of the store has {', '.join(map(repr, bad))} in it, which Slurm or the shell would read as "
            f"something else ({str(folder)!r})",
            fix=f"choose another {opt('output')} folder.",
        )


def arrays(parts: int, at_once: int, most: int) -> list[str]:
    """The values of `--array` for all parts, in blocks that a site accepts.

    >>> arrays(2500, 0, 1001), arrays(3, 2, 1001)
    (['0-1000', '0-1000', '0-497'], ['0-2%2'])
    """
    sizes = [min(most, parts - begin) for begin in range(0, parts, most)]
    return [f"0-{size - 1}" + (f"%{at_once}" if at_once else "") for size in sizes]


def offsets(blocks: Sequence[str]) -> list[tuple[str, int]]:
    """Each value of `--array` with the number of its first part."""
    starts, begin = [], 0
    for block in blocks:
        starts.append((block, begin))
        begin += int(re.split("[-%]", block)[1]) + 1
    return starts


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

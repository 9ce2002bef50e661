"""The parts of a sweep that jobs of Slurm run one each: how trials are packed, `slurm.json`, which lists them, and the
script of the array jobs: plain text for sbatch, which runs `blurb worker` on a part.
"""

from __future__ import annotations

import heapq
import math
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blurb.execution import sweeps
from blurb.execution.job import Job
from blurb.messages import BlurbError, StoreError, count_noun, opt
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


SCRIPT = "slurm.sh"
SAVING = 120
"""Seconds before the time limit at which Slurm tells a job to save its trial and leave."""
STARTS = 100
"""A part is started again as often after time limits; one that gets nowhere must not go on for ever."""
UNFIT = re.compile(r"\\|[^ -~\w]")
"""Characters that no path in a script may have: backslashes, and all but letters and printable ASCII."""


class SlurmError(BlurbError):
    """Slurm refuses, or is not there."""


@dataclass(frozen=True)
class Script:
    """The values of a script.

    :param folder: of the sweep
    :param code: hash by which its workers allow it
    :param blocks: of `arrays`, one a submission
    :param parts: number of them
    :param sbatch: options, as sbatch knows them
    :param setup: shell file to read first; "" for none
    :param start_within: seconds over which the starts are spread
    :param failures: failed trials after which a part gives up
    """

    folder: Path
    code: str
    blocks: Sequence[tuple[str, range]]
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
        command = [sys.executable, "-P", "-m", "blurb", "worker"]
        command += ["--sweep", str(self.folder.absolute())]
        command += ["--max-failures", str(self.failures), "--allow-code", self.code]
        if self.leaderboard is not None:
            command += ["--leaderboard", str(self.leaderboard.absolute())]
        by_hand = "\n".join(
            f"#     sbatch --array={block} {shlex.quote(str(self.path.absolute()))} {parts.start}"
            for block, parts in self.blocks
        )
        # Slurm itself reads this line: it replaces %A, and a blank or # ends it.
        log = (
            re.sub(r"([ #'\"])", r"\\\1", str(self.folder.absolute()).replace("%", "%%"))
            + "/%A_%a.log"
        )
        return TEXT.format(
            by_hand=by_hand,
            parts=count_noun(self.parts, "part"),
            name=self.folder.name,
            job=self.job_name,
            log=log,
            saving=SAVING,
            starts=STARTS,
            asked="".join(
                f"\n#SBATCH --{name}={value}" for name, value in sorted(self.sbatch.items())
            ),
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
    if bad := sorted(set(UNFIT.findall(str(folder)))):
        raise SlurmError(
            f"The path of the store has {', '.join(map(repr, bad))} in it, which Slurm or the shell would read as "
            f"something else ({str(folder)!r})",
            fix=f"choose another {opt('output')} folder.",
        )


def arrays(parts: int, at_once: int, most: int) -> list[tuple[str, range]]:
    """The values of `--array` for all parts, in blocks that a site accepts, each with its parts.

    >>> arrays(2500, 0, 1001)
    [('0-1000', range(0, 1001)), ('0-1000', range(1001, 2002)), ('0-497', range(2002, 2500))]
    >>> arrays(3, 2, 1001)
    [('0-2%2', range(0, 3))]
    """
    limit = f"%{at_once}" if at_once else ""
    blocks = [range(parts)[begin : begin + most] for begin in range(0, parts, most)]
    return [(f"0-{len(block) - 1}{limit}", block) for block in blocks]

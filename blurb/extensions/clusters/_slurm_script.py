"""The script of Slurm's array jobs: plain text for sbatch, which runs `blurb worker` on the parts of a sweep."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blurb.messages import BlurbError, count_noun, opt

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

"""Trials as array jobs of Slurm: a sweep in the store, and a script that runs `blurb worker` on its parts.

What is submitted is what `--print` shows: plain text for sbatch, which any site can read, change and submit itself. A
job carries the path of the sweep and the number of its part, nothing else.
"""

from __future__ import annotations

import math
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blurb.errors import BlurbError, SettingsError, StoreError
from blurb.files import check_types, read_json, write_json, write_whole
from blurb.runs import sweeps
from blurb.runs.engine import Engine
from blurb.runs.engines.packing import pack
from blurb.runs.inventory import failure_of
from blurb.runs.turns import OnFinished, OnProgress
from blurb.runs.worker import Job, TrialOutcome
from blurb.wording import plural

PARTS = "slurm.json"
"""File of a sweep: the trials of each part, and the numbers of the submitted jobs."""
SCRIPT = "slurm.sh"
MOST_ELEMENTS = 1001
"""MaxArraySize where it cannot be asked: Slurm's default."""
SAVING = 120
"""Seconds before the time limit at which Slurm tells a job to save its trial and leave."""
STARTS = 100
"""A part is started again as often after time limits; one that gets nowhere must not go on for ever."""
OWN: Mapping[str, Any] = {"minutes": 60, "trials": 0, "at_once": 0, "start_within": 30, "failures": 10, "setup": ""}
"""Options that are not sbatch's: predicted minutes of a part, its largest number of trials (0: any), parts that run at
a time (0: any), seconds over which their starts are spread, failed trials after which a part gives up, a shell file to
read first."""
UNFIT = re.compile(r"\\|[^ -~\w]")
"""What no path in a script may have: backslashes, and what is neither a letter nor printable ASCII."""
TAKEN = ("array", "output", "error", "requeue", "signal", "open-mode", "wrap", "parsable", "job-name", "chdir")
"""Options of sbatch that the script sets itself."""


class SlurmError(BlurbError):
    """Slurm refuses, or is not there."""


@dataclass(frozen=True)
class Slurm:
    """How the jobs are made.

    :param own: the options of `OWN`
    :param sbatch: other options, as sbatch knows them: partition, account, time, gres, mem, cpus-per-task, ...
    :param shown: whether the script is printed and not submitted
    """

    own: Mapping[str, Any] = field(default_factory=lambda: dict(OWN))
    sbatch: Mapping[str, str] = field(default_factory=dict)
    shown: bool = False

    @classmethod
    def of(cls, options: Mapping[str, str], shown: bool = False) -> Slurm:
        """Reads the options; SettingsError if one has a wrong value."""
        own, sbatch = dict(OWN), {}
        for name, value in options.items():
            if name not in OWN:
                sbatch[name.replace("_", "-")] = value
            elif isinstance(OWN[name], int):
                lowest = 1 if name in ("minutes", "failures") else 0
                if not value.isdecimal() or int(value) < lowest:
                    raise SettingsError(f"--engine slurm: {name} must be a whole number from {lowest} (got '{value}').")
                own[name] = int(value)
            else:
                own[name] = value
        for name, value in sbatch.items():
            if name in TAKEN or not re.fullmatch(r"[a-z][a-z-]*", name) or re.search(r"[\s\x00-\x1f]", value):
                raise SettingsError(
                    f"--engine slurm: '{name}={value}' cannot be passed on to sbatch: blurb sets {', '.join(TAKEN)} "
                    "itself, and values have no blanks. With --print the script can be changed by hand."
                )
        if own["setup"] and not Path(own["setup"]).is_file():
            raise SettingsError(f"--engine slurm: setup={own['setup']} is not a file.")
        return cls(own, sbatch, shown)

    def write(self, store: Path, jobs: Sequence[Job], leaderboard: Path | None = None) -> tuple[Path, list[str]]:
        """Writes a sweep with its parts and its script; returns the script and the arrays to submit it with.

        :param leaderboard: table to write when a part ends
        :raises SlurmError: if jobs that were submitted before are still to run these trials
        """
        for folder in sweeps.folders(store):
            _check_over(folder, {job.path.absolute() for job in jobs})
        check_path(store.absolute() / sweeps.FOLDER)
        parts = pack([job.predicted for job in jobs], 60.0 * self.own["minutes"], self.own["trials"])
        # A job ends when its time is over, whatever its trial is doing, and the next one goes on. Parts are of the
        # name: another packing of the same trials is another sweep, and jobs that are queued keep theirs.
        folder = sweeps.write(store, [replace(job, resume=True) for job in jobs], {"parts": parts})
        longest = max(sum(jobs[index].predicted for index in part) for part in parts)
        if not (folder / PARTS).exists():
            write_json(folder / PARTS, {"parts": parts, "submitted": [], "taken": 0})
        script = folder / SCRIPT
        write_whole(script, self._script(folder, len(parts), longest, leaderboard, sweeps.hash_of(jobs)).encode())
        return script, arrays(len(parts), self.own["at_once"], _most_elements())

    def _script(self, folder: Path, parts: int, longest: float, leaderboard: Path | None, code: str) -> str:
        asked = dict(self.sbatch)
        if "time" not in asked and longest:  # wrong is harmless: a job goes on from where its trial was saved
            asked["time"] = str(math.ceil(2 * longest / 60) + 10)
        blocks = arrays(parts, self.own["at_once"], _most_elements())
        # -P: a file torch.py in the folder where the job starts is not the torch that is meant.
        command = [sys.executable, "-P", "-m", "blurb", "worker", "--sweep", str(folder.absolute()),
                   "--max-failures", str(self.own["failures"]), "--allow-code", code]  # fmt: skip
        command += [] if leaderboard is None else ["--leaderboard", str(leaderboard.absolute())]
        by_hand = "\n".join(
            f"#     sbatch --array={block} {shlex.quote(str((folder / SCRIPT).absolute()))} {offset}"
            for block, offset in offsets(blocks)
        )
        # Slurm itself reads this line: it replaces %A, and a blank or # ends it.
        log = re.sub(r"([ #'\"])", r"\\\1", str(folder.absolute()).replace("%", "%%")) + "/%A_%a.log"
        return SCRIPT_TEXT.format(
            by_hand=by_hand, parts=plural(parts, "part"), name=folder.name, log=log, saving=SAVING, starts=STARTS,
            asked="".join(f"\n#SBATCH --{name}={value}" for name, value in sorted(asked.items())),
            setup=f"\n. {shlex.quote(str(Path(self.own['setup']).absolute()))}" if self.own["setup"] else "",
            spread=f'\nsleep "$((RANDOM % {self.own["start_within"] + 1}))"' if self.own["start_within"] else "",
            command=shlex.join(command),
        )  # fmt: skip


SCRIPT_TEXT = """#!/bin/bash
# {parts} of the sweep {name}; written by blurb. To submit it:
{by_hand}
#SBATCH --job-name=blurb-{name}
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
            fix="choose another --output folder.",
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
    found, begin = [], 0
    for block in blocks:
        found.append((block, begin))
        begin += int(re.split("[-%]", block)[1]) + 1
    return found


def check_there() -> None:
    """Raises a SlurmError if nothing can be submitted from this machine."""
    if shutil.which("sbatch") is None:
        raise SlurmError(
            "sbatch is not here, so nothing was submitted. On a machine of the cluster it works; to see the script, "
            "add --print."
        )


def submit(script: Path, blocks: Sequence[str]) -> list[str]:
    """Submits a script for all its parts; returns the numbers of the jobs.

    :raises SlurmError: with what sbatch says; what was submitted before stays, and is noted
    """
    check_there()
    noted = read_json(script.with_name(PARTS))
    for block, offset in offsets(blocks):
        command = ["sbatch", "--parsable", f"--array={block}", str(script), str(offset)]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode:
            raise SlurmError(
                f"sbatch: {found.stderr.strip() or found.stdout.strip()} Submitted before: "
                f"{', '.join(noted['submitted']) or 'nothing'}.",
                fix="Run the same command again when these are over; with a "
                "larger minutes=N there are fewer and longer jobs.",
            )
        noted["submitted"].append(found.stdout.strip().split(";")[0])
        noted["taken"] = max(noted["taken"], offset + int(re.split("[-%]", block)[1]) + 1)
        write_json(script.with_name(PARTS), noted)
    return list(noted["submitted"])


def part(folder: Path, number: int, allow: Collection[str]) -> list[Job]:
    """The trials of a part of a sweep, to run them; StoreError if there is none of that number.

    :param allow: hashes of sweeps that a person typed
    """
    return _parts(folder, [number], allow)


def _parts(folder: Path, numbers: Iterable[int], allow: Collection[str] | None = None) -> list[Job]:
    """The trials of some parts of a sweep; StoreError if one of them is not there."""
    parts, jobs = _noted(folder / PARTS).get("parts", []), sweeps.numbered(folder, allow)
    found: list[Job] = []
    number = 0
    try:
        for number in numbers:
            if number < 0:
                raise IndexError(number)
            found += [job for index in parts[number] if (job := jobs[index]) is not None]
        return found
    except (IndexError, TypeError) as error:
        raise StoreError(f"{folder} has no part {number}: it has {len(parts)} parts, numbered from 0.") from error


def _noted(file: Path) -> dict[str, Any]:
    """What is noted of the jobs of a sweep; StoreError if it is of other types."""
    content = read_json(file)
    check_types(content, {"parts": list, "taken": int, "submitted": list}, file)
    return content


def _check_over(folder: Path, trials: set[Path]) -> None:
    """Raises a SlurmError if jobs of a sweep are queued or running that have some of these trials."""
    file = folder / PARTS
    noted = _noted(file) if file.exists() else {}
    taken = noted.get("taken", 0)
    queued = {job.path for job in _parts(folder, range(taken))} if taken else set()
    if trials.isdisjoint(path.absolute() for path in queued):
        return
    alive = _alive(noted["submitted"])
    if alive:
        raise SlurmError(
            f"These trials were submitted before, and are not finished: job {', '.join(alive)}.",
            fix=f"Wait for them (blurb status), or cancel them first: scancel {' '.join(alive)}",
        )


def is_queued(folder: Path) -> bool:
    """Whether jobs of a sweep are queued or running."""
    file = folder / PARTS
    return file.exists() and bool(_alive(_noted(file).get("submitted", [])))


def _alive(submitted: Sequence[str]) -> list[str]:
    """Those of the jobs that are queued or running."""
    if shutil.which("squeue") is None:
        return []
    # One by one: with a job that Slurm has forgotten, squeue says nothing of the others.
    found = []
    for number in submitted:
        listed = subprocess.run(
            ["squeue", "--noheader", "--format=%A", f"--jobs={number}"], capture_output=True, text=True
        )
        if listed.returncode == 0 and listed.stdout.strip():
            found.append(number)
    return found


def limit_of_site(name: str) -> int | None:
    """A number of the site's configuration, such as MaxArraySize; None if it cannot be asked."""
    if shutil.which("scontrol") is None:
        return None
    shown = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True).stdout
    found = re.search(rf"^{name}\s*=\s*(\d+)", shown, re.MULTILINE)
    return int(found[1]) if found else None


def _most_elements() -> int:
    found = limit_of_site("MaxArraySize")
    return MOST_ELEMENTS if found is None else max(1, found)


@dataclass(frozen=True)
class SlurmEngine(Engine):
    """Submits the trials that are not done, and returns: the same command says later what became of them."""

    slurm: Slurm
    leaderboard: Path | None = None
    joined = False

    def run(self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress) -> list[TrialOutcome]:
        done = [sweeps.is_done(job) for job in jobs]
        waiting = [job for job, over in zip(jobs, done, strict=True) if not over]
        if waiting:
            script, blocks = self.slurm.write(jobs[0].store, waiting, self.leaderboard)
            if self.slurm.shown:
                print(script.read_text(encoding="utf-8"), end="")
                stays = f"The sweep stays in {script.parent} for this script and for blurb worker"
                print(f"Nothing was submitted. {stays}; remove that folder if you do not want it.", file=sys.stderr)
            else:
                for job in waiting:  # workers pass over what failed before
                    failure_of(job.path).unlink(missing_ok=True)
                submitted = submit(script, blocks)
                print(f"Submitted as job {', '.join(submitted)}; script and logs: {script.parent}")
        outcomes = []
        for job, over in zip(jobs, done, strict=True):
            outcomes.append(TrialOutcome(job, "already done" if over else "submitted"))
            if over:
                on_finished(outcomes[-1])
        return outcomes

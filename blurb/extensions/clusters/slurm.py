"""Trials as array jobs of Slurm: a sweep in the store, and a script that runs `blurb worker` on its parts.

What is submitted is what `--print` shows: plain text for sbatch, which any site can read, change and submit itself. A
job carries the path of the sweep and the number of its part, nothing else.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from blurb.execution import sweeps
from blurb.execution.engine import Engine, Launch
from blurb.execution.estimate import Estimate
from blurb.execution.job import Job, OnFinished, OnProgress, TrialOutcome
from blurb.extensions.clusters import _slurm_script
from blurb.extensions.clusters._slurm_script import Script, SlurmError, arrays, check_path
from blurb.messages import SettingsError, opt
from blurb.store.row_contents import failure_of
from blurb.system.files import write_whole

MOST_ELEMENTS = 1001
"""MaxArraySize where it cannot be asked: Slurm's default."""
TAKEN = (
    "array",
    "output",
    "error",
    "requeue",
    "signal",
    "open-mode",
    "wrap",
    "parsable",
    "job-name",
    "chdir",
)
"""Options of sbatch that the script sets itself."""


class SlurmEngine(Engine):
    """Submits the trials that are not done, and returns: the same command says later what became of them.

    :param minutes: predicted minutes of a part
    :param trials: maximum number of its trials; 0 is any number
    :param at_once: parts that run at a time; 0 is any number
    :param start_within: seconds over which the starts of the parts are spread
    :param failures: failed trials after which a part gives up
    :param setup: shell file to read first
    :param sbatch: other options, as sbatch knows them: partition, account, time, gres, mem, cpus_per_task, ...
    """

    summary = (
        "submits trials as array jobs of Slurm; passes options that it does not know to sbatch"
    )
    hands_over = True
    other_options = True
    of_file = (
        "minutes",
        "trials",
        "at_once",
        "start_within",
        "failures",
        "partition",
        "account",
        "qos",
        "constraint",
        "time",
        "mem",
        "cpus_per_task",
        "gres",
        "gpus",
    )
    without_jobs = "slurm,at_once=N is the number of jobs that run at a time"

    def __init__(
        self,
        launch: Launch,
        minutes: int = 60,
        trials: int = 0,
        at_once: int = 0,
        start_within: int = 30,
        failures: int = 10,
        setup: str = "",
        **sbatch: str,
    ) -> None:
        super().__init__(launch)
        for name, number, lowest in (
            ("minutes", minutes, 1),
            ("trials", trials, 0),
            ("at_once", at_once, 0),
            ("start_within", start_within, 0),
            ("failures", failures, 1),
        ):
            if number < lowest:
                raise SettingsError(
                    f"{opt('engine', 'slurm')}: {name} must be a whole number from {lowest} (got {number})."
                )
        self.minutes, self.trials, self.parts_at_once = minutes, trials, at_once
        self.start_within, self.failures, self.setup = start_within, failures, setup
        self.sbatch = {name.replace("_", "-"): value for name, value in sbatch.items()}
        for name, value in self.sbatch.items():
            if (
                name in TAKEN
                or not re.fullmatch(r"[a-z][a-z-]*", name)
                or re.search(r"[\s\x00-\x1f]", value)
            ):
                raise SettingsError(
                    f"{opt('engine', 'slurm')}: '{name}={value}' cannot be passed on to sbatch: blurb sets "
                    f"{', '.join(TAKEN)} "
                    f"itself, and values have no blanks. With {opt('print')} the script can be changed by hand."
                )
        if setup and not Path(setup).is_file():
            raise SettingsError(f"{opt('engine', 'slurm')}: setup={setup} is not a file.")

    def check_there(self) -> None:
        if not self.launch.shown and shutil.which("sbatch") is None:
            raise SlurmError(
                "sbatch is not here, so nothing was submitted. On a machine of the cluster it works; to see the "
                f"script, add {opt('print')}."
            )

    def shortfalls(self, expected: Estimate) -> Iterator[str]:
        from blurb.extensions.clusters import _slurm_limits

        parts = self._packed([one.seconds for one in expected.waiting])
        return _slurm_limits.shortfalls(expected, self.sbatch, len(parts))

    @classmethod
    def is_queued(cls, folder: Path) -> bool:
        try:
            return bool(_alive(_slurm_script.read_parts(folder)["submitted"]))
        except SlurmError:  # that may be: nobody can be asked
            return True

    @classmethod
    def jobs_of_part(cls, folder: Path, number: int, allow: Collection[str]) -> list[Job]:
        return _slurm_script.jobs_of_parts(folder, [number], allow)

    @classmethod
    def started_this(cls) -> bool:
        return "SLURM_JOB_ID" in os.environ

    def run(
        self,
        jobs: Sequence[Job],
        on_finished: OnFinished,
        on_progress: OnProgress,
        keep_sweep: bool = False,
    ) -> list[TrialOutcome]:
        done = [sweeps.has_nothing_left(job) for job in jobs]
        waiting = [job for job, over in zip(jobs, done, strict=True) if not over]
        message = text = ""
        if waiting:
            script = self.write(jobs[0].store, waiting)
            message, text = self._submit(script, waiting), script.text
        outcomes = [
            TrialOutcome(job, "already done")
            if over
            else TrialOutcome(job, "submitted", message=message, script=text)
            for job, over in zip(jobs, done, strict=True)
        ]
        for outcome in outcomes:
            if outcome.status == "already done":
                on_finished(outcome)
        return outcomes

    def write(self, store: Path, jobs: Sequence[Job]) -> Script:
        """Writes a sweep with its parts and its script.

        :raises SlurmError: if jobs that were submitted before are still to run these trials
        """
        trials = {job.path.absolute() for job in jobs}
        for earlier in sweeps.folders(store):
            noted = _slurm_script.read_parts(earlier)
            taken = range(noted["taken"])
            queued = _slurm_script.jobs_of_parts(earlier, taken) if taken else []
            if trials.isdisjoint(job.path.absolute() for job in queued):
                continue
            if alive := _alive(noted["submitted"]):
                raise SlurmError(
                    f"These trials were submitted before, and are not finished: job {', '.join(alive)}.",
                    fix=f"Wait for them (blurb status), or cancel them first: scancel {' '.join(alive)}",
                )
        check_path(store.absolute() / sweeps.FOLDER)
        packed = self._packed([job.predicted for job in jobs])
        # A job ends when its time is over, whatever its trial is doing, and the next one goes on. Parts are of the
        # name: another packing of the same trials is another sweep, and jobs that are queued keep theirs.
        folder, code = sweeps.write(
            store, [replace(job, resume=True) for job in jobs], {"parts": packed}
        )
        _slurm_script.write_parts(folder, packed)
        requested = dict(self.sbatch)
        longest = max(sum(jobs[index].predicted for index in part) for part in packed)
        # A wrong guess is harmless: a job goes on from where its trial was saved.
        if "time" not in requested and longest:
            requested["time"] = str(math.ceil(2 * longest / 60) + 10)
        most = limit_of_site("MaxArraySize")
        script = Script(
            folder,
            code,
            arrays(
                len(packed), self.parts_at_once, MOST_ELEMENTS if most is None else max(1, most)
            ),
            len(packed),
            requested,
            self.setup,
            self.start_within,
            self.failures,
            self.launch.leaderboard,
        )
        write_whole(script.path, script.text.encode())
        return script

    def _packed(self, seconds: Sequence[float]) -> list[list[int]]:
        return _slurm_script.pack_trials(seconds, 60.0 * self.minutes, self.trials)

    def _submit(self, script: Script, jobs: Sequence[Job]) -> str:
        """Submits a script, unless it shall only be shown; returns what came of it."""
        if self.launch.shown:
            return (
                f"Nothing was submitted. The sweep stays in {script.folder} for this script and for blurb worker; "
                "remove that folder if you do not want it."
            )
        for job in jobs:  # workers pass over what failed before
            failure_of(job.path).unlink(missing_ok=True)
        return f"Submitted as job {', '.join(submit(script))}; script and logs: {script.folder}"


def submit(script: Script) -> list[str]:
    """Submits a script for all its parts; returns the numbers of the jobs.

    :raises SlurmError: with what sbatch says; what was submitted before stays, and is noted
    """
    for block, parts in script.blocks:
        result = subprocess.run(
            ["sbatch", "--parsable", f"--array={block}", str(script.path), str(parts.start)],
            capture_output=True,
            text=True,
        )
        before = _slurm_script.read_parts(script.folder)["submitted"]
        number = _number(result) if result.returncode == 0 else _queued_by_name(script, before)
        if not number:
            raise SlurmError(
                f"sbatch: {result.stderr.strip() or result.stdout.strip()} Submitted before: "
                f"{', '.join(before) or 'nothing'}.",
                fix="Run the same command again when these are over; with a "
                "larger minutes=N there are fewer and longer jobs.",
            )
        _slurm_script.note_submitted(script.folder, number, parts.stop)
    return list(_slurm_script.read_parts(script.folder)["submitted"])


def _number(result: subprocess.CompletedProcess[str]) -> str:
    """The number of a job: the last line that is one, as sites print greetings before it."""
    lines = [
        line for line in result.stdout.splitlines() if re.fullmatch(r"[0-9]+(;\S+)?", line.strip())
    ]
    return lines[-1].strip().partition(";")[0] if lines else ""


def _queued_by_name(script: Script, before: Sequence[str]) -> str:
    """The number of a job that sbatch submitted before it gave up, as it does when the controller answers late."""
    if shutil.which("squeue") is None:
        return ""
    listed = _squeue(f"--name={script.job_name}", "--format=%F")
    numbers = set(listed.stdout.split()) - set(before) if listed.returncode == 0 else set()
    return numbers.pop() if len(numbers) == 1 else ""


def _squeue(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["squeue", "--noheader", *options], capture_output=True, text=True)


def _alive(submitted: Sequence[str]) -> list[str]:
    """Those of the jobs that are queued or running.

    :raises SlurmError: if Slurm cannot be asked; then nobody knows whether the jobs are over
    """
    if submitted and shutil.which("squeue") is None:
        raise SlurmError(
            f"squeue is not here, so nobody knows whether job {', '.join(submitted)} is over.",
            fix="Run this on a machine of the cluster.",
        )
    # One by one: with a job that Slurm has forgotten, squeue says nothing of the others.
    alive = []
    for number in submitted:
        listed = _squeue("--format=%A", f"--jobs={number}")
        if listed.returncode and "invalid job id" not in listed.stderr.lower():
            raise SlurmError(
                f"squeue does not say whether job {number} is over: {listed.stderr.strip() or listed.stdout.strip()}.",
                fix="Run the same command again later.",
            )
        if listed.returncode == 0 and listed.stdout.strip():
            alive.append(number)
    return alive


def limit_of_site(name: str) -> int | None:
    """A number of the site's configuration, such as MaxArraySize; None if it cannot be asked."""
    if shutil.which("scontrol") is None:
        return None
    shown = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True).stdout
    found = re.search(rf"^{name}\s*=\s*(\d+)", shown, re.MULTILINE)
    return int(found[1]) if found else None


ENGINE = SlurmEngine

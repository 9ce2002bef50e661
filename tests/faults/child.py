"""Runs the command `blurb` in a process that was forked from a warm one, and disturbs it there.

Every change of the disk below the command's folder is counted as Python announces it (`sys.addaudithook`), so that the
process can be killed, or the disk fail, at each of them in turn. What libraries write in C (Parquet, safetensors) is
not announced; kills at random times meet it.
"""

import errno
import fcntl
import gc
import importlib
import os
import pkgutil
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import blurb
from blurb.cli import main
from blurb.execution import job
from blurb.system import lease_records as holders, leases

# What the commands need, so that the forked process has it at once. None of it starts a thread.
for _name in (
    *(
        module.name
        for module in pkgutil.walk_packages(blurb.__path__, "blurb.")
        if "__main__" not in module.name
    ),
    "datasets",
    "pandas",
    "pyarrow.parquet",
    "rich.console",
    "rich.progress",
    "scipy.stats",
    "torch",
    "transformers.models.bert.modeling_bert",
):
    importlib.import_module(_name)
gc.freeze()  # what is here for good is not looked at again after every trial

CHANGES = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
ASKED_FOR_LOCK = "a lock was asked for"
NEEDS_ROOM = {"open", "os.mkdir", "os.link"}
"""What a full disk refuses; it may still rename and remove."""


@dataclass(frozen=True)
class Faults:
    """What happens to a command.

    :param kill_at: it is killed before the change of the disk with this number, from 1
    :param torn: and if that is a rename, only half of the file had been written
    :param full_from: from this change on there is no room on the disk
    :param lost_from: from this change on the disk answers nothing: neither reads nor writes
    :param read_only: the disk cannot be written
    :param without_locks: the disk refuses flock and lockf, as some network disks do, which is told
    :param clock: seconds by which the clock is wrong
    :param host: it is a process of another machine of this name, which can be told dead only by its silence
    :param limit: seconds of silence after which a lease is stale, instead of two minutes
    :param processor: seconds of the processor after which the system kills it
    :param imports_here: Python looks for modules in the working folder first, as of `python -m blurb`
    """

    kill_at: int = 0
    torn: bool = False
    full_from: int = 0
    lost_from: int = 0
    read_only: bool = False
    without_locks: bool = False
    clock: float = 0.0
    host: str = ""
    limit: float = 0.0
    processor: int = 0
    imports_here: bool = False


def run(arguments: Sequence[str], folder: Path, said: Path, faults: Faults) -> None:
    """The command in a process group of its own; what it says goes to a file, and at its end what it took."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            number, signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler
        )
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for there, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (file, 1), (file, 2)):
        os.dup2(there, standard)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode)  # noqa: SIM115 - they stay open
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.chdir(folder)
    if faults.clock:
        clock = time.time
        time.time = lambda: clock() + faults.clock
    if faults.limit:
        leases.LIMIT, leases.BEAT, job.LOOK = faults.limit, faults.limit / 10, faults.limit / 10
    if faults.without_locks:
        fcntl.flock = fcntl.lockf = _refused
    if faults.host:
        holders._this_machine.cache_clear()
        holders._this_machine = lambda: (faults.host, f"start of {faults.host}", "pid:[1]")  # type: ignore[assignment]
    if faults.imports_here:
        sys.path.insert(0, "")
    before = resource.getrusage(resource.RUSAGE_SELF)
    if faults.processor:
        resource.setrlimit(resource.RLIMIT_CPU, (faults.processor, faults.processor))
    disk = _Disk(folder, faults)
    sys.addaudithook(disk.heard)
    sys.argv = ["blurb", *arguments]
    try:
        main()
    finally:
        disk.faults = Faults()
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        took = f"{seconds:.1f} seconds of the processor, {used.ru_maxrss // 1024} MB"
        os.write(file, f"\n{disk.changes} changes of the disk, {took}\n".encode())


def _refused(*given: Any) -> None:
    print(ASKED_FOR_LOCK)
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


class _Disk:
    """Counts the changes below a folder, and fails as it is told to."""

    def __init__(self, folder: Path, faults: Faults) -> None:
        self.folder = str(folder)
        self.faults = faults
        self.changes = 0

    def heard(self, event: str, given: tuple[Any, ...]) -> None:
        is_open = event == "open"
        if not (is_open or event in CHANGES) or not self.is_below(given):
            return
        writes = not is_open or bool(given[2] & WRITING)
        self.changes += writes
        faults = self.faults
        if faults.lost_from and self.changes >= faults.lost_from:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), given[0])
        if not writes:
            return
        if faults.read_only:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), given[0])
        if faults.full_from and self.changes >= faults.full_from and event in NEEDS_ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), given[0])
        if self.changes == faults.kill_at:
            if faults.torn and event == "os.rename" and os.path.isfile(given[0]):
                self.faults = Faults()
                os.truncate(given[0], os.path.getsize(given[0]) // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    def is_below(self, given: tuple[Any, ...]) -> bool:
        if not given or isinstance(given[0], int):
            return False
        path = os.fsdecode(given[0])
        return not os.path.isabs(path) or path.startswith(self.folder)

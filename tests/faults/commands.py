"""Starts commands in a warm process, as hundreds of them are killed."""

import contextlib
import itertools
import multiprocessing
import os
import re
import signal
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.faults.child import Faults, run

LIMIT = 120.0
"""Seconds that no command may take."""
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.faults.child"])
_numbers = itertools.count()


class Command:
    """A command that runs in a process group of its own."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, faults: Faults | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.said = folder.parent / f"{folder.name}.said-{next(_numbers)}"
        given = (list(arguments), folder, self.said, faults or Faults())
        self.process: BaseProcess = _context.Process(target=run, args=given)
        self.process.start()

    def ended(self, seconds: float = LIMIT) -> int:
        """Waits for its end: the exit code, negative after a signal. One that hangs is an error."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            self.kill()
            raise AssertionError(f"{seconds:.0f} seconds were not enough: {self.text}")
        return self.process.exitcode

    def killed_after(self, seconds: float) -> bool:
        """Kills it, with all that it started, after some seconds; False if it had ended."""
        self.process.join(seconds)
        if self.process.exitcode is not None:
            return False
        self.kill()
        return True

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Sends a signal to its group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid or 0, number)
        if number == signal.SIGKILL:
            self.process.kill()  # it may not have a group of its own yet
            self.process.join()

    @property
    def text(self) -> str:
        """What it said so far."""
        return self.said.read_text() if self.said.exists() else ""

    @property
    def changes(self) -> int:
        """How often it changed the disk; of one that ended by itself."""
        return int(self._took()[0])

    @property
    def took(self) -> tuple[float, int]:
        """Seconds of the processor and megabytes; of one that ended by itself."""
        return float(self._took()[1]), int(self._took()[2])

    def _took(self) -> tuple[str, str, str]:
        line = r"^(\d+) changes of the disk, ([\d.]+) seconds of the processor, (\d+) MB$"
        found: list[tuple[str, str, str]] = re.findall(line, self.text, re.MULTILINE)
        return found[-1]


def blurb(arguments: Sequence[str], folder: Path, faults: Faults | None = None) -> tuple[int, str]:
    """Runs a command to its end: its exit code, and what it said."""
    command = Command(arguments, folder, faults)
    return command.ended(), command.text

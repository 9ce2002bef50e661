"""What is repeated while trials run."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from types import TracebackType

from blurb.messages.errors import BlurbError


class Throttled:
    """Repeats an action between trials (such as writing the tables), rarely enough to cost a long sweep nothing.

    As a context manager it acts once more after an interrupt, if there is news and the action is quick.

    :param act: its BlurbError and OSError are ignored; the caller acts once more at the end and reports them there
    """

    EVERY = 5.0
    """Minimum seconds between two actions."""
    SHARE = 20
    """Minimum time between two actions, as a multiple of the duration of the last one."""
    QUICK = 2.0
    """Maximum seconds for the action after an interrupt."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act
        self.lock = threading.Lock()  # with several jobs, trials end in several threads
        self.due = time.monotonic() + self.EVERY
        self.took = 0.0
        self.undone = False

    def __call__(self) -> None:
        self.undone = True
        if time.monotonic() < self.due or not self.lock.acquire(blocking=False):
            return
        try:
            start, self.undone = time.monotonic(), False
            with contextlib.suppress(BlurbError, OSError):
                self.act()
            end = time.monotonic()
            self.took = end - start
            self.due = end + max(self.EVERY, self.SHARE * self.took)
        finally:
            self.lock.release()

    def __enter__(self) -> Throttled:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self.undone and self.took < self.QUICK:
            with contextlib.suppress(BlurbError, OSError):
                self.act()

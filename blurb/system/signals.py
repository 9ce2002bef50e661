"""Signals that ask a process to end: a training that saves itself ends its step first, then an exception is raised."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
SIGNALS = tuple(getattr(signal, name) for name in NAMES if hasattr(signal, name))
"""Ctrl-C, `kill` and schedulers, a closed terminal, and the two that Slurm sends if `--signal` asks for them."""
STEP_LIMIT = 10.0
"""Seconds after which a step is cut, where the platform has timers."""


class Terminated(BaseException):
    """A signal other than SIGINT as an exception, so that half-written files are removed on the way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raises the interrupt whose place an error has taken, if there is one, instead of the error.

    torch loads weights within a stack of modes. Where an interrupt comes between a push and its pop, the clean-up of
    torch fails on the way out, and its error says nothing of the interrupt.
    """
    try:
        yield
    except Exception as error:
        behind: BaseException | None = error
        while behind is not None:
            if isinstance(behind, KeyboardInterrupt | SystemExit | Terminated):
                raise behind from None
            behind = behind.__cause__ or behind.__context__
        raise


class _Steps:
    running = False
    request: Callable[[], object] | None = None


def on_first(
    numbers: Sequence[int], leave: Callable[[int], object], afterwards: signal.Handlers
) -> None:
    """Calls `leave` with the first of some signals, but not within a `step`. Signals that are ignored stay ignored.

    :param leave: raises
    :param afterwards: what all of them do from then on: with SIG_DFL a second one ends the process at once
    """

    def heard(number: int, frame: object) -> None:
        for each in numbers:
            signal.signal(each, afterwards)
        if not _Steps.running:
            leave(number)
            return
        _Steps.request = partial(leave, number)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, lambda *_: leave(number))
            signal.setitimer(signal.ITIMER_REAL, STEP_LIMIT)

    for each in numbers:
        # A command in the background of a script ignores the signal already.
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, heard)


def end_with_parent(parent: int) -> None:
    """Ends this process once its parent is gone: it would keep leases, memory and cores from later processes."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


@contextmanager
def step() -> Iterator[None]:
    """Delays the signals of `on_first` until the end of the block, at most `STEP_LIMIT` seconds."""
    _Steps.running = True
    try:
        yield
    finally:
        _Steps.running = False
        request, _Steps.request = _Steps.request, None
        if request is not None:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_REAL, 0)
            request()

"""Threads of a process take turns where they draw from torch's random generator, of which a process has one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

_lock = threading.RLock()


@contextmanager
def generator_lock(progress: bool = False) -> Iterator[None]:
    """Trials, and networks that are built, of one thread at a time; the log of a trial is the process's, too.

    :param progress: whether to say that a thread waits
    """
    if not _lock.acquire(blocking=False):
        if progress:
            click.secho("Another thread of this process runs trials; this one waits for it.", fg="yellow", err=True)
        _lock.acquire()
    try:
        yield
    finally:
        _lock.release()

"""Engines run many trials. What is done stands in the store, so an engine may be killed and started again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue

from blurb.runs import data_sources
from blurb.runs.news import News
from blurb.runs.store import aside_of
from blurb.runs.worker import Job, Outcome, execute

Watch = Callable[[Outcome], None]
Hear = Callable[[Job, News], None]


class Engine(ABC):
    """Runs jobs, in any order and place; a failing job does not stop the others."""

    @abstractmethod
    def run(self, jobs: Sequence[Job], watch: Watch, hear: Hear) -> list[Outcome]:
        """One outcome a job, in the order of the jobs.

        :param watch: called in this process when a job ends
        :param hear: called in this process with how far a job is that runs; both may be called in several threads
        """


class LocalEngine(Engine):
    """One job at a time in this process, or several in processes of their own that share the cores.

    One at a time they run in the order given: no other order ends sooner, and the seeds of a task follow one another.
    Several at a time the longest run first, so that none of them is left over for one worker at the end.

    :param workers: processes; 1 means here
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, jobs: Sequence[Job], watch: Watch, hear: Hear) -> list[Outcome]:
        if self.workers == 1:
            outcomes = []
            for job in jobs:
                outcomes.append(execute(job, partial(hear, job)))
                watch(outcomes[-1])
            return outcomes
        with data_sources.handed_over(job.data for job in jobs) as folder:
            return self._run_lanes(jobs, watch, hear, folder)

    def _run_lanes(self, jobs: Sequence[Job], watch: Watch, hear: Hear, folder: Path | None) -> list[Outcome]:
        """A lane is a thread with one worker process, which is replaced if it dies."""
        waiting: SimpleQueue[int] = SimpleQueue()
        for index in longest_first(jobs):
            waiting.put(index)
        found: dict[int, Outcome] = {}
        stop = threading.Event()

        def lane() -> None:
            heard, told = _pipe()
            pool = self._pool(folder, told)
            try:
                while not stop.is_set():
                    try:
                        index = waiting.get_nowait()
                    except Empty:
                        return
                    try:
                        running = pool.submit(_work, execute, jobs[index])
                        while wait([running], LISTEN).not_done:
                            _listen(heard, partial(hear, jobs[index]))
                        _listen(heard, partial(hear, jobs[index]))
                        found[index] = running.result()
                    except (BrokenProcessPool, SystemExit):  # killed, or told to end
                        if stop.wait(1):  # with the whole command: it may be told a moment later than its workers
                            return
                        message = "The worker process died (killed, or out of memory)."
                        found[index] = Outcome(jobs[index], "failed", message=message)
                        pool.shutdown(wait=False)
                        heard, told = _pipe()
                        pool = self._pool(folder, told)
                    watch(found[index])
            finally:
                pool.shutdown()

        with ThreadPoolExecutor(self.workers) as threads:
            lanes = [threads.submit(lane) for _ in range(min(self.workers, len(jobs)))]
            try:
                for future in lanes:
                    future.result()
            except BaseException:  # an interrupt, or an error in `watch`: nobody waits for the trials at hand
                stop.set()
                _end_workers(jobs)
                while wait(lanes, 0.5).not_done:  # a lane may have been about to start its worker
                    _end_workers(jobs)
                raise
        return [found[index] for index in range(len(jobs))]

    def _pool(self, folder: Path | None = None, told: Connection | None = None) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(threads_of(self.workers), os.getpid(), folder, told),
        )


ENGINES: dict[str, type[LocalEngine]] = {"local": LocalEngine}


LISTEN = 0.1
"""Seconds between two looks at what a worker tells."""
GRACE = 5.0
"""Seconds in which a worker that is told to end may remove what it was writing."""


def threads_of(workers: int) -> int:
    """Threads of a worker process: the cores are shared out."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // workers)


def longest_first(jobs: Sequence[Job]) -> list[int]:
    """Places of the jobs by the time that they are predicted to take; those that take the same stay as they were."""
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].predicted)


def _pipe() -> tuple[Connection, Connection]:
    """The ends to listen at and to tell at; a worker that is killed breaks its own only."""
    return multiprocessing.get_context("spawn").Pipe(duplex=False)


def _listen(heard: Connection, tell: Callable[[News], None]) -> None:
    """Passes on what a worker has told since; one that died says nothing."""
    with contextlib.suppress(EOFError, OSError):
        while heard.poll():
            tell(heard.recv())


def _work(run: Callable[[Job, Callable[[News], None]], Outcome], job: Job) -> Outcome:
    """In a worker process: runs a job and tells the command how far it is."""

    def tell(news: News) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more: whoever ends the command ends this process, too
            for told in _told:
                told.send(news)

    return run(job, tell)


_told: list[Connection] = []


def _end_workers(jobs: Sequence[Job]) -> None:
    """Ends the worker processes within seconds; a trial that was at hand is run by the next command."""
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    limit = time.monotonic() + GRACE
    for worker in workers:
        worker.join(max(0.0, limit - time.monotonic()))
        if worker.is_alive():
            worker.kill()
            worker.join()
            for job in jobs:
                shutil.rmtree(aside_of(job.path, worker.pid or 0), ignore_errors=True)


def _start_worker(threads: int, parent: int, folder: Path | None, told: Connection | None) -> None:
    # Ctrl-C reaches the whole group: the command itself decides, and ends its workers by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(threads)
    data_sources.receive(folder)
    _told[:] = [] if told is None else [told]
    signal.signal(signal.SIGTERM, _leave)  # not before: whoever is told to end while it imports has nothing to remove

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)  # a worker must not outlive a killed command: it would hold the lock of its trial

    threading.Thread(target=watch, daemon=True).start()


def _leave(number: int, frame: object) -> None:
    """Ends a worker by an exception, so that the folder aside of its trial is removed on the way out."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)

"""Engines run many trials. What is done stands in the store, so an engine may be killed and started again."""

from __future__ import annotations

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
from queue import Empty, SimpleQueue

from blurb.runs.store import aside_of
from blurb.runs.worker import Job, Outcome, Progress, execute

Watch = Callable[[Outcome], None]


class Engine(ABC):
    """Runs jobs, in any order and place; a failing job does not stop the others."""

    @abstractmethod
    def run(self, jobs: Sequence[Job], watch: Watch, progress: Progress) -> list[Outcome]:
        """One outcome a job, in the order of the jobs.

        :param watch: called in this process when a job ends
        :param progress: called with the steps of a job that runs in this process
        """


class LocalEngine(Engine):
    """One job at a time in this process, or several in processes of their own that share the cores.

    :param workers: processes; 1 means here
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, jobs: Sequence[Job], watch: Watch, progress: Progress) -> list[Outcome]:
        if self.workers == 1:
            outcomes = []
            for job in jobs:
                outcomes.append(execute(job, progress))
                watch(outcomes[-1])
            return outcomes
        return self._run_lanes(jobs, watch)

    def _run_lanes(self, jobs: Sequence[Job], watch: Watch) -> list[Outcome]:
        """A lane is a thread with one worker process, which is replaced if it dies."""
        waiting: SimpleQueue[int] = SimpleQueue()
        for index in range(len(jobs)):
            waiting.put(index)
        found: dict[int, Outcome] = {}
        stop = threading.Event()

        def lane() -> None:
            pool = self._pool()
            try:
                while not stop.is_set():
                    try:
                        index = waiting.get_nowait()
                    except Empty:
                        return
                    try:
                        found[index] = pool.submit(execute, jobs[index]).result()
                    except (BrokenProcessPool, SystemExit):  # killed, or told to end
                        if stop.wait(1):  # with the whole command: it may be told a moment later than its workers
                            return
                        message = "The worker process died (killed, or out of memory)."
                        found[index] = Outcome(jobs[index], "failed", message=message)
                        pool.shutdown(wait=False)
                        pool = self._pool()
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

    def _pool(self) -> ProcessPoolExecutor:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = max(1, cores // self.workers)
        return ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(threads, os.getpid()),
        )


ENGINES: dict[str, type[LocalEngine]] = {"local": LocalEngine}


GRACE = 5.0
"""Seconds in which a worker that is told to end may remove what it was writing."""


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


def _start_worker(threads: int, parent: int) -> None:
    # Ctrl-C reaches the whole group: the command itself decides, and ends its workers by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(threads)
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

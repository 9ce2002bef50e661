"""Engines run many trials. The store records what is done, so an engine may be killed and started again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from blurb import garbage, leases, stopping
from blurb.errors import BlurbError
from blurb.runs import data_sources
from blurb.runs.events import News
from blurb.runs.processes import safe_path
from blurb.runs.store import Store
from blurb.runs.turns import OnFinished, OnProgress, Turns
from blurb.runs.worker import Job, TrialOutcome, execute, note_death


class Engine(ABC):
    """Runs jobs in any order and place; a failing job does not stop the others."""

    joined = True
    """Whether others may join while it runs; else it says itself what they may run."""

    @abstractmethod
    def run(self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress) -> list[TrialOutcome]:
        """Runs the jobs and returns one outcome per job, in the order of the jobs.

        A job that another living process holds (`held`) is passed over, and waited for at the end, until it is done
        or can be taken over.

        :param on_finished: called in this process when a job ends
        :param on_progress: called in this process with the progress of a running job; both may be called from threads
        """


class LocalEngine(Engine):
    """Runs one job at a time in this process, or several in worker processes that share the cores and GPUs.

    A single worker keeps the given order, so that the seeds of a task follow one another. Several workers start with
    the longest jobs, so that no long job remains for one worker at the end. On GPUs every trial runs in a worker
    process, as an error of CUDA spoils all that the process does afterwards; the workers take the GPUs in turn.

    :param workers: number of processes; 1 means this process where no GPU is used
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def run(self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress) -> list[TrialOutcome]:
        gpus = gpus_for(jobs)
        if self.workers == 1 and not gpus:
            return self._run_here(jobs, on_finished, on_progress)
        with data_sources.handed_over(job.data for job in jobs) as folder, safe_path():
            return self._run_parallel(jobs, on_finished, on_progress, folder, gpus)

    def _run_here(self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress) -> list[TrialOutcome]:
        turns = Turns(jobs, range(len(jobs)), on_finished, on_progress)
        while (index := turns.next()) is not None:
            turns.end(index, execute(jobs[index], partial(on_progress, jobs[index])))
        return turns.outcomes

    def _run_parallel(
        self, jobs: Sequence[Job], on_finished: OnFinished, on_progress: OnProgress, folder: Path | None,
        gpus: Sequence[str] = (),
    ) -> list[TrialOutcome]:  # fmt: skip
        """Runs the jobs in lanes: threads with one worker process each, which is replaced if it dies or is spoilt."""
        turns = Turns(jobs, longest_first(jobs), on_finished, on_progress)
        at_hand: set[int] = set()
        stop = threading.Event()

        def worker_thread(lane: int) -> None:
            heard, told = _pipe()
            pool = self._pool(folder, told)
            try:
                while not stop.is_set() and (index := turns.next(stop.wait)) is not None:
                    at_hand.add(index)
                    try:
                        running = pool.submit(_work, execute, on_gpu(jobs[index], gpus, lane))
                        while wait([running], LISTEN).not_done:
                            _listen(heard, partial(on_progress, jobs[index]))
                        _listen(heard, partial(on_progress, jobs[index]))
                        outcome = running.result()
                        died = outcome.status == "failed" and CUDA_ERROR in outcome.message
                    except (BrokenProcessPool, SystemExit):  # killed, or told to end
                        if stop.wait(1):  # with the whole command: it may be told a moment later than its workers
                            return
                        message = "The worker process died (killed, or out of memory); try fewer --jobs."
                        outcome, died = TrialOutcome(jobs[index], "failed", message=message), True
                        note_death(jobs[index], message)
                    if died:
                        pool.shutdown(wait=False)
                        heard, told = _pipe()
                        pool = self._pool(folder, told)
                    at_hand.discard(index)
                    turns.end(index, outcome)
            finally:
                pool.shutdown()

        with ThreadPoolExecutor(self.workers) as threads:
            worker_threads = [threads.submit(worker_thread, lane) for lane in range(min(self.workers, len(jobs)))]
            try:
                for future in worker_threads:
                    future.result()
            except BaseException:  # an interrupt, or an error in `on_finished`: nobody waits for the trials at hand
                stop.set()
                _end_workers([jobs[index] for index in list(at_hand)])
                while wait(worker_threads, 0.5).not_done:  # a lane may have been about to start its worker
                    _end_workers([jobs[index] for index in list(at_hand)])
                raise
        return turns.outcomes

    def _pool(self, folder: Path | None = None, told: Connection | None = None) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(threads_of(self.workers), os.getpid(), folder, told),
        )


CUDA_ERROR = "CUDA error"
"""In the message of an error after which a process cannot use its GPU any more; too little memory is none."""
LISTEN = 0.1
"""Seconds between two checks for news of a worker."""
GRACE = 5.0
"""Seconds that a worker has to clean up its files before it is killed."""
SAVING = 10.0
"""More seconds, beside those of a step, for a worker that saves its trial first."""


def threads_of(workers: int) -> int:
    """Threads of each worker process; the workers share the cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // workers)


def gpus_for(jobs: Sequence[Job]) -> list[str]:
    """The GPUs of this machine that jobs without a device of their own may use; empty if they run on the CPU."""
    import torch

    if all(job.device not in ("auto", "cuda") or job.place == "cpu" for job in jobs) or not torch.cuda.is_available():
        return []
    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def on_gpu(job: Job, gpus: Sequence[str], lane: int) -> Job:
    """The job with the GPU of a lane, unless it names its own; the device is no part of a trial."""
    return replace(job, device=gpus[lane % len(gpus)]) if gpus and job.device in ("auto", "cuda") else job


def longest_first(jobs: Sequence[Job]) -> list[int]:
    """Indices of the jobs, the longest predicted time first; equal times keep their order."""
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].predicted)


def _pipe() -> tuple[Connection, Connection]:
    """The receiving and the sending end; a killed worker breaks only its own pipe."""
    return multiprocessing.get_context("spawn").Pipe(duplex=False)


def _listen(heard: Connection, tell: Callable[[News], None]) -> None:
    """Passes on the news of a worker since the last call; none if it died."""
    with contextlib.suppress(EOFError, OSError):
        while heard.poll():
            tell(heard.recv())


def _work(run: Callable[[Job, Callable[[News], None]], TrialOutcome], job: Job) -> TrialOutcome:
    """In a worker process: runs a job and reports its progress to the command."""

    def tell(news: News) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more: whoever ends the command ends this process, too
            for told in _told:
                told.send(news)

    return run(job, tell)


_told: list[Connection] = []


def _end_workers(jobs: Sequence[Job]) -> None:
    """Ends the worker processes within seconds; the next command repeats their unfinished trials.

    :param jobs: those at hand
    """
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    saving = stopping.STEP_LIMIT + SAVING if any(job.resume for job in jobs) else 0.0
    limit = time.monotonic() + GRACE + saving
    for worker in workers:
        worker.join(max(0.0, limit - time.monotonic()))
        if worker.is_alive():
            worker.kill()
            worker.join()
    for job in jobs:
        _clean(job)


def _clean(job: Job) -> None:
    """Removes what a worker that was killed left of a trial."""
    with contextlib.suppress(OSError, BlurbError):  # its folder, or its lease, may not be there yet
        store = Store(job.store)
        if store.lease(job.path).exists():
            with leases.trying(store.lease(job.path)) as lease:
                if lease is not None:
                    store.clean(job.path)


def _start_worker(threads: int, parent: int, folder: Path | None, told: Connection | None) -> None:
    # Ctrl-C reaches the whole group: the command itself decides, and ends its workers by SIGTERM.
    for number in stopping.SIGNALS:
        if number != signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
    import torch

    garbage.own_process()
    torch.set_num_threads(threads)
    data_sources.receive(folder)
    _told[:] = [] if told is None else [told]
    # Not before: whoever is told to end while it imports has nothing to remove.
    stopping.on_first([signal.SIGTERM], _leave, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)  # a worker must not outlive a killed command: it would hold the lease of its trial

    threading.Thread(target=end_with_parent, daemon=True).start()


def _leave(number: int) -> None:
    """Ends a worker by an exception, so that its trial is saved, or the temporary folder of the trial removed."""
    raise SystemExit(128 + number)

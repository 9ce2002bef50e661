"""Trials in this process, or in worker processes of this machine."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from pathlib import Path

from blurb.execution import data_sources
from blurb.execution.engine import Engine, Sweep
from blurb.execution.environment import (
    SAVING,
    clean_start,
    gpus_for,
    on_gpu,
    threads_of,
    usable_cores,
)
from blurb.execution.estimate import Estimate, trial_memory
from blurb.execution.job import Job, JobQueue, TrialOutcome, TrialProgress, longest_first
from blurb.execution.worker import execute_job, note_death
from blurb.messages import BlurbError
from blurb.store.store import Store
from blurb.system import leases, process, signals


class LocalEngine(Engine):
    """Runs one job at a time in this process, or several in worker processes that share the cores and GPUs.

    A single worker keeps the given order, so that the seeds of a task follow one another. Several workers start with
    the longest jobs, so that no long job remains for one worker at the end. On GPUs every trial runs in a worker
    process, as an error of CUDA spoils all that the process does afterwards; the workers take the GPUs in turn.
    """

    summary = "runs trials on this machine, as many at a time as --jobs says"
    options_hint = "How many trials run at a time is --jobs."

    def trials_at_once(self, jobs: Sequence[Job]) -> int:
        if isinstance(self.launch.jobs, int):
            return self.launch.jobs
        gpus = gpus_for(jobs)
        return len(gpus) * trials_on_gpu(jobs, gpus) if gpus else 1

    def shortfalls(self, expected: Estimate) -> Iterator[str]:
        gpus = gpus_for([trial.job for trial in expected.waiting])
        pipes = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps"))
        if gpus and expected.jobs > len(gpus) and not (pipes / "control").exists():
            yield (
                "Trials that share a GPU take turns on it; they run side by side if NVIDIA's MPS is started before: "
                "nvidia-cuda-mps-control -d"
            )

    def order(self, jobs: Sequence[Job]) -> Sequence[int]:
        return (
            range(len(jobs))
            if not gpus_for(jobs) and self.trials_at_once(jobs) == 1
            else longest_first(jobs)
        )

    def work(self, sweep: Sweep, turns: JobQueue) -> None:
        gpus = gpus_for(sweep.jobs)
        if not gpus and self.trials_at_once(sweep.jobs) == 1:
            while (index := turns.next()) is not None:
                turns.end(index, execute_job(sweep.jobs[index], turns.reporter_of(index)))
            return
        with data_sources.handed_over(job.data for job in sweep.jobs) as folder, clean_start():
            self._work_in_lanes(turns, folder, gpus)

    def _work_in_lanes(
        self, turns: JobQueue, folder: Path | None, gpus: Sequence[str] = ()
    ) -> None:
        """Has turns taken in lanes: threads with one worker process each, which is replaced if it dies or is spoilt."""
        jobs, workers = turns.jobs, self.trials_at_once(turns.jobs)
        lanes = min(workers, len(jobs))
        # Beside each other on a card they would move from core to core: its host is what a small encoder waits for.
        cores = usable_cores() if gpus else []
        available: set[int] = set()
        stop = threading.Event()

        def worker_thread(lane: int) -> None:
            reader, writer = _make_pipe()
            pool = self._pool(workers, folder, writer, cores[lane::lanes])
            try:
                while not stop.is_set() and (index := turns.next(stop.wait)) is not None:
                    available.add(index)
                    try:
                        running = pool.submit(
                            _work_in_process, execute_job, on_gpu(jobs[index], gpus, lane)
                        )
                        while wait([running], LISTEN).not_done:
                            _pass_on_news(reader, turns.reporter_of(index))
                        _pass_on_news(reader, turns.reporter_of(index))
                        outcome = running.result()
                        died = outcome.status == "failed" and CUDA_ERROR in outcome.message
                    except (BrokenProcessPool, SystemExit):  # killed, or told to end
                        # If the whole command is stopped, it may learn of it a moment after its workers.
                        if stop.wait(1):
                            return
                        message = (
                            "The worker process died (killed, or out of memory); try fewer --jobs."
                        )
                        outcome, died = TrialOutcome(jobs[index], "failed", message=message), True
                        note_death(jobs[index], message)
                    if died:
                        pool.shutdown(wait=False)
                        reader, writer = _make_pipe()
                        pool = self._pool(workers, folder, writer, cores[lane::lanes])
                    available.discard(index)
                    turns.end(index, outcome)
            finally:
                pool.shutdown()

        with ThreadPoolExecutor(lanes) as threads:
            worker_threads = [threads.submit(worker_thread, lane) for lane in range(lanes)]
            try:
                for future in worker_threads:
                    future.result()
            except BaseException:
                # After an interrupt or an error in `on_finished`, nobody waits for running trials.
                stop.set()
                _end_workers([jobs[index] for index in list(available)])
                # A lane may have been about to start its worker.
                while wait(worker_threads, 0.5).not_done:
                    _end_workers([jobs[index] for index in list(available)])
                raise

    def _pool(
        self,
        workers: int,
        folder: Path | None = None,
        told: Connection | None = None,
        cores: Sequence[int] = (),
    ) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(threads_of(workers), os.getpid(), folder, told, cores),
        )


MOST_ON_GPU = 6
"""Small encoders leave a card idle most of the time: six processes of MiniLM made eleven times the steps of one on an
H200, four of BERT-base five times (docs/performance.md); more were not measured."""
CONTEXT = 1e9
"""Bytes on a card of a process that has only begun to use it."""


def trials_on_gpu(jobs: Sequence[Job], gpus: Sequence[str]) -> int:
    """How many of these trials share a GPU: at most six, a core for each, and room for the largest of them."""
    import torch

    room = min(torch.cuda.get_device_properties(gpu).total_memory for gpu in gpus)
    peak = CONTEXT + max(trial_memory(job, job.trial.settings.get("max_length", 0)) for job in jobs)
    return max(1, min(MOST_ON_GPU, len(usable_cores()) // len(gpus), int(room // peak)))


CUDA_ERROR = "CUDA error"
"""In the message of an error after which a process cannot use its GPU any more; too little memory is none."""
LISTEN = 0.1
"""Seconds between two checks for news of a worker."""
GRACE = 5.0
"""Seconds that a worker has to clean up its files before it is killed."""


def _make_pipe() -> tuple[Connection, Connection]:
    """The receiving and the sending end; a killed worker breaks only its own pipe."""
    return multiprocessing.get_context("spawn").Pipe(duplex=False)


def _pass_on_news(heard: Connection, tell: Callable[[TrialProgress], None]) -> None:
    """Passes on the news of a worker since the last call; none if it died."""
    with contextlib.suppress(EOFError, OSError):
        while heard.poll():
            tell(heard.recv())


def _work_in_process(
    run: Callable[[Job, Callable[[TrialProgress], None]], TrialOutcome], job: Job
) -> TrialOutcome:
    """In a worker process: runs a job and reports its progress to the command."""

    def tell(news: TrialProgress) -> None:
        # If nobody listens any more, whoever ends the command ends this process, too.
        with contextlib.suppress(OSError):
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
    saving = signals.STEP_LIMIT + SAVING if any(job.resume for job in jobs) else 0.0
    limit = time.monotonic() + GRACE + saving
    for worker in workers:
        worker.join(max(0.0, limit - time.monotonic()))
        if worker.is_alive():
            worker.kill()
            worker.join()
    for job in jobs:
        # Of a worker that was killed; the folder of the trial, or its lease, may not be there yet.
        with contextlib.suppress(OSError, BlurbError):
            store = Store(job.store)
            if store.lease(job.path).exists():
                with leases.trying(store.lease(job.path)) as lease:
                    if lease is not None:
                        store.clean(job.path)


def _start_worker(
    threads: int, parent: int, folder: Path | None, told: Connection | None, cores: Sequence[int]
) -> None:
    # Ctrl-C reaches the whole group: the command itself decides, and ends its workers by SIGTERM.
    for number in signals.SIGNALS:
        if number != signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    import torch

    process.own_process()
    torch.set_num_threads(threads)
    data_sources.receive(folder)
    _told[:] = [] if told is None else [told]
    # Only now: a worker that is ended while it imports has nothing to remove.
    signals.on_first([signal.SIGTERM], _raise_exit, signal.SIG_IGN)

    signals.end_with_parent(parent)


def _raise_exit(number: int) -> None:
    """Ends a worker by an exception, so that its trial is saved, or the temporary folder of the trial removed."""
    raise SystemExit(128 + number)


ENGINE = LocalEngine

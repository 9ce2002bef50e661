"""Progress of many trials: bars on a terminal, a line a trial elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from blurb.cli._output import console
from blurb.errors import BlurbError

if TYPE_CHECKING:
    from blurb.runs.news import News
    from blurb.runs.worker import Job, Outcome


class Meanwhile:
    """Does something between trials, for whoever looks in on a long sweep: seldom enough to cost the sweep nothing.

    As a context manager it does it once more where an interrupt leaves something undone, if that is quick.

    :param act: BlurbError and OSError in it are passed over: it is done once more at the end, and told there
    """

    EVERY = 5.0
    """Seconds that pass between two times, at least."""
    SHARE = 20
    """And so many times what the last one took."""
    QUICK = 2.0
    """Seconds that it may take on the way out of an interrupt."""

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

    def __enter__(self) -> Meanwhile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self.undone and self.took < self.QUICK:
            with contextlib.suppress(BlurbError, OSError):
                self.act()


class Display:
    """Shows which trial is at which step, and what each finished trial scored.

    :param stages: the jobs of each stage (search, then runs)
    :param name: what tells a job from others of its model, dataset and seed; nothing where there are none
    """

    def __init__(self, *stages: Sequence[Job], name: Callable[[Job], str] = lambda job: "") -> None:
        self.name = name
        self.total = sum(map(len, stages))
        self.count = 0
        self.live = sys.stderr.isatty()
        self.progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TimeRemainingColumn(), console=console(stderr=True), disable=not self.live, transient=True,
        )  # fmt: skip
        self.trials = self.progress.add_task("trials", total=self.total)
        self.steps = self.progress.add_task("steps of this trial", total=None)

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def hear(self, job: Job, news: News) -> None:
        """How far a trial is that runs."""
        if self.live:
            self.progress.update(self.steps, completed=news.done, total=news.total)

    def finished(self, outcome: Outcome) -> None:
        """A trial ended."""
        self.count += 1
        trial = outcome.job.trial
        which = " ".join(filter(None, (outcome.job.source.name, self.name(outcome.job), trial.task)))
        text = f"[{self.count}/{self.total}] {which} seed {trial.seed}: {outcome.status}"
        if outcome.status == "done":
            text += f" in {outcome.seconds:.0f} s"
        if outcome.message:
            text += f" ({outcome.message})"
        self.progress.advance(self.trials)
        if self.live:
            self.progress.console.print(text)
        else:
            click.echo(text, err=True)

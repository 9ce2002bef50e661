"""Progress of many trials: bars on a terminal, otherwise one line per trial."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from blurb.execution.estimate import Estimate, TimeLeft
from blurb.execution.job import Job, TrialOutcome, TrialProgress
from blurb.messages import BlurbError, count_noun, format_duration, format_size
from blurb.store import rescore
from blurb.store.record import Record
from blurb.store.store import Store
from blurb.terminal.output import make_console, print_rows

if TYPE_CHECKING:
    from blurb.cost.budget import Affordable
    from blurb.planning.trials import Planned


class Display:
    """Shows the progress of the running trials, the remaining time, and the score of each finished trial.

    On a terminal it redraws one line per running trial and one for the total; otherwise it prints a line per trial.

    :param jobs: the trials, those of a search and those of the rows
    :param searched: folders of those of a search
    :param name: distinguishes a job from others of its model, dataset and seed; "" if there are none
    :param expected: the predicted times; without it the trials' own updates tell the remaining time
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        searched: Collection[Path] = (),
        name: Callable[[Job], str] = lambda job: "",
        expected: Estimate | None = None,
    ) -> None:
        self.name = name
        self.total = len(jobs)
        self.searched = searched
        self.count = 0
        self.lock = threading.Lock()  # with several jobs, trials end in several threads
        self.live = sys.stderr.isatty()
        self.running: dict[Path, tuple[str, TrialProgress]] = {}
        self.held: dict[Path, str] = {}  # by other commands, which are waited for
        trials = expected.waiting if expected else []
        self.left = TimeLeft(
            {self._key(job): (job.source.name, name(job), job.trial.task) for job in jobs},
            {self._key(one.job): one.seconds for one in trials},
            expected.jobs if expected else 1,
        )
        self.started = time.monotonic()
        self.drawn = Live(
            console=make_console(stderr=True),
            get_renderable=self._draw,
            refresh_per_second=4,
            transient=True,
        )

    def __enter__(self) -> Display:
        if self.live:
            self.drawn.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.live:
            self.drawn.stop()

    def on_progress(self, job: Job, news: TrialProgress) -> None:
        """Records the progress of a running trial."""
        with self.lock:
            if news.held_by:
                self.held[job.path] = news.held_by
                if not self.live:
                    click.echo(
                        f"{self._which(job)}: waiting for {news.held_by}, which runs it", err=True
                    )
                return
            self.held.pop(job.path, None)
            self.running[job.path] = self._which(job), news
            self.left.note_progress(self._key(job), news.done, news.total)

    def finished(self, outcome: TrialOutcome) -> None:
        """Records that a trial ended."""
        with self.lock:
            self.count += 1
            self.running.pop(outcome.job.path, None)
            self.held.pop(outcome.job.path, None)
            self.left.note_end(
                self._key(outcome.job), outcome.seconds if outcome.status == "done" else 0.0
            )
            text = f"[{self.count}/{self.total}] {self._which(outcome.job)}: {outcome.status}"
            if outcome.status == "done":
                text += f" in {outcome.seconds:.0f} s"
                # Whoever reads a stored trial reports what is wrong with it.
                with contextlib.suppress(BlurbError):
                    text += f", dev {100 * Record(str(outcome.job.path)).score('dev'):.1f}"
            if outcome.message:
                text += f" ({outcome.message})"
            if not self.live:
                left = self._left()
                if left and self.count < self.total and outcome.status != "already done":
                    text += f"; {left}"
                click.echo(text, err=True)
        if self.live:
            self.drawn.console.print(text)

    def _key(self, job: Job) -> Hashable:
        """The trial's key in the remaining time; not its hash, as a search changes the settings of later trials."""
        if job.path in self.searched:
            return job.path
        return job.source.name, self.name(job), job.trial.task, job.trial.seed

    def _which(self, job: Job) -> str:
        return f"{' '.join(filter(None, (job.source.name, self.name(job), job.trial.task)))} seed {job.trial.seed}"

    def _left(self) -> str:
        seconds = self.left.seconds
        return "" if seconds is None else f"about {format_duration(seconds)} left"

    def _draw(self) -> Group:
        """One line per running trial, cut to the terminal's width, then the total."""
        lines = Table.grid(padding=(0, 1))
        lines.add_column()
        lines.add_column(no_wrap=True)  # on a narrow terminal the names give way
        for which, news in list(self.running.values()):
            lines.add_row(Text(which, no_wrap=True, overflow="ellipsis"), describe_progress(news))
        whole = Table.grid(padding=(0, 1))
        begun = sum(news.done / news.total for _, news in list(self.running.values()) if news.total)
        bar = ProgressBar(total=max(1, self.total), completed=self.count + begun, width=20)
        if held := sorted(set(self.held.values())):
            others = f" and {len(held) - 1} more" if len(held) > 1 else ""
            lines.add_row(Text(f"{len(self.held)} waited for: {held[0]}{others}", no_wrap=True), "")
        gone = format_duration(time.monotonic() - self.started)
        whole.add_row(f"{self.count} of {self.total} trials", bar, f"{gone} elapsed", self._left())
        return Group(lines, whole)


def describe_progress(news: TrialProgress) -> str:
    """The progress of a trial as text.

    >>> describe_progress(TrialProgress(done=40, total=80, epoch=1, epochs=3, loss=0.5, dev=0.731))
    'epoch 2 of 3, 50 %, loss 0.500, dev 73.1'
    """
    if not news.total:
        return "starting"
    parts = [f"{100 * news.done // news.total} %"]
    if news.epochs:  # a probe has none
        parts.insert(0, f"epoch {min(news.epoch + 1, news.epochs)} of {news.epochs}")
    if news.loss is not None:
        parts.append(f"loss {news.loss:.3f}")
    if news.dev is not None:
        parts.append(f"dev {100 * news.dev:.1f}")
    if news.done == news.total and news.epoch == news.epochs:
        parts[: 1 if news.epochs else 0] = ["predicting"]
    return ", ".join(parts)


COLUMNS = ("task", "trials", "time", "memory")


def show_estimate(estimate: Estimate, err: bool) -> None:
    """Prints a table by dataset and the totals in one sentence."""
    if not estimate.waiting:
        count = len(estimate.trials)
        click.echo(
            f"All {count_noun(count, 'trial')} are done." if count > 1 else "The trial is done.",
            err=err,
        )
        return
    by_task = {name: part for name, part in estimate.tasks.items() if part.waiting}
    if len(by_task) > 1:
        rows = [
            (name, len(part.waiting), duration_of(part), format_size(part.memory))
            for name, part in by_task.items()
        ]
        print_rows(COLUMNS, rows, numbers=COLUMNS[1:], stderr=err)
    words = duration_of(estimate)
    before = {"unknown": "time ", QUICK: ""}.get(words, "about ")
    click.echo(
        f"{count_noun(len(estimate.waiting), 'trial')}, {estimate.jobs} at a time: "
        f"{before}{words}, {format_size(estimate.memory)} of memory.",
        err=err,
    )
    basis = {one.basis for one in estimate.waiting}
    text = "Based on a timed step of each encoder; finished trials of this store will tell more."
    if estimate.unknown:
        trials = count_noun(len(estimate.unknown), "trial")
        text = (
            f"Unknown times ({trials}) count as nothing; finished trials of this store tell them."
        )
    elif basis == {"history"}:
        text = "Based on finished trials of this store."
    elif basis == {"kind"}:
        text = "A rough figure for this baseline; finished trials of this store will tell more."
    with contextlib.suppress(AttributeError, OSError):  # not every system tells its load
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if load > cores:
            text += f" The machine is busy (load {load:.1f} on {cores} cores): all will take longer while it is."
    click.echo(text, err=err)


QUICK = "under 1 min"
NOT_IN_BUDGET = (
    "It is for the trials; planning and measuring this machine, some seconds, are not part of it."
)


def show_budget(budget: str, chosen: Affordable, err: bool) -> None:
    """Prints the predicted time of every rung, and which was chosen."""
    for rung, reason in chosen.refused.items():
        click.echo(f"  {rung.name:20} not possible: {reason}", err=err)
    for rung, each in chosen.rungs.items():
        words = (
            "" if rung != chosen.rung else "chosen for some tasks" if chosen.left_out else "chosen"
        )
        click.echo(f"  {rung.name:20} {duration_of(each):>12}  {words}".rstrip(), err=err)
    names = ",".join(task.name for task in chosen.planned.request.tasks)
    part = f" on {names}; no time for {','.join(chosen.left_out)}" if chosen.left_out else ""
    click.echo(f"Budget {budget}: {chosen.rung.name}{part}. {NOT_IN_BUDGET}", err=err)


def duration_of(estimate: Estimate) -> str:
    """The estimated time as text; "done" if nothing has to run."""
    if not estimate.waiting:
        return "done"
    if len(estimate.unknown) == len(estimate.waiting):
        return "unknown"
    if all(one.basis == "kind" for one in estimate.waiting) and estimate.seconds <= 60:
        return QUICK
    return format_duration(estimate.seconds)


def list_trials(planned: Sequence[Planned], cells: Sequence[str] = ()) -> None:
    """Prints the planned trials and which of them are done.

    :param cells: names of the plans, if they are the cells of an ablation
    """
    axes = ("lr", "batch_size", "epochs", "max_length")
    rows = []
    for at, plan in enumerate(planned):
        store, grid = Store(plan.request.store), plan.request.protocol.search
        for number, job in enumerate(plan.jobs):
            trial, is_search = job.trial, number < len(plan.searched)
            # What the winner of a search decides is known after it.
            is_open = bool(plan.searched) and not is_search and job.learner.searches
            state = "done" if rescore.is_current(store, job.path) else "to run"
            rows.append(
                (
                    "search" if is_search else "run",
                    cells[at] if cells else job.source.name,
                    trial.task,
                    trial.seed,
                    *(
                        "from search" if is_open and axis in grid else trial.settings.get(axis, "")
                        for axis in axes
                    ),
                    "from search" if is_open else state,
                    "" if is_open else trial.hash,
                )
            )
    model = "cell" if cells else "model"
    columns = ("lr", "batch", "epochs", "length")
    titles = ("kind", model, "task", "seed", *columns, "state", "trial")
    print_rows(titles, rows, numbers=titles[3:8])
    click.echo(f"{count_noun(len(rows), 'trial')}. Nothing was run or written.")

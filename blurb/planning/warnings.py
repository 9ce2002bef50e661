"""Sentences before a run about what will run, but may not be what was meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from blurb import tasks
from blurb.execution.data_sources import data_verdict
from blurb.grouping import by_key
from blurb.messages import count_noun, option_to_paste

if TYPE_CHECKING:
    from blurb.execution.engine import Engine
    from blurb.execution.estimate import Estimate
    from blurb.planning.trials import Planned

HIGHEST_RATE = 0.01
"""Learning rate above which no fine-tuning of a pretrained encoder is known to succeed."""


def warnings_of(planned: Sequence[Planned], expected: Estimate | None, engine: Engine) -> list[str]:
    """Sentences, each with what to do.

    :param expected: None if nothing could be predicted
    """
    all_found = any(plan.request.all_found for plan in planned)
    lost = [*_warn_of_lost(planned)] if all_found else []
    if expected is not None and not expected.waiting:
        return lost
    return [
        *lost,
        *_warn_of_rates(planned),
        *_warn_of_data(planned),
        *(_warn_of_room(expected, engine) if expected is not None else ()),
    ]


def _warn_of_lost(planned: Sequence[Planned]) -> Iterator[str]:
    """The datasets of BLURB that nobody chose or left out, and that are not there."""
    there = {task.name for one in planned for task in one.request.tasks}
    if lost := [task.name for task in tasks.load_selection("all") if task.name not in there]:
        yield f"Without {', '.join(lost)}, which the data folder lacks: `blurb data get` says what they need."


def _warn_of_rates(planned: Sequence[Planned]) -> Iterator[str]:
    """Learning rates at which no pretrained encoder learns."""
    jobs = [job for one in planned for job in one.jobs if job.source.is_checkpoint]
    rates = {float(job.trial.settings["lr"]) for job in jobs if "lr" in job.trial.settings}
    if high := max((rate for rate in rates if rate > HIGHEST_RATE), default=None):
        yield f"lr={high:g} is above {HIGHEST_RATE:g}; pretrained encoders are fine-tuned with rates such as 3e-5."


def _warn_of_data(planned: Sequence[Planned]) -> Iterator[str]:
    """Data that its rows will call not verified."""
    jobs = [
        job
        for one in planned
        if one.request.suite != "demo"
        for job in one.jobs
        if not job.data.original
    ]
    verdicts = {source: data_verdict(source) for source in dict.fromkeys(job.data for job in jobs)}
    doubtful = by_key(
        (state, source.task)
        for source, state in verdicts.items()
        if state in ("counts only", "differs")
    )
    if doubtful:
        listed = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in doubtful.items())
        number, folder = sum(map(len, doubtful.values())), jobs[0].data.folder
        yield (
            f"Not verified as BLURB's, as the rows will say: {number} of {count_noun(len(verdicts), 'dataset')} "
            f"({listed}). To see where: blurb data verify{option_to_paste('--data', folder)}"
        )


def _warn_of_room(expected: Estimate, engine: Engine) -> Iterator[str]:
    """Memory and time that are less than what is predicted."""
    from blurb.cost.memory import lacking_memory

    yield from engine.shortfalls(expected)
    if not engine.elsewhere:
        yield from lacking_memory(expected)

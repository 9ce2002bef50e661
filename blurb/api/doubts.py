"""Warnings before anything trains: what is predicted not to fit, and data that is not BLURB's. None stops a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blurb.api.options import TrainOptions
    from blurb.runs.cost.model import Estimate
    from blurb.runs.plan import Planned


def doubts(planned: Sequence[Planned], expected: Estimate | None, options: TrainOptions) -> list[str]:
    """Sentences, each with what to do.

    :param expected: None if nothing could be predicted
    """
    found = list(_data(planned))
    if expected is not None and expected.waiting:
        found += _room(expected, options)
    return found


def _data(planned: Sequence[Planned]) -> Iterator[str]:
    """Data that its rows will call not verified."""
    from blurb.runs.data_sources import data_verdict

    sources = {job.data for one in planned if one.request.suite != "demo" for job in one.jobs if not job.data.original}
    verdicts = {source: data_verdict(source) for source in sorted(sources, key=lambda one: one.task)}
    doubtful = {source: verdict for source, verdict in verdicts.items() if verdict in ("counts only", "differs")}
    if doubtful:
        listed = ", ".join(f"{source.task} {verdict}" for source, verdict in doubtful.items())
        names = ",".join(source.task for source in doubtful)
        yield (
            f"The data of {len(doubtful)} of {len(verdicts)} datasets is not verified as BLURB's ({listed}), which the "
            f"rows will say: blurb data verify --data '{next(iter(doubtful)).folder}' --tasks {names}"
        )


def _room(expected: Estimate, options: TrainOptions) -> Iterator[str]:
    """Memory, disk and, on Slurm, time that are less than what is predicted."""
    from blurb.runs import engines
    from blurb.runs.cost import room

    engine = getattr(options, "engine", "local")
    name, given = engines.parse(engine)
    at_once = expected
    if name == "slurm":
        from blurb.runs.engines import slurm, slurm_limits

        asked = slurm.Slurm.of(given)
        yield from slurm_limits.shortfalls(expected, asked)
        at_once = replace(expected, jobs=asked.own["at_once"] or len(slurm_limits.parts_of(expected, asked)))
    if not engines.elsewhere(engine):
        yield from room.memory(expected)
    yield from room.disk(at_once, Path(options.output))

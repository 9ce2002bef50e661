"""The number of seeds needed to find a difference, from the variance of a row's runs or from a stated one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from blurb.fields import SPREAD, Field, check_fields, declare_field
from blurb.messages import ErrorCollector, SettingsError, StoreError, opt
from blurb.records import Count, Rule
from blurb.results.row import Row
from blurb.results.score import SCORE, dataset_weights, in_order
from blurb.statistics import pooled
from blurb.statistics.pooled import (
    RunVariance,
    Squares,
    pool_variance,
    stated_variance,
    weighted_variance,
)
from blurb.statistics.welch import LEVEL, NOISE
from blurb.tasks import Split


class SeedLine(TypedDict):
    """Seeds needed for a dataset or the score; every number is for each of two rows."""

    name: Annotated[str, "task or `score`"]
    sd: Annotated[float | None, "standard deviation between runs, in points; null if unknown"]
    degrees_of_freedom: Annotated[float | None, "of that; null if it is stated or unknown"]
    detect: Annotated[float | None, "true difference to find, in points"]
    power: Annotated[
        float, "chance to find it", Rule("exclusiveMinimum", 0), Rule("exclusiveMaximum", 1)
    ]
    seeds: Annotated[Count | None, "of each row; null if unknown, or above 1,000"]
    seeds_there: Annotated[Count, "runs of the row that is compared with"]
    seed_seconds: Annotated[float | None, "that a run of that row took; null if unknown"]
    seconds: Annotated[
        float | None, "that these seeds of a new row would take, one after the other"
    ]
    affordable: Annotated[
        Count | None, "seeds that were asked about, or that the hours pay for; null without"
    ]
    detectable: Annotated[
        float | None, "true difference that these find with that power, in points; null if unknown"
    ]
    reason: Annotated[str, "why something is unknown"]


@dataclass(frozen=True)
class Aim:
    """The purpose of planned seeds.

    :param detect: true difference to find, in points; None if only affordable seeds are asked about
    :param power: chance to find it
    :param level: two-sided, of one comparison, as of `blurb.compare` before the correction over the datasets
    :param sd: stated standard deviation between runs, in points, for datasets without several runs in any row
    :param seeds: affordable seeds
    :param hours: affordable hours, for all datasets together
    """

    detect: float | None = declare_field(None, SPREAD)
    power: float = declare_field(pooled.POWER, Field(above=0, below=1))
    level: float = declare_field(LEVEL, Field(above=0, below=1))
    sd: float | None = declare_field(None, SPREAD)
    seeds: int | None = declare_field(None, Field(low=2, most=pooled.MOST))
    hours: float | None = declare_field(None, Field(above=0, most=1_000_000))

    def __post_init__(self) -> None:
        errors = ErrorCollector()
        with errors:
            check_fields(self)
            if self.power <= self.level:
                raise SettingsError(f"power must be above the level (got {self.power:g}).")
        if self.seeds is not None and self.hours is not None:
            errors.add(
                SettingsError(
                    f"{opt('seeds')} and {opt('hours')} are two answers to one question",
                    fix="remove one.",
                )
            )
        if self.detect is self.seeds is self.hours is None:
            errors.add(
                SettingsError(
                    "Say which difference the seeds are to find",
                    fix=f"give {opt('detect', 'POINTS')}, or what you can afford: {opt('seeds')} or {opt('hours')}.",
                )
            )
        errors.stop()


def plan_seeds(
    rows: Sequence[Row], aim: Aim, split: Split, names: Sequence[str] | None = None
) -> list[SeedLine]:
    """The seeds for each dataset, and for the score if all thirteen are planned.

    :param rows: the row to compare with, then others whose runs also inform the variance
    :param names: datasets; None for all of the first row
    :raises SettingsError: if rows of that kind have no runs, or the time of a run is unknown and hours are given
    """
    for row in rows:
        if row.kind.paired:
            raise SettingsError(
                f"{row.name} is {row.kind.noun}, which has no runs to plan",
                fix="name rows with runs.",
            )
    first = rows[0]
    requested = [name for name, _ in in_order(first.datasets)] if names is None else list(names)
    known = {
        name: variance
        for name in requested
        if (variance := _variance_of_runs(rows, name, split, aim)) is not None
    }
    seconds = {name: _seconds_of_run(first, name) for name in requested}
    present = {name: len(first.values(name, split)) for name in requested}
    weights = dataset_weights()
    if set(weights) <= set(requested):
        requested.insert(0, SCORE)
        if set(weights) <= set(known):
            known[SCORE] = weighted_variance(
                [(weight, known[name]) for name, weight in weights.items()]
            )
        parts = [seconds[name] for name in weights]
        seconds[SCORE] = (
            None if None in parts else math.fsum(time for time in parts if time is not None)
        )
        present[SCORE] = min(present[name] for name in weights)
    affordable = aim.seeds
    if aim.hours is not None:
        times = {name: time for name, time in seconds.items() if name != SCORE}
        if unknown := [name for name, time in times.items() if not time]:
            raise SettingsError(
                f"{opt('hours')}: how long a run takes is not known of {', '.join(unknown)}",
                fix=f"name a row of a store, with its trials, or give {opt('seeds')}.",
            )
        affordable = int(aim.hours * 3600 / math.fsum(time for time in times.values() if time))
    return [
        _make_line(name, known.get(name), present[name], seconds[name], aim, affordable)
        for name in requested
    ]


def _variance_of_runs(rows: Sequence[Row], name: str, split: Split, aim: Aim) -> RunVariance | None:
    """The variance between runs, pooled over the rows; the stated one if no row has several runs."""
    estimated = pool_variance([Squares.of(row.values(name, split)) for row in rows])
    return stated_variance(aim.sd) if estimated is None and aim.sd is not None else estimated


def _seconds_of_run(row: Row, name: str) -> float | None:
    """Mean seconds of a run of a row on the machine that ran it; None for a row without trials."""
    taken = []
    for record in row.records_of(name).values():
        try:
            known = record.provenance
        except StoreError:
            continue
        if known.train_seconds is not None:
            taken.append(known.train_seconds + (known.predict_seconds or 0.0))
    return statistics.fmean(taken) if taken else None


def _make_line(
    name: str,
    variance: RunVariance | None,
    there: int,
    seconds: float | None,
    aim: Aim,
    affordable: int | None,
) -> SeedLine:
    reason = ""
    if variance is None:
        reason = "no row has two runs, and no sd is stated"
    elif variance.value < NOISE:
        reason, variance = "its runs do not differ", None
    seeds = None
    if variance is not None and aim.detect is not None:
        seeds = pooled.runs_for(aim.detect, variance, aim.level, aim.power)
        reason = "" if seeds is not None else f"more than {pooled.MOST:,} seeds"
    seen = None
    if variance is not None and affordable is not None:
        seen = pooled.detectable(variance, affordable, aim.level, aim.power)
        reason = reason or ("" if seen is not None else "two seeds are the least")
    degrees = (
        None if variance is None or math.isinf(variance.degrees) else round(variance.degrees, 6)
    )
    return {
        "name": name,
        "sd": None if variance is None else round(math.sqrt(variance.value), 6),
        "degrees_of_freedom": degrees,
        "detect": aim.detect,
        "power": aim.power,
        "seeds": seeds,
        "seeds_there": there,
        "seed_seconds": seconds,
        "seconds": None if seeds is None or seconds is None else seeds * seconds,
        "affordable": affordable,
        "detectable": None if seen is None else round(seen, 6),
        "reason": reason,
    }

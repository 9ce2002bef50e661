"""Chooses the protocol that fits a time budget, from a ladder of rungs from the cheapest row to the dearest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from blurb.execution.estimate import Estimate
from blurb.messages import (
    BlurbError,
    DataError,
    ErrorGroup,
    SettingsError,
    format_duration,
    opt,
    safe_message,
)
from blurb.tasks import Task

if TYPE_CHECKING:
    from blurb.planning.trials import Planned

UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0}


@dataclass(frozen=True)
class Rung:
    """A protocol, with its own seeds or with seeds 1 to `seeds`."""

    protocol: str
    seeds: int | None = None

    @property
    def name(self) -> str:
        """The name to print."""
        return f"{self.protocol} with {self.seeds} seeds" if self.seeds else self.protocol


Prepare: TypeAlias = "Callable[[Rung, Sequence[Task]], Planned]"
"""Plans the trials of a rung."""
LADDER = (Rung("probe"), Rung("sketch"), Rung("quick"), Rung("quick", 3), Rung("standard"))
"""From the cheapest to the dearest; later rows are more informative."""


def budget_seconds(text: str, option: str = opt("budget")) -> float:
    """Parses `90s`, `10m`, `2h` or `1h30m` into seconds; SettingsError for anything else, including 0."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)([hms])", text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise SettingsError(
            f"{option} must be a time such as 90s, 10m, 2h or 1h30m (got '{text}')."
        )
    seconds = sum(float(number) * UNITS[unit] for number, unit in parts)
    if not 0 < seconds < float("inf"):
        raise SettingsError(f"{option} must be positive and finite (got '{text}').")
    return seconds


def choose(
    estimates: Sequence[Estimate], budget: float, ladder: Sequence[Rung] = LADDER
) -> tuple[int, list[str]]:
    """The dearest rung for which all tasks fit; otherwise as many tasks of the cheapest rung as fit, cheapest first.

    :returns: its place in the ladder, and the names of the tasks
    :param estimates: one per rung, for all tasks
    :param budget: seconds
    :raises SettingsError: if not even the cheapest task fits
    """
    for place in reversed(range(len(estimates))):
        if estimates[place].seconds <= budget:
            return place, list(estimates[place].tasks)
    by_task = estimates[0].tasks
    cheapest = sorted(by_task, key=lambda name: by_task[name].seconds)
    chosen: list[str] = []
    for name in cheapest:
        if estimates[0].of([*chosen, name]).seconds > budget:
            break
        chosen.append(name)
    if not chosen:
        raise SettingsError(
            f"{opt('budget')}: nothing fits into {format_duration(budget)}. The cheapest, {ladder[0].name} on "
            f"{cheapest[0]}, is predicted to take {format_duration(by_task[cheapest[0]].seconds)}."
        )
    return 0, chosen


@dataclass(frozen=True)
class Affordable:
    """The protocol chosen for a budget, and the reason.

    :param rungs: the estimate of each rung for all tasks, in the order of the ladder
    :param refused: rung -> why it cannot be run
    :param left_out: names of the tasks for which there is no time
    """

    rung: Rung
    planned: Planned
    estimate: Estimate
    rungs: Mapping[Rung, Estimate]
    refused: Mapping[Rung, str]
    left_out: Sequence[str]


def choose_protocol(
    text: str, tasks: Sequence[Task], prepare: Prepare, estimate: Callable[[Planned], Estimate]
) -> Affordable:
    """Chooses the plan that fits a budget; a rung that the settings or the model do not allow is skipped.

    :param prepare: plans the trials of a rung
    :param estimate: what these will take
    :raises SettingsError: if nothing fits or can be predicted
    :raises BlurbError: that of the last rung if none can be run, or if data cannot be read
    """
    seconds = budget_seconds(text)
    plans: dict[Rung, Planned] = {}
    refused: dict[Rung, str] = {}
    for rung in LADDER:
        try:
            plans[rung] = prepare(rung, tasks)
        except (SettingsError, ErrorGroup) as error:
            reasons = getattr(error, "errors", (error,))
            if len(refused) == len(LADDER) - 1 or any(
                isinstance(each, DataError) for each in reasons
            ):
                raise
            refused[rung] = " ".join(map(str, reasons))
    try:
        rungs = {rung: estimate(plan) for rung, plan in plans.items()}
    except BlurbError:
        raise
    except Exception as error:  # an encoder that cannot be run, and nothing may be chosen blindly
        raise SettingsError(
            f"{opt('budget')}: cannot predict the time ({safe_message(error)})",
            fix=f"use {opt('protocol')} instead.",
        ) from error
    if unknown := {trial.job.source.name for each in rungs.values() for trial in each.unknown}:
        raise SettingsError(
            f"{opt('budget')}: the time of {', '.join(sorted(unknown))} is not predicted",
            fix=f"use {opt('protocol')} instead.",
        )
    place, names = choose(list(rungs.values()), seconds, list(rungs))
    rung = list(rungs)[place]
    if len(names) == len(tasks):
        return Affordable(rung, plans[rung], rungs[rung], rungs, refused, ())
    fitting = prepare(rung, [task for name in names for task in tasks if task.name == name])
    left_out = [task.name for task in tasks if task.name not in names]
    return Affordable(rung, fitting, rungs[rung].of(names), rungs, refused, left_out)

"""What the check asks for: `blurb-check.toml`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blurb import tasks, toml
from blurb.errors import BlurbError, SettingsError, UnknownName
from blurb.tasks import Split

NAME = "blurb-check.toml"
OVERALL = "overall"
SCORE = "score"
MOST = 1e300
"""No limit is larger; a whole number of hundreds of digits is no float, and neither is infinity or NaN."""


@dataclass(frozen=True)
class Limit:
    """What holds for one dataset, or overall.

    :param max_drop: points that the mean may fall, whatever the noise; None sets no limit
    :param min_score: what the mean must reach
    """

    max_drop: float | None = None
    min_score: float | None = None


@dataclass(frozen=True)
class Rules:
    """The rules of a check.

    :param split: dev by default, so that gating every checkpoint does not wear out the test sets
    :param level: of the test for a drop, corrected over the datasets; 0 turns it off
    :param default: its `max_drop` is that of datasets, and of the score, that have none of their own
    :param overall: limit of the score
    :param limits: dataset -> limit of its own
    :param required: datasets that must be there; None: those of the baseline
    """

    split: Split = "dev"
    level: float = 0.05
    default: Limit = Limit()
    overall: Limit = Limit()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    required: tuple[str, ...] | None = None

    def limit(self, name: str) -> Limit:
        """What holds for a dataset, or for the score: its own limits, and the common `max_drop` where it has none."""
        own = self.limits.get(name, self.overall if name == SCORE else Limit())
        return dataclasses.replace(own, max_drop=self.default.max_drop if own.max_drop is None else own.max_drop)


def load(path: Path) -> Rules:
    """The rules of a file; SettingsError or UnknownName, naming file and key, if it is not one.

    split = "dev"
    level = 0.05
    max_drop = 2.0                       # for every dataset, and for the score
    tasks = "all"                        # must be there: names, types; without it those of the baseline

    [overall]
    max_drop = 0.5

    [datasets.ncbi-disease]
    min_score = 80.0
    """
    content = toml.read(path)
    where = str(path)
    known = ("split", "level", "max_drop", "tasks", OVERALL, "datasets")
    for key in content:
        if key not in known:
            raise UnknownName(f"key (in {where})", key, known)
    split: Split = content.get("split", "dev")
    if split not in ("dev", "test"):
        raise SettingsError(f"{where}: split is dev or test, not {split!r}.")
    level = _number(content.get("level", 0.05), "level", where)
    if not 0 <= level < 1:
        raise SettingsError(f"{where}: level must be from 0 to below 1, not {level:g}.")
    datasets = _table(content.get("datasets", {}), "datasets", where)
    names = [task.name for task in tasks.all()]
    for name in datasets:
        if name not in names:
            raise UnknownName(f"dataset (in {where})", name, names)
    wanted = content.get("tasks")
    listed = isinstance(wanted, list) and all(isinstance(name, str) for name in wanted)
    if wanted is not None and not isinstance(wanted, str) and not listed:
        raise SettingsError(f"{where}: tasks are names or types, as a text or a list of texts, not {wanted!r}.")
    return Rules(
        split=split,
        level=level,
        default=_limit({"max_drop": content["max_drop"]} if "max_drop" in content else {}, where),
        overall=_limit(content.get(OVERALL, {}), f"{where}, {OVERALL}"),
        limits={name: _limit(table, f"{where}, datasets.{name}") for name, table in datasets.items()},
        required=None if wanted is None else _required(wanted, where),
    )


def _required(wanted: str | list[str], where: str) -> tuple[str, ...]:
    try:
        return tuple(task.name for task in tasks.select(wanted))
    except BlurbError as error:
        raise SettingsError(f"{where}, tasks: {error}") from None


def _table(value: Any, key: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: {key} is to be a table.")
    return value


def _limit(value: Any, where: str) -> Limit:
    fields = [one.name for one in dataclasses.fields(Limit)]
    table = _table(value, "it", where)
    for key in table:
        if key not in fields:
            raise UnknownName(f"key (in {where})", key, fields)
    found = {key: _number(number, key, where) for key, number in table.items()}
    if found.get("max_drop", 0.0) < 0:
        raise SettingsError(f"{where}: max_drop is a number of points, 0 or more.")
    return Limit(**found)


def _number(value: Any, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
        raise SettingsError(f"{where}: {key} must be a number, not {repr(value)[:60]}.")
    return float(value)

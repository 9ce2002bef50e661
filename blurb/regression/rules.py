"""The rules of the check: `blurb-check.toml`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from blurb import tasks
from blurb.messages.errors import BlurbError, SettingsError, UnknownName
from blurb.results.score import SCORE
from blurb.system import toml
from blurb.tasks import SCORED, Split

NAME = "blurb-check.toml"
OVERALL = "overall"
VERSION = 1
"""Of the keys of a rules file. A file without `version` has this one."""
Rule = Literal["or", "and", "noise"]
"""What makes a drop a regression: beyond `max_drop` or noise, beyond both, or beyond noise alone."""
RULES: tuple[Rule, ...] = get_args(Rule)
MOST_LOOKS = 1_000_000
"""A larger number of looks is a typo."""
LARGEST = 1e300
"""Maximum of any limit; rules out infinity, NaN and integers too large for a float."""


@dataclass(frozen=True)
class Limit:
    """The limits of one dataset, or of the score.

    :param max_drop: points that the mean may drop, regardless of noise; None sets no limit
    :param min_score: minimum of the mean
    """

    max_drop: float | None = None
    min_score: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None:
                _number(value, name, "limit")
        if self.max_drop is not None and self.max_drop < 0:
            raise SettingsError(f"max_drop must be at least 0 points (got {self.max_drop:g}).")


@dataclass(frozen=True)
class Rules:
    """The rules of a check.

    :param split: dev by default, so that checking every checkpoint does not overfit the test sets
    :param level: significance level of a drop, corrected over the datasets; 0 turns the test off
    :param default: its `max_drop` applies to datasets and the score without their own
    :param overall: limits of the score
    :param limits: dataset -> its own limits
    :param rule: what makes a drop a regression; a `min_score` holds besides
    :param looks: of a series with a state file; None for any number
    :param sd: stated standard deviation between runs, in points, where no runs show it
    :param required: datasets that must be present; None: those that the baseline has or planned
    :param across: what may differ all the same (`comparability.ACROSS`); never of a file, as it must be typed
    """

    split: Split = "dev"
    level: float = 0.05
    default: Limit = Limit()
    overall: Limit = Limit()
    limits: Mapping[str, Limit] = field(default_factory=dict)
    rule: Rule = "or"
    looks: int | None = None
    sd: float | None = None
    required: tuple[str, ...] | None = None
    across: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        limits = (*self.limits.values(),) if isinstance(self.limits, Mapping) else (None,)
        if not all(isinstance(each, Limit) for each in (self.default, self.overall, *limits)):
            raise SettingsError("default and overall must be a Limit, and limits a mapping of datasets to Limits.")
        if self.split not in SCORED:
            raise SettingsError(f"split must be {' or '.join(SCORED)} (got {self.split!r}).")
        if not 0 <= _number(self.level, "level", "rules") < 1:
            raise SettingsError(f"level must be at least 0 and below 1 (got {self.level:g}).")
        check_rule(self.rule)
        if self.rule != "or" and not self.level:
            raise SettingsError(f"level 0 turns the test off, and rule {self.rule} needs it", fix="set a level.")
        check_looks(self.looks)
        check_sd(self.sd)

    def limit(self, name: str) -> Limit:
        """The limits of a dataset or the score: its own, and the common `max_drop` if it has none."""
        own = self.limits.get(name, self.overall if name == SCORE else Limit())
        return dataclasses.replace(own, max_drop=self.default.max_drop if own.max_drop is None else own.max_drop)


def check_rule(rule: Any) -> Rule:
    """The rule; SettingsError if there is none of the name."""
    for known in RULES:
        if rule == known:
            return known
    raise UnknownName("rule", str(rule)[:60], RULES)


def check_looks(looks: Any) -> None:
    """Raises a SettingsError unless it is a number of looks, or None."""
    whole = isinstance(looks, int) and not isinstance(looks, bool)
    if looks is not None and not (whole and 1 <= looks <= MOST_LOOKS):
        raise SettingsError(f"looks must be a whole number from 1 to {MOST_LOOKS:,} (got {looks!r:.60}).")


def check_sd(sd: Any) -> None:
    """Raises a SettingsError unless it is a standard deviation in points, or None."""
    if sd is not None and not 0 < _number(sd, "sd", None) <= 100:
        raise SettingsError(f"sd must be above 0 and at most 100 points (got {sd:g}).")


def load(path: Path) -> Rules:
    """Reads the rules of a file; SettingsError or UnknownName, naming file and key, if it is invalid.

    version = 1
    split = "dev"
    level = 0.05
    rule = "and"                         # or "or", "noise"
    looks = 40                           # of a series with --state
    sd = 0.7                             # between runs, where no runs show it
    max_drop = 2.0                       # for every dataset, and for the score
    tasks = "all"                        # required datasets (names or types); default: those of the baseline

    [overall]
    max_drop = 0.5

    [datasets.ncbi-disease]
    min_score = 80.0
    """
    return _parse(toml.read(path), str(path))


def faults(path: Path) -> list[BlurbError]:
    """Everything for which `load` refuses a file; no key hangs on another, so each is read by itself."""
    errors: list[BlurbError] = []
    try:
        parts = _parts(toml.read(path))
    except BlurbError as error:
        return [error]
    for part in parts:
        try:
            _parse(part, str(path))
        except BlurbError as error:
            errors.append(error)
    return errors


def _parts(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A file key by key, its tables limit by limit."""

    def apart(value: Any) -> list[Any]:
        return [{key: one} for key, one in value.items()] if isinstance(value, dict) and value else [value]

    parts: list[dict[str, Any]] = []
    for key, value in content.items():
        if key == "datasets" and isinstance(value, dict):
            parts += [{key: {name: part}} for name, limits in value.items() for part in apart(limits)]
        else:
            parts += [{key: part} for part in apart(value)]
    return parts


def _parse(content: Mapping[str, Any], where: str) -> Rules:
    known = ("version", "split", "level", "rule", "looks", "sd", "max_drop", "tasks", OVERALL, "datasets")
    _check_version(content.get("version", VERSION), where)
    for key in content:
        if key not in known:
            raise UnknownName(f"key (in {where})", key, known)
    split: Split = content.get("split", Rules.split)
    if split not in SCORED:
        raise SettingsError(f"split must be {' or '.join(SCORED)} (got {split!r}).", where=where)
    level = _number(content.get("level", Rules.level), "level", where)
    if not 0 <= level < 1:
        raise SettingsError(f"level must be at least 0 and below 1 (got {level:g}).", where=where)
    datasets = _table(content.get("datasets", {}), "datasets", where)
    names = [task.name for task in tasks.all()]
    for name in datasets:
        if name not in names:
            raise UnknownName(f"dataset (in {where})", name, names)
    wanted = content.get("tasks")
    listed = isinstance(wanted, list) and all(isinstance(name, str) for name in wanted)
    if wanted is not None and not isinstance(wanted, str) and not listed:
        raise SettingsError(
            f"tasks must be names or types, as a string or a list of strings (got {wanted!r}).", where=where
        )
    more = _named(content, where)
    return Rules(
        split=split,
        level=level,
        **more,
        default=_limit({"max_drop": content["max_drop"]} if "max_drop" in content else {}, where),
        overall=_limit(content.get(OVERALL, {}), f"{where}, {OVERALL}"),
        limits={name: _limit(table, f"{where}, datasets.{name}") for name, table in datasets.items()},
        required=None if wanted is None else _required(wanted, where),
    )


def _check_version(version: Any, where: str) -> None:
    if version != VERSION or isinstance(version, bool):
        raise SettingsError(
            f"version {version!r:.60} of the rules is not known here, only {VERSION}",
            where=where,
            fix="use a newer blurb, or write the rules of version 1.",
        )


def _named(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """`rule`, `looks` and `sd` of a file, as far as it has them; an error names the file."""
    checks: dict[str, Callable[[Any], object]] = {"rule": check_rule, "looks": check_looks, "sd": check_sd}
    more = {key: content[key] for key in checks if key in content}
    for key, value in more.items():
        try:
            checks[key](value)
        except BlurbError as error:
            raise SettingsError(error.what, where=where, fix=error.fix) from None
    return more


def _required(wanted: str | list[str], where: str) -> tuple[str, ...]:
    try:
        return tuple(task.name for task in tasks.select(wanted))
    except BlurbError as error:
        raise SettingsError(f"{where}, tasks: {error}") from None


def _table(value: Any, key: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be a table.", where=where)
    return value


def _limit(value: Any, where: str) -> Limit:
    fields = [one.name for one in dataclasses.fields(Limit)]
    table = _table(value, "a limit", where)
    for key in table:
        if key not in fields:
            raise UnknownName(f"key (in {where})", key, fields)
    found = {key: _number(number, key, where) for key, number in table.items()}
    if found.get("max_drop", 0.0) < 0:
        raise SettingsError("max_drop must be at least 0 points.", where=where)
    return Limit(**found)


def _number(value: Any, key: str, where: str | None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise SettingsError(f"{key} must be a number (got {repr(value)[:60]}).", where=where)
    return float(value)

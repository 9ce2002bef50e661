"""The rules of the check: `blurb-check.toml`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from blurb import fields, tasks, tasks as known
from blurb.fields import POINTS, SPREAD, Field, declare_field
from blurb.messages import ErrorCollector, SettingsError, opt
from blurb.results.across import ACROSS
from blurb.results.row import Row
from blurb.results.score import SCORE
from blurb.system import text_files

NAME = "blurb-check.toml"
VERSION = 1
"""Version of the keys of a rules file. A file without `version` has this one."""
Rule = Literal["or", "and", "noise"]
"""Rules by which a drop is a regression: beyond `max_drop` or noise, beyond both, or beyond noise alone."""
RULES: tuple[Rule, ...] = get_args(Rule)
MOST_LOOKS = 1_000_000
"""A larger number of looks is a typo."""


@dataclass(frozen=True)
class Limit:
    """The limits of one dataset, or of the score.

    :param max_drop: points that the mean may drop, regardless of noise; None sets no limit
    :param min_score: minimum of the mean
    """

    max_drop: float | None = declare_field(None, POINTS)
    min_score: float | None = declare_field(None, Field(low=-100, most=100))

    def __post_init__(self) -> None:
        fields.check_fields(self)


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
    :param across: what may differ all the same (`blurb.results.across.ACROSS`); never of a file, as it must be typed
    """

    split: known.Split = declare_field("dev", Field(choices=known.SCORED))
    level: float = declare_field(0.05, Field(low=0, below=1))
    default: Limit = declare_field(Limit(), Field())
    overall: Limit = declare_field(Limit(), Field())
    limits: Mapping[str, Limit] = declare_field({}, Field())
    rule: Rule = declare_field("or", Field(choices=RULES))
    looks: int | None = declare_field(None, Field(low=1, most=MOST_LOOKS))
    sd: float | None = declare_field(None, SPREAD)
    required: tuple[str, ...] | None = None
    across: Sequence[str] = declare_field((), Field(choices=ACROSS, noun="value of across"))

    def __post_init__(self) -> None:
        fields.check_fields(self)
        if self.rule != "or" and not self.level:
            raise SettingsError(
                f"level 0 turns the test off, and rule {self.rule} needs it", fix="set a level."
            )

    def limit(self, name: str) -> Limit:
        """The limits of a dataset or the score: its own, and the common `max_drop` if it has none."""
        own = self.limits.get(name, self.overall if name == SCORE else Limit())
        return replace(
            own, max_drop=self.default.max_drop if own.max_drop is None else own.max_drop
        )


def load_rules(path: Path, own: Collection[str] = ()) -> Rules:
    """Reads the rules of a file; raises all its faults, by file and key.

    :param own: datasets of the rows to judge, some of which may be declared nowhere here

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
    errors = ErrorCollector()
    values = fields.read_table(
        text_files.read_toml(path), Field(dict, keys=_file_keys(own)), path, errors
    )
    errors.stop()
    values["default"] = Limit(values.pop("max_drop", None))
    named = {"datasets": "limits", "tasks": "required"}
    try:
        return Rules(
            **{named.get(key, key): value for key, value in values.items() if key != "version"}
        )
    except SettingsError as error:
        raise SettingsError(error.what, where=path, fix=error.fix) from None


OF_PYTHON = ("default", "limits", "across")
"""Fields of `Rules` that are no keys of a file by these names, or by none."""


def _file_keys(own: Collection[str] = ()) -> dict[str, Field]:
    """The keys of a file."""
    limit = fields.of(Limit)
    of_dataset = Field(dict, keys=limit, parse=lambda table: Limit(**table))
    return {
        **{name: about for name, about in fields.of(Rules).items() if name not in OF_PYTHON},
        "version": Field(
            int, rule=VERSION.__eq__, must=f"be {VERSION}; for another version use the blurb of it"
        ),
        "max_drop": limit["max_drop"],
        "tasks": replace(
            fields.TEXTS,
            must="be names or types, as a text or a list of texts",
            parse=lambda wanted: tuple(tasks.select_names(wanted, own)),
        ),
        "overall": of_dataset,
        "datasets": Field(
            dict,
            keys=dict.fromkeys((*(task.name for task in tasks.all()), *own), of_dataset),
            noun="dataset",
        ),
    }


NEEDS_STATE = "need a file that counts them"


def read_rules(
    rules: Rules | Path | str | None,
    split: known.Split | None = None,
    max_drop: float | None = None,
    tasks: str | Sequence[str] | None = None,
    across: Sequence[str] = (),
    rule: str | None = None,
    looks: int | None = None,
    sd: float | None = None,
    in_series: bool = False,
    rows: Iterable[Row] = (),
) -> Rules:
    """Reads the rules (by default blurb-check.toml of the working folder, if it exists) and applies the options.

    :param in_series: whether a state file counts the looks
    :param rows: those to judge
    """
    if rules is None and os.path.lexists(NAME):  # a link to nowhere or a folder cannot be read
        rules = NAME
    own = {name for row in rows for name in row.datasets}
    wrong, give = ErrorCollector(), f"name it with {opt('state')} of blurb check."
    with wrong:
        combined = (
            load_rules(Path(rules), own) if isinstance(rules, str | Path) else rules
        ) or Rules()
    with wrong:
        named = () if tasks is None else known.select_names(tasks, own, typed=True)
    options = {"split": split, "rule": rule, "looks": looks, "sd": sd, "across": tuple(across)}
    typed = {name: value for name, value in options.items() if value is not None}
    given = fields.read_table(typed, Field(dict, keys=fields.of(Rules)), None, wrong)
    with wrong:
        limit = Limit(max_drop)
    if looks is not None and not in_series:
        wrong.add(SettingsError(f"{opt('looks', looks)} {NEEDS_STATE}", fix=give))
    wrong.stop()
    if combined.looks is not None and looks is None and not in_series:
        raise SettingsError(f"{combined.looks} looks, as the rules say, {NEEDS_STATE}", fix=give)
    if max_drop is not None:
        # A limit of its own asks for the score to be judged: the file's may stay one, and none is added.
        limits = {name: replace(each, max_drop=None) for name, each in combined.limits.items()}
        overall = combined.overall
        if overall.max_drop is not None:
            overall = replace(overall, max_drop=max_drop)
        given |= {"default": limit, "overall": overall, "limits": limits}
    required = tuple(named) or combined.required
    return replace(combined, **given, required=required)

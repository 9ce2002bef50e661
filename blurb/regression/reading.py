"""The rules that a person asks for: a file of them, and options over it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from blurb import regression
from blurb import tasks as known
from blurb.messages.errors import ErrorCollector, SettingsError, UnknownName
from blurb.regression import Rules
from blurb.regression.rules import check_looks, check_rule, check_sd
from blurb.results.comparability import ACROSS
from blurb.tasks import Split

NEEDS_STATE = "need a file that counts them"
GIVE_STATE = "name it with --state of blurb check."


def read_rules(
    rules: Rules | Path | str | None,
    split: Split | None = None,
    max_drop: float | None = None,
    tasks: str | Sequence[str] | None = None,
    across: Sequence[str] = (),
    rule: str | None = None,
    looks: int | None = None,
    sd: float | None = None,
    in_series: bool = False,
) -> Rules:
    """Reads the rules (by default blurb-check.toml of the working folder, if it exists) and applies the options.

    :param in_series: whether a state file counts the looks
    """
    if rules is None and os.path.lexists(regression.rules.NAME):  # a link to nowhere or a folder cannot be read
        rules = regression.rules.NAME
        if os.path.exists(rules) and not os.path.isfile(rules) and not os.path.isdir(rules):
            raise SettingsError("this is a pipe or a device and no file", where=rules, fix="remove it.")
    wrong = ErrorCollector()
    combined = wrong.tried(regression.load, Path(rules)) if isinstance(rules, str | Path) else rules
    named = None if tasks is None else wrong.tried(known.select, tasks)
    for check, value in ((check_looks, looks), (check_sd, sd)):
        wrong.tried(check, value)
    chosen = None if rule is None else wrong.tried(check_rule, rule)
    for one in across:
        if one not in ACROSS:
            wrong.add(UnknownName("value of across", str(one), ACROSS))
    if looks is not None and not in_series:
        wrong.add(SettingsError(f"--looks {looks} {NEEDS_STATE}", fix=GIVE_STATE))
    wrong.tell()
    combined = combined or regression.Rules()
    if split:
        combined = dataclasses.replace(combined, split=split)
    if max_drop is not None:
        combined = dataclasses.replace(combined, default=regression.rules.Limit(max_drop=max_drop))
    if named is not None:
        combined = dataclasses.replace(combined, required=tuple(task.name for task in named))
    if combined.looks is not None and looks is None and not in_series:
        raise SettingsError(f"{combined.looks} looks, as the rules say, {NEEDS_STATE}", fix=GIVE_STATE)
    given = {"rule": chosen, "looks": looks, "sd": sd}
    given = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(combined, across=tuple(across), **given)  # type: ignore[arg-type]

"""The rules that a person asks for: a file of them, and options over it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from blurb import fields, regression
from blurb import tasks as known
from blurb.fields import Field
from blurb.messages.errors import ErrorCollector, SettingsError
from blurb.messages.spelling import opt
from blurb.regression import Rules
from blurb.regression.rules import Limit
from blurb.tasks import Split

NEEDS_STATE = "need a file that counts them"


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
    wrong, give = ErrorCollector(), f"name it with {opt('state')} of blurb check."
    combined = wrong.tried(regression.load, Path(rules)) if isinstance(rules, str | Path) else rules
    named = None if tasks is None else wrong.tried(known.select, tasks)
    options = {"split": split, "rule": rule, "looks": looks, "sd": sd, "across": tuple(across)}
    typed = {name: value for name, value in options.items() if value is not None}
    given = fields.read(typed, Field(dict, keys=fields.of(Rules)), None, wrong)
    limit = None if max_drop is None else wrong.tried(Limit, max_drop)
    if looks is not None and not in_series:
        wrong.add(SettingsError(f"{opt('looks', looks)} {NEEDS_STATE}", fix=give))
    wrong.tell()
    combined = combined or Rules()
    if combined.looks is not None and looks is None and not in_series:
        raise SettingsError(f"{combined.looks} looks, as the rules say, {NEEDS_STATE}", fix=give)
    if limit is not None:
        given["default"] = limit
    if named is not None:
        given["required"] = tuple(task.name for task in named)
    return dataclasses.replace(combined, **given)

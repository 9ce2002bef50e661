"""Protocol files, and the rules of the regression check."""

from __future__ import annotations

from pathlib import Path

from blurb.doctor import protocol_files
from blurb.doctor._base import Report, of_error
from blurb.learners import of_protocol
from blurb.messages.errors import BlurbError, ErrorCollector
from blurb.regression import rules
from blurb.tasks import all as all_tasks


def examine_protocol(path: Path) -> Report:
    """What is wrong with a protocol file."""
    fix = "docs/protocols.md has the keys; blurb run --help lists the settings."
    problems = [of_error(error, path, fix) for error in protocol_files.faults(path)]
    if not problems:
        try:
            loaded = of_protocol.load(str(path))
            for task in all_tasks():
                loaded.settings(task, {}, 0)
        except BlurbError as error:
            problems = [of_error(error, path, fix)]
    return Report("protocol", str(path), problems)


def examine_rules(path: Path) -> Report:
    """What is wrong with the rules of `blurb check`."""
    errors = ErrorCollector()
    errors.tried(rules.load, path)
    problems = [of_error(error, path, "docs/ci.md has the keys.") for error in errors.errors]
    return Report("rules", str(path), problems)

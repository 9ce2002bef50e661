"""Protocol files, and the rules of the regression check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from blurb.doctor._base import Report, Subject, of_error
from blurb.learners import of_protocol
from blurb.messages.errors import ErrorCollector
from blurb.regression import rules


def examine_protocol(path: Path) -> Report:
    """What is wrong with a protocol file."""
    fix = "docs/protocols.md has the keys; blurb run --help lists the settings."
    return _examine("protocol", of_protocol.load, path, fix)


def examine_rules(path: Path) -> Report:
    """What is wrong with the rules of `blurb check`."""
    return _examine("rules", rules.load, path, "docs/ci.md has the keys.")


def _examine(kind: Subject, load: Callable[..., object], path: Path, fix: str) -> Report:
    errors = ErrorCollector()
    errors.tried(load, path)
    return Report(kind, str(path), [of_error(error, path, fix) for error in errors.errors])

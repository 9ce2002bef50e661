"""The door of `import blurb`: values are checked as those of the command line, and messages name keywords of Python.

Plug-ins add to it.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import click

from blurb.fields import Field, hints
from blurb.messages import ErrorCollector, SettingsError, UnknownName, in_python
from blurb.options import option_parameters
from blurb.registry import Registry

FLAG = Field(bool)
"""A flag without an option: "no" is true to Python, and would allow code."""
FILLED = Field(object, filled=True)
"""Anything else: "" would be this folder, or as good as not given."""
P = ParamSpec("P")
T = TypeVar("T")


def from_python(function: Callable[P, T]) -> Callable[P, T]:
    """The function as Python users call it: values are checked as options are, and messages name keywords."""

    @functools.wraps(function)
    def called(*arguments: P.args, **more: P.kwargs) -> T:
        # Python's own TypeError is for arguments that do not fit.
        signature = inspect.signature(function)
        given = signature.bind(*arguments, **more).arguments
        errors = ErrorCollector()
        checks: Mapping[str, Field] = (
            {name: FLAG for name, hint in hints(function).items() if hint is bool and name in given}
            | {
                name: FILLED
                for name, value in given.items()
                if isinstance(value, str) and not value and signature.parameters[name].default != ""
            }
            | {
                name: parameter.about
                for name, parameter in option_parameters(function).items()
                if given.get(name, parameter.default) is not parameter.default
            }
        )
        with in_python():
            for name, about in checks.items():
                with errors:
                    about.checked(name, given[name])
            errors.stop()
            return function(*arguments, **more)

    return called


_lock = threading.RLock()


@contextmanager
def generator_lock(progress: bool = False) -> Iterator[None]:
    """Lets one thread at a time run trials or build networks; the log of a trial is the process's, too.

    :param progress: whether to say that a thread waits
    """
    if not _lock.acquire(blocking=False):
        if progress:
            click.secho(
                "Another thread of this process runs trials; this one waits for it.",
                fg="yellow",
                err=True,
            )
        _lock.acquire()
    try:
        yield
    finally:
        _lock.release()


additions: Registry[Any] = Registry("name", "", "", "blurb.names", "collections.abc:Callable")
"""Functions that extensions and other packages add to `import blurb`, and `Results.plot` of `reports`."""


def front_door(name: str) -> Any:
    """The object that a plug-in adds to `import blurb`; AttributeError without one, or if it cannot be loaded."""
    try:
        return additions.get(name)
    except SettingsError as error:
        raise AttributeError(f"blurb.{name}: {error}") from error
    except UnknownName as error:
        raise AttributeError(f"module 'blurb' has no attribute {name!r}") from error

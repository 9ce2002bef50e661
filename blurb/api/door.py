"""The door of `import blurb`: arguments of wrong types are refused, and messages name keywords of Python."""

from __future__ import annotations

import collections.abc
import errno
import functools
import inspect
import numbers
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_origin

import click

from blurb.fields import SHOWN, Unloaded, hints, types_of
from blurb.messages import SettingsError, in_python
from blurb.planning.options import LoadedModel, LoadedTokenizer
from blurb.results.references import HasRows
from blurb.results.row import Row
from blurb.system.files import of_system

P = ParamSpec("P")
T = TypeVar("T")
HIDDEN = "an object that cannot be shown, of type"
TYPES: Mapping[Any, tuple[str, Any]] = {
    NoneType: ("None", NoneType),
    str: ("a str", str),
    Path: ("a path", os.PathLike),
    bool: ("True or False", bool),
    int: ("an int", numbers.Integral),
    float: ("a number", numbers.Real),
    dict: ("a mapping", Mapping),
    Mapping: ("a mapping", Mapping),
    collections.abc.Callable: ("a function", Callable),
    Sized: ("a table", Sized),
    Row: ("a row", Row),
    HasRows: ("results with one row", HasRows),
    LoadedModel: ("a loaded model", LoadedModel),
    LoadedTokenizer: ("a loaded tokenizer", LoadedTokenizer),
}
"""Type -> how a message calls it, and what is taken for it."""


def from_python(function: Callable[P, T]) -> Callable[P, T]:
    """The function as Python users call it: wrong types are a SettingsError, and options in messages are keywords."""

    @functools.wraps(function)
    def called(*arguments: P.args, **more: P.kwargs) -> T:
        given = inspect.signature(function).bind(*arguments, **more).arguments  # a TypeError of Python's own
        sentences = wrong(function, given)
        if sentences:
            raise SettingsError(" ".join(f"blurb.{function.__name__}: {sentence}" for sentence in sentences))
        try:
            with in_python():
                return function(*arguments, **more)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise SettingsError(of_system(error)) from error

    return called


def wrong(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[str]:
    """A sentence for each argument that is not of the type that the signature of a function names."""
    types, sentences = hints(function), []
    for name, value in arguments.items():
        if inspect.signature(function).parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            odd = {each: _shown(one) for each, one in value.items() if _shown(one).startswith(HIDDEN)}
            sentences += [f"{each} must be a value that can be shown (got {shown})." for each, shown in odd.items()]
        elif isinstance(value, str | os.PathLike) and not _is_text(value):
            sentences.append(f"{name} must be a text without NUL and half characters (got {_shown(value, ascii)}).")
        elif not _fits(value, types[name]):
            words = " or ".join(dict.fromkeys(filter(None, map(_words, _alternatives(types[name])))))
            sentences.append(f"{name} must be {words} (got {_shown(value)}).")
    return sentences


def _alternatives(hint: Any) -> Sequence[Any]:
    return types_of(get_args(hint)[0] if get_origin(hint) is Annotated else hint)


def _fits(value: Any, hint: Any) -> bool:
    return any(_is_of(value, each) for each in _alternatives(hint))


def _is_of(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if kind in (Any, Unloaded):
        return True
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if origin is Sequence:
        try:
            several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            return several and all(_fits(each, get_args(kind)[0]) for each in value)
        except Exception:  # noqa: BLE001 - of a list of one's own
            return False
    taken = TYPES.get(origin or kind, ("", origin or kind))[1]
    return isinstance(value, taken) and (kind is bool or not isinstance(value, bool))


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(map(repr, get_args(kind)))
    if get_origin(kind) is Sequence:
        return f"a list of these ({' or '.join(map(_words, types_of(get_args(kind)[0])))})"
    return TYPES.get(get_origin(kind) or kind, (f"a {getattr(kind, '__name__', kind)}", None))[0]


def _shown(value: object, how: Callable[[object], str] = repr) -> str:
    """A value in a message; its type alone if code of its own fails to show it."""
    try:
        shown = how(value)
    except Exception:  # noqa: BLE001 - of whoever wrote the class
        return f"{HIDDEN} {type(value).__name__}"
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _is_text(value: str | os.PathLike[str]) -> bool:
    """Whether a text or a path can be the name of a file."""
    try:
        return b"\0" not in str(value).encode()
    except Exception:  # noqa: BLE001 - half a character, or code of a class that is nearly a path
        return False


_lock = threading.RLock()


@contextmanager
def generator_lock(progress: bool = False) -> Iterator[None]:
    """Trials, and networks that are built, of one thread at a time; the log of a trial is the process's, too.

    :param progress: whether to say that a thread waits
    """
    if not _lock.acquire(blocking=False):
        if progress:
            click.secho("Another thread of this process runs trials; this one waits for it.", fg="yellow", err=True)
        _lock.acquire()
    try:
        yield
    finally:
        _lock.release()

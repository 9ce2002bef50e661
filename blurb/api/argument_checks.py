"""What `import blurb` adds to its functions: arguments of wrong types are refused, and messages speak Python.

The kinds of arguments are read from the signatures, so that each is written once.
"""

from __future__ import annotations

import errno
import functools
import inspect
import numbers
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from blurb.api.results import Results
from blurb.messages.errors import BlurbError, ErrorGroup, SettingsError
from blurb.planning.named_models import NamedModel
from blurb.planning.options import KEEP
from blurb.regression import Rules
from blurb.results.row_scores import RowScores
from blurb.system.files import of_system
from blurb.tasks import SCORED

P = ParamSpec("P")
T = TypeVar("T")

SHOWN = 60
"""Characters of a wrong value in a message."""
HIDDEN = "an object that cannot be shown, of type"


def _is_row(value: object) -> bool:
    return isinstance(value, str | os.PathLike | Results | RowScores)


def _is_rules(value: object) -> bool:
    return isinstance(value, Rules)


KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda value: value is None),
    "str": ("a str", lambda value: isinstance(value, str)),
    "Path": ("a path", lambda value: isinstance(value, os.PathLike)),
    "bool": ("True or False", lambda value: isinstance(value, bool)),
    "int": ("an int", lambda value: isinstance(value, numbers.Integral) and not isinstance(value, bool)),
    "float": ("a number", lambda value: isinstance(value, numbers.Real) and not isinstance(value, bool)),
    "Split": (" or ".join(map(repr, SCORED)), lambda value: isinstance(value, str) and value in SCORED),
    "Keep": (" or ".join(map(repr, KEEP)), lambda value: isinstance(value, str) and value in KEEP),
    "Input": ("a str or a mapping", lambda value: isinstance(value, str | Mapping)),
    "Given": (
        "a str, a path, a loaded model or a NamedModel",
        lambda value: (
            isinstance(value, str | os.PathLike | NamedModel) or hasattr(value, "parameters")  # others are named later
        ),
    ),
    "Tokenizer": (
        "a str, a path or a loaded tokenizer",
        lambda value: isinstance(value, str | os.PathLike) or hasattr(value, "save_pretrained"),
    ),
    "Row": ("a row, results with one row, or the name of a row", _is_row),
    "Rules": ("rules", _is_rules),
    "Predictions": (
        "a path, a mapping from id to prediction, a list of predictions, or a table",
        lambda value: isinstance(value, str | os.PathLike | Mapping | Sequence) or hasattr(value, "__len__"),
    ),
    "Names": ("a mapping from label to label", lambda value: isinstance(value, Mapping)),
    "Seen": ("a function of a series, a row and a decision", callable),
    "Told": ("a function of a sentence", callable),
    "Any": ("anything", lambda value: True),
}
"""Words of the annotations -> how a message calls the kind, and whether a value is of it."""


def wrong(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[str]:
    """A sentence for each argument that is not of the kind that the signature of a function names."""
    parameters = inspect.signature(function).parameters
    problems = []
    for name, value in arguments.items():
        parameter = parameters.get(name)
        if parameter is None:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:  # settings, whose own messages show them
            odd = {each: _shown(one) for each, one in value.items() if _shown(one).startswith(HIDDEN)}
            problems += [f"{each} must be a value that can be shown (got {shown})." for each, shown in odd.items()]
            continue
        if isinstance(value, str | os.PathLike) and not _is_text(value):
            problems.append(f"{name} must be a text without NUL and half characters (got {_shown(value, ascii)}).")
            continue
        kinds = [kind.strip() for kind in str(parameter.annotation).split("|")]
        if not any(_is_of(kind, value) for kind in kinds):
            problems.append(f"{name} must be {' or '.join(dict.fromkeys(map(_words, kinds)))} (got {_shown(value)}).")
    return problems


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


def _is_of(kind: str, value: Any) -> bool:
    several = re.fullmatch(r"Sequence\[(.+)\]", kind)
    if several:
        there = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        try:
            return there and all(_is_of(several[1], each) for each in value)
        except Exception:  # noqa: BLE001 - of a list of one's own
            return False
    return KINDS[kind][1](value)


def _words(kind: str) -> str:
    several = re.fullmatch(r"Sequence\[(.+)\]", kind)
    return f"a list of these ({_words(several[1])})" if several else KINDS[kind][0]


def spoken(function: Callable[P, T]) -> Callable[P, T]:
    """The function as Python users call it: wrong types are a SettingsError, and options in messages are keywords."""

    @functools.wraps(function)
    def called(*arguments: P.args, **more: P.kwargs) -> T:
        given = inspect.signature(function).bind(*arguments, **more).arguments  # a TypeError of Python's own
        sentences = wrong(function, given)
        if sentences:
            raise SettingsError(" ".join(f"blurb.{function.__name__}: {sentence}" for sentence in sentences))
        try:
            return function(*arguments, **more)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise SettingsError(of_system(error)) from error
        except BlurbError as error:
            for each in getattr(error, "errors", (error,)):
                each.what, each.fix = in_python(each.what), in_python(each.fix)
                # A setting is a keyword: what is wrong with it begins with its name.
                each.where = None if (each.where or "--").startswith("--") else in_python(str(each.where))
            if isinstance(error, ErrorGroup):
                error.renew()
            raise

    return called


COMMAND = re.compile(r"\bblurb [a-z]+[^\n;`]*")
"""A command to type in a shell, whose options stay."""
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?: ([\w./=:,-]*[\w]))?")
NO_VALUES = "and are cannot chooses folder instead is it keeps leads must needs of or out shows such the to was with"
PROSE = frozenset(NO_VALUES.split())
"""What follows an option in messages and is no value of it; a test reads all messages for others."""


def in_python(text: str) -> str:
    """A message with keywords of Python in the place of options.

    >>> in_python("Give the folder with --data (or use --suite demo). Try --set lr=1e-5, or remove --dry-run.")
    'Give the folder with data= (or use suite="demo"). Try lr=1e-5, or remove dry_run=.'
    >>> in_python("To see where: blurb data verify --data FOLDER")
    'To see where: blurb data verify --data FOLDER'
    >>> in_python("Get them with `blurb data get --out DATA`, or use --split mine and --seeds 3; --check needs a row.")
    'Get them with `blurb data get --out DATA`, or use split="mine" and seeds=3; check= needs a row.'
    """
    parts, start = [], 0
    for command in COMMAND.finditer(text):
        parts += [OPTION.sub(_keyword, text[start : command.start()]), command.group()]
        start = command.end()
    return "".join([*parts, OPTION.sub(_keyword, text[start:])])


def _keyword(option: re.Match[str]) -> str:
    name, value = option[1].replace("-", "_"), option[2]
    if name == "set":
        return value if value and "=" in value else f"a keyword {value}" if value else "a keyword"
    name = {"print": "print_script"}.get(name, name)
    if not value or value in PROSE:
        return f"{name}={f' {value}' if value else ''}"
    return f"{name}={value}" if value.isdecimal() else f'{name}="{value}"'

"""Errors with messages for users: what happened, where, and what to do next."""

from __future__ import annotations

import difflib
import errno
import os
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from blurb.messages.text import fold_name, redact_secrets

T = TypeVar("T")
TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp$")
"""The end of the names of our temporary files; hidden files of other names are somebody else's."""
SHOWN = 60
"""Characters of a path that is too long for the system, in its message."""


class BlurbError(Exception):
    """Base of all errors with a message for the user; the command line prints it and exits with code 2.

    >>> print(BlurbError("the file is empty", where="a.csv", fix="download it again."))
    a.csv: the file is empty; download it again.
    >>> print(BlurbError("There is no store.", fix="Give --output."))
    There is no store. Give --output.
    """

    def __init__(self, what: str, *, where: object = None, fix: str = "", **names: str) -> None:
        """
        :param what: what is wrong
        :param where: file (and line), folder, package or setting, which stands before it
        :param fix: what to do, beginning with a verb
        :param names: in what errors that are otherwise alike differ, by its place in `what`: `{task}`, `{model}`
        """
        super().__init__(what)
        self.template = what
        for name, value in names.items():
            what = what.replace(f"{{{name}}}", value)
        self.what = what
        self.where = None if where in (None, "") else str(where)
        self.fix = fix

    def __str__(self) -> str:
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        if not self.fix:
            return text
        return f"{text} {self.fix}" if text.endswith((".", "?", "!")) else f"{text}; {self.fix}"


LISTED, NEAREST = 24, 8
"""Names that an error lists at most; of more, so many of the nearest."""


class UnknownName(BlurbError, KeyError):
    """A task, head, protocol or setting that does not exist."""

    def __init__(
        self,
        kind: str,
        name: str,
        available: Iterable[str],
        aliases: Mapping[str, str] | None = None,
        how: str = "",
        where: object = None,
    ) -> None:
        """
        :param aliases: names that people type -> the available name that they mean
        :param how: a last sentence, with a blank before it
        """
        names = list(available)
        meant = next(
            (
                known
                for typed, known in (aliases or {}).items()
                if fold_name(typed) == fold_name(name)
            ),
            "",
        )
        spelled = {fold_name(each): each for each in names}
        near = difflib.get_close_matches(
            fold_name(name), spelled, n=NEAREST, cutoff=0.0 if len(names) > LISTED else 0.5
        )
        close = difflib.get_close_matches(fold_name(name), near[:1], cutoff=0.5)
        suggested = meant or (spelled[close[0]] if close else "")
        hint = f" Did you mean '{suggested}'?" if suggested else ""
        more = f" and {len(names) - NEAREST:,} more" if len(names) > LISTED else ""
        listed = ", ".join([spelled[each] for each in near] if more else names) or "none"
        super().__init__(
            f"There is no {kind} called '{name}'.{hint} Available: {listed}{more}.{how}",
            where=where,
        )


class DataError(BlurbError):
    """A data file that is missing or invalid."""

    def __init__(
        self, what: str, path: Path | None = None, line: int | None = None, *, fix: str = ""
    ) -> None:
        super().__init__(what, where=path if line is None else f"{path}:{line}", fix=fix)
        self.path = path
        self.line = line


class ModelError(BlurbError):
    """A model reference that does not lead to a valid encoder and tokenizer."""


class SettingsError(BlurbError):
    """An invalid protocol file, option or combination of settings."""


class TrainingError(BlurbError):
    """Training that failed (the loss is not finite, out of memory)."""


class StoreError(BlurbError):
    """Results on disk that are damaged or have another schema version."""


class ErrorGroup(BlurbError):
    """Several errors of checks that do not depend on each other, as a numbered list."""

    def __init__(self, errors: Sequence[BlurbError], then: str = "") -> None:
        """
        :param then: a sentence below the list
        """
        super().__init__("")
        self.errors = tuple(errors)
        lines = [f"{number}. {error}" for number, error in enumerate(self.errors, 1)]
        text = "\n".join(line.replace("\n", "\n   ") for line in lines)
        self.what = f"{len(lines)} things are wrong; nothing was run:\n{text}" + (
            f"\n{then}" if then else ""
        )


class ErrorCollector:
    """The errors of checks that are all made, whatever the others find; each error is told once.

    A block `with errors:` ends at its first BlurbError, which is kept; what follows the block goes on. A value of the
    block is used inside it, or `errors.stop()` stands before its first use.

    :ivar errors: so far
    """

    def __init__(self) -> None:
        self.errors: list[BlurbError] = []
        self._texts: set[str] = set()

    def __enter__(self) -> None: ...

    # "bool | None", as mypy takes what returns "bool" for a block after which nothing is sure to be there.
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool | None:
        if isinstance(error, BlurbError):
            self.add(error)
            return True
        return None

    def add(self, error: BlurbError) -> None:
        """Adds an error, or those of a `ErrorGroup`, unless the same was said before."""
        new = {
            str(one): one
            for one in getattr(error, "errors", (error,))
            if str(one) not in self._texts
        }
        self.errors += new.values()
        self._texts |= new.keys()

    def stop(self, then: str = "") -> None:
        """Raises the only error as it is, or all of them as an `ErrorGroup`; does nothing if there is none.

        :param then: a sentence below a list
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise ErrorGroup(self.errors, then)


class FirstError(ErrorCollector):
    """Raises an error instead of collecting it, for readers of which only the first is asked for."""

    def add(self, error: BlurbError) -> None:
        raise error


FIRST = FirstError()


def system_message(error: OSError) -> str:
    """The system's message, about the file that was meant and not the temporary one beside it.

    >>> system_message(OSError(30, "Read-only file system", "runs/.spec.json.0123456789abcdef.tmp"))
    'runs/spec.json: Read-only file system.'
    """
    if not error.strerror or not isinstance(error.filename, str | bytes | os.PathLike):
        return str(error)
    path = Path(os.fsdecode(error.filename))
    name = TEMPORARY.sub("", path.name)
    meant = str(path.with_name(name.removeprefix(".")) if name != path.name else path)
    if error.errno == errno.ENAMETOOLONG:
        return f"{meant[:SHOWN]}... ({len(meant):,} characters): {error.strerror}. Choose a shorter name or path."
    return f"{meant}: {error.strerror}."


def safe_message(error: BaseException) -> str:
    """The message of an error without secrets; of one that is not for users, with its type."""
    return redact_secrets(
        str(error) if isinstance(error, BlurbError) else f"{type(error).__name__}: {error}"
    )


class DamageWarning(UserWarning):
    """A damaged part of a store was left out. The command line then exits with 1 or 2."""


class Notice(UserWarning):
    """A sentence for people about what a process does; the exit code stays."""


_notices: dict[Any, Any] = {}


def notify(text: str) -> None:
    """Warns with a notice, each once, of which no line of code is shown."""
    warnings.warn_explicit(Notice(text), Notice, "blurb", 0, registry=_notices)


Tell = Callable[[BlurbError], None]


def item_of(items: Mapping[str, T], name: str) -> T:
    """The entry of a dataset; without one an UnknownName, which is a KeyError, with the nearest name."""
    if name not in items:
        raise UnknownName("dataset", name, items)
    return items[name]


def tell_damage(error: BlurbError) -> None:
    """Warns about damage: what, where, and what to do."""
    warnings.warn(DamageWarning(str(error)), stacklevel=2)


def with_effect(error: BlurbError, effect: str, fix: str = "") -> StoreError:
    """An error with what follows from it.

    :param effect: a sentence without its full stop
    :param fix: of an error that has none

    >>> print(with_effect(StoreError("the file is cut", where="a.json"), "It is left out", "run the command again."))
    a.json: the file is cut. It is left out; run the command again.
    """
    fix = error.fix or fix
    return StoreError(
        f"{with_full_stop(error.what)} {effect}{'' if fix else '.'}", where=error.where, fix=fix
    )


def with_full_stop(text: str) -> str:
    """A text with a full stop."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def line_of(error: BaseException, path: Path) -> str:
    """File and line of an error in a plug-in's file: of the syntax error, or where it was raised."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f"{path}:{lines[-1]}" if lines else str(path)

"""Errors with messages for users: what happened, where, and what to do next."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

from blurb.masking import masked

P = ParamSpec("P")
T = TypeVar("T")


class BlurbError(Exception):
    """Base of all errors with a message for the user; the command line prints it and exits with code 2."""


class UnknownName(BlurbError, KeyError):
    """A task, head, protocol or setting that does not exist."""

    def __init__(
        self, kind: str, name: str, available: Iterable[str], aliases: Mapping[str, str] | None = None, how: str = ""
    ) -> None:
        """
        :param aliases: names that people type -> the available name that they mean
        :param how: a last sentence, with a blank before it
        """
        names = list(available)
        meant = (aliases or {}).get(name)
        alike = [each for each in names if each.lower() == name.lower()]  # of CRF, no letter is that of crf
        close = [meant] if meant else alike or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        super().__init__(f"There is no {kind} called '{name}'.{hint} Available: {', '.join(names) or 'none'}.{how}")

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0])


class DataError(BlurbError):
    """A data file that is missing or invalid."""

    def __init__(self, message: str, path: Path | None = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(where + message)
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


class Several(BlurbError):
    """Several errors of checks that do not depend on each other, as a numbered list."""

    def __init__(self, errors: Sequence[BlurbError], then: str = "") -> None:
        """
        :param then: a sentence below the list
        """
        lines = [f"{number}. {error}" for number, error in enumerate(errors, 1)]
        text = "\n".join(line.replace("\n", "\n   ") for line in lines)
        super().__init__(f"{len(errors)} things are wrong; nothing was run:\n{text}" + (f"\n{then}" if then else ""))
        self.errors = tuple(errors)


class Gathered:
    """The errors of checks that are all made, whatever the others find; each error is told once.

    :ivar errors: so far
    """

    def __init__(self) -> None:
        self.errors: list[BlurbError] = []

    def tried(self, check: Callable[P, T], *arguments: P.args, **more: P.kwargs) -> T | None:
        """What a check returns, or None after adding its error."""
        try:
            return check(*arguments, **more)
        except BlurbError as error:
            self.add(error)
        return None

    def add(self, error: BlurbError) -> None:
        """Adds an error, or those of a `Several`, unless the same was said before."""
        told = {str(one) for one in self.errors}
        self.errors += [one for one in getattr(error, "errors", (error,)) if str(one) not in told]

    def tell(self, then: str = "") -> None:
        """Raises the only error as it is, or all of them as `Several`; does nothing if there is none.

        :param then: a sentence below a list
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise Several(self.errors, then)


def said(error: BaseException) -> str:
    """The message of an error without secrets; of one that is not for users, with its type."""
    return masked(str(error) if isinstance(error, BlurbError) else f"{type(error).__name__}: {error}")


class DamageWarning(UserWarning):
    """A damaged part of a store was left out. The command line then exits with 1 or 2."""


class Notice(UserWarning):
    """A sentence for people about what a process does; the exit code stays."""


Tell = Callable[[str], None]


def tell_damage(text: str) -> None:
    """Warns about damage: what, where, and what to do."""
    warnings.warn(DamageWarning(text), stacklevel=2)

"""Folder names of models, and checks of names."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar
from urllib.parse import quote, unquote

from blurb.grouping import by_key
from blurb.messages import SettingsError, escape_controls, fold_name, opt

T = TypeVar("T")

HASH = re.compile(r"[0-9a-f]{16}")
"""Of a trial."""
TASK = re.compile(r"[a-z0-9][a-z0-9-]*")
LONGEST = 255
"""Maximum bytes of a folder name."""
FILES = (".csv", ".json")
"""Endings of what lies beside the folders of models."""
UNFIT = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of control characters, surrogates, line and paragraph separators."""


ESCAPES = {code: repr(chr(code))[1:-1] for code in range(32)}


def check(name: str, what: str, option: str = opt("name")) -> None:
    """Raises a SettingsError if a name cannot be stored in a table or used for a folder.

    :param what: what the name is of, as the beginning of a sentence ("The model name")
    :param option: option to choose another name
    """
    bad = next(
        (
            character
            for character in name
            if unicodedata.category(character) in UNFIT or escape_controls(character) != character
        ),
        None,
    )
    if bad is not None:
        kind = (
            "bytes that are not UTF-8"
            if unicodedata.category(bad) == "Cs"
            else f"the character U+{ord(bad):04X}"
        )
        shown = name.encode("ascii", "backslashreplace").decode().translate(ESCAPES)
        raise SettingsError(
            f"{what} ('{shown}') has {kind} in it, which is not allowed",
            fix=f"choose another with {option}.",
        )
    if escape_controls(name) != name:
        raise SettingsError(
            f"{what} ('{escape_controls(name)}') must not begin with :: or ##[",
            fix=f"choose another with {option}.",
        )
    if not name.strip():
        raise SettingsError(f"{what} is empty", fix=f"set it with {option}.")
    if len(plain(name)) > LONGEST:
        raise SettingsError(
            f"{what} ('{name[:40]}...') is too long for a folder name",
            fix=f"choose a shorter one with {option}.",
        )


def resolve_name(name: str, known: Iterable[str]) -> str:
    """The known name that a person typed in other letters; the name itself if there is none, or more than one.

    >>> resolve_name("NCBI_disease", ["gad", "ncbi-disease"]), resolve_name("Gad", ["GAD", "gad"])
    ('ncbi-disease', 'Gad')
    """
    names = set(known)
    alike = [] if name in names else [each for each in names if fold_name(each) == fold_name(name)]
    return alike[0] if len(alike) == 1 else name


def file_beside(name: str) -> str:
    """The last sentence of the error for a name that is unknown, if there is a TOML file of it here."""
    return (
        f" Write ./{name}.toml for the file of that name." if os.path.isfile(f"{name}.toml") else ""
    )


def plain(name: str) -> str:
    """A name with only ASCII letters, digits, dots, underscores and hyphens: `org/model` becomes `org-model`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


def encoded(name: str) -> str:
    """An unambiguous encoding of a name, reversed by `urllib.parse.unquote`.

    >>> encoded("org/model"), encoded("model")
    ('org%2Fmodel', '%6Dodel')
    """
    text = quote(name, safe="")
    return text if text != name else f"%{ord(name[0]):02X}{name[1:]}"


def folder(name: str, owners: Callable[[str], Collection[str]]) -> str:
    """The folder name of a model: the plain name, unless that belongs only to models of other names, or to a file.

    :param owners: the models that own a folder
    :raises SettingsError: if the folder is taken and the encoded name is too long
    """
    present = owners(plain(name))
    if not plain(name).lower().endswith(FILES) and (not present or name in present):
        return plain(name)
    if len(encoded(name)) > LONGEST:
        raise SettingsError(
            f"The folder {plain(name)} belongs to {min(present, default='a file')}",
            fix=f"choose a shorter name with {opt('name')}.",
        )
    return encoded(name)


def checkpoint(run: str, step: int) -> str:
    """The model name of a checkpoint of a run."""
    return f"{run}@{step}"


def run_and_step(name: str) -> tuple[str, int] | None:
    """The reverse of `checkpoint`; None for other names.

    >>> run_and_step("mine@5000"), run_and_step("mine"), run_and_step("org/mine@main")
    (('mine', 5000), None, None)
    """
    run, _, step = name.rpartition("@")
    return (run, int(step)) if run and re.fullmatch("[0-9]{1,15}", step) else None


def by_number(name: str) -> tuple[tuple[int, str], ...]:
    """The key that sorts names with numbers as people do.

    >>> sorted(["checkpoint-10000", "checkpoint-2000", "checkpoint-1000"], key=by_number)
    ['checkpoint-1000', 'checkpoint-2000', 'checkpoint-10000']
    """
    members = []
    for place, part in enumerate(re.split("([0-9]+)", name)):  # text and number take turns
        digits = part.lstrip("0")
        # int() refuses thousands of digits.
        members.append((len(digits), digits) if place % 2 else (0, part))
    return (*members, (0, name))


def checkpoints_by_number(given: Sequence[T]) -> list[T]:
    """Things with those whose names differ in numbers alone in the order of these numbers, at the places they have.

    A shell sorts `checkpoint-*` as text; whatever else was typed stays in the order in which it was typed.

    >>> checkpoints_by_number(["b/step-1000", "pubmedbert", "b/step-200", "a"])
    ['b/step-200', 'pubmedbert', 'b/step-1000', 'a']
    """
    alike = by_key((re.sub("[0-9]+", "0", str(each)), place) for place, each in enumerate(given))
    ordered = list(given)
    for places in alike.values():
        members = sorted((given[place] for place in places), key=lambda each: by_number(str(each)))
        for place, each in zip(places, members, strict=True):
            ordered[place] = each
    return ordered


def related(folder: str, name: str) -> bool:
    """Whether a folder may be of a model whose name begins with another one, or that one with it.

    The name of a row begins with that of its model, so these are all that a name of a row or model may be of.

    >>> related("org-model", "org/model quick"), related("org-model-2", "org/model"), related("org-other", "org/model")
    (True, True, False)
    """
    own, other = _letters_of_name(unquote(folder)), _letters_of_name(name)
    return folder == plain("") or own.startswith(other) or other.startswith(own)


def _letters_of_name(name: str) -> str:
    """The letters and digits of a name, which its folder keeps."""
    return re.sub(r"[^A-Za-z0-9]+", "", name)

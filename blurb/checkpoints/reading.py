"""Reads the (untrusted) files of a checkpoint.

Problems are reported while trials are planned, as a ModelError that names the file. Errors of the libraries that no
check foresees become a ModelError in `blame_folder`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from blurb.messages import BlurbError, ModelError
from blurb.system import signals
from blurb.system.files import read_bytes, unique_keys

ADVICE = re.compile(
    r"(?<=[.!:]) +(?=This file can|You |Please |Install |Try |Make sure|Check |If you |In order |To )"
)
"""Where a library begins to give advice, which is seldom right here."""
CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x1f\x7f]")
MOST_BYTES = 256 * 2**20
"""Maximum size of a file other than weights; files with the largest vocabularies have 40 MB."""


@contextmanager
def blame_folder(folder: Path | str, what: str) -> Iterator[None]:
    """Turns any error of a library into a ModelError that says which folder failed, where and why."""
    try:
        with signals.keep_interrupts():
            yield
    except BlurbError:
        raise
    except BaseException as error:
        # transformers, tokenizers and torch raise anything; a panic in Rust is not even an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        hint = "download the checkpoint again, or save it again with save_pretrained"
        raise ModelError(f"{what}: {reason_of(error)}", where=folder, fix=f"{hint}.") from error


def reason_of(error: BaseException) -> str:
    """The message of an error in one line, with its type if the message alone is unclear ("'vocab'")."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    if said.endswith("("):  # the printed module that is meant, over many lines
        said += f"...{lines[-1]}"
    said = ADVICE.split(CONTROL.sub("", said))[0].rstrip(".")
    bare = isinstance(
        error,
        LookupError | AttributeError | ArithmeticError | TypeError | AssertionError | MemoryError,
    )
    return f"{type(error).__name__}: {said}" if bare else said


def check_size(folder: Path, name: str) -> None:
    """Raises a ModelError if a file is far larger than any real one."""
    with suppress(OSError):  # its reader reports it
        if (size := (folder / name).stat().st_size) > MOST_BYTES:
            raise ModelError(
                f"{name} has {size:,} bytes; at most {MOST_BYTES:,} are read.", where=folder
            )


def refuse_pointer(content: bytes, folder: Path, name: str) -> None:
    """Raises a ModelError if the content of a file is a pointer of Git LFS."""
    if content.startswith(b"version https://git-lfs"):
        raise ModelError(
            f"{name} is a Git LFS pointer and not the file that it stands for",
            where=folder,
            fix="get that: git lfs pull.",
        )


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of a checkpoint.

    :raises ModelError: if the file is not valid JSON, not an object, or far larger than any real one
    """
    check_size(folder, name)
    try:
        refuse_pointer(raw := read_bytes(folder / name), folder, name)
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=unique_keys)
    except OSError as error:
        raise ModelError(f"cannot read {name}: {error.strerror}.", where=folder) from None
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{name} is not a valid JSON file: line {error.lineno}: {error.msg}.", where=folder
        ) from None
    except (ValueError, RecursionError) as error:
        # Invalid UTF-8, a number of 5,000 digits, or 100,000 brackets.
        why = "it is nested too deeply" if isinstance(error, RecursionError) else reason_of(error)
        raise ModelError(f"{name} is not a valid JSON file: {why}.", where=folder) from None
    if not isinstance(content, dict):
        raise ModelError(
            f"{name} must contain a JSON object (got {type(content).__name__}).", where=folder
        )
    return content


def shorten_value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def hide_progress() -> None:
    """Turns off the progress bars of transformers; blurb shows its own."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()


@contextmanager
def errors_alone() -> Iterator[None]:
    """Hides the warnings of transformers, as they are about intended effects."""
    from transformers.utils import logging as transformers_logging

    before = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)

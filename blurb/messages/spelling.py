"""Options as the reader of a message writes them: `--tasks gad` in a shell, `tasks="gad"` in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_python = ContextVar("python", default=False)
KEYWORDS = {
    "print": "print_script",
    "map": "names",
    "models": "models_file",
    "allow-code": "allow",
    "from": "start",
}
"""Options whose keyword has another name."""


@contextmanager
def in_python() -> Iterator[None]:
    """Messages within are for who called a function of Python."""
    token = _python.set(True)
    try:
        yield
    finally:
        _python.reset(token)


def opt(name: str, value: object = "") -> str:
    """An option in a message, with its value if there is one.

    >>> print(opt("tasks", "gad"), opt("keep-model"), opt("set", "lr=1e-5"))
    --tasks gad --keep-model --set lr=1e-5
    >>> with in_python():
    ...     print(opt("tasks", "gad"), opt("keep-model"), opt("set", "lr=1e-5"), opt("seeds", 3))
    tasks="gad" keep_model= lr=1e-5 seeds=3
    """
    text = str(value)
    if not _python.get():
        return f"--{name} {text}".rstrip()
    if name == "set":
        return text if "=" in text else f"the keyword {text}".rstrip() if text else "a keyword"
    keyword = KEYWORDS.get(name, name).replace("-", "_")
    return f"{keyword}={text if text.isdecimal() or not text else json.dumps(text, ensure_ascii=False)}"


def place_of_setting(option: str) -> str:
    """Where a setting was given: its option; in Python nothing, as what is wrong with a keyword begins with "
    "its name."""
    return "" if _python.get() else option

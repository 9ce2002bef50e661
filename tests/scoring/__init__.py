"""What the tests of scoring share: files of answers, and answers that are refused."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.messages.errors import BlurbError


def filed(path: Path, lines: Iterable[str]) -> Path:
    """A file of these lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def unscored(
    task: str | None, predictions: Any, said: str, error: type[BlurbError] = BlurbError, **more: Any
) -> None:
    """Predictions that are refused with a sentence that matches."""
    with pytest.raises(error, match=said):
        blurb.score(task, predictions, suite="demo", **more)

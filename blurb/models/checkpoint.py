"""Reads the JSON files of a checkpoint, which strangers wrote: the answer is their content or a ModelError."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from blurb.errors import ModelError


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The object in a file of a checkpoint.

    :raises ModelError: if it is no JSON, or something else than an object
    """
    try:
        content = json.loads((folder / name).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"{folder}: {name} cannot be read: {error.strerror}.") from None
    except json.JSONDecodeError as error:
        raise ModelError(f"{folder}: {name} is not a valid JSON file: line {error.lineno}: {error.msg}.") from None
    except (ValueError, RecursionError) as error:  # no UTF-8, a number of 5,000 digits, 100,000 brackets
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ModelError(f"{folder}: {name} is not a valid JSON file: {reason}.") from None
    if not isinstance(content, dict):
        raise ModelError(f"{folder}: {name} must hold a JSON object, not a {type(content).__name__}.")
    return content

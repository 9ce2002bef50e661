"""JSON files of stores and checkpoints with other values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def rewrite(path: Path, **values: Any) -> None:
    """Keeps what a file has beside these values."""
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, **values}), encoding="utf-8")

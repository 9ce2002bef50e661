"""Files of stores, checkpoints and tables, read and with other values."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes the content of a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def rewrite(path: Path, **values: Any) -> None:
    """Keeps what a file has beside these values."""
    edit(path, lambda content: content.update(values))


def csv_lines(path: Path) -> list[dict[str, str]]:
    """The lines of a table by column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_lines(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    """Writes lines, whose columns are those of the first."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)

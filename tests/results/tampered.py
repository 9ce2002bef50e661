"""Tables as they come back from other hands: cells changed, lost and added, lines doubled."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from blurb.messages.errors import DataError

CELLS = (
    "",
    "²",
    "9" * 5_000,
    "٣",
    "-1",
    "1e999",
    "nan",
    "=1",
    "'",
    '"',
    "\r",
    "\0",
    ",",
    "x",
    "é",
    "0",
    "6",
    " ",
)


def tables(text: str, count: int) -> Iterator[str]:
    """As many versions of a table, with one to three changes each; the same ones every time."""
    for number in range(count):
        chance = random.Random(number)
        lines = text.splitlines()
        for _ in range(chance.randint(1, 3)):
            _change(lines, chance)
        yield "\n".join(lines) + "\n"


def _change(lines: list[str], chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    cells = lines[place].split(",")
    cell = chance.randrange(len(cells))
    match chance.randrange(4):
        case 0:
            cells[cell] = chance.choice(CELLS)
        case 1:
            cells.pop(cell)
        case 2:
            cells.insert(cell, chance.choice(CELLS))
        case _:
            lines.insert(place, chance.choice(lines))
            return
    lines[place] = ",".join(cells)


def edited(path: Path, line: int, **cells: str) -> None:
    """Writes other cells into a line of a table without quotes; the first below the header is line 2."""
    lines = path.read_text(encoding="utf-8").splitlines()
    columns, values = lines[0].split(","), lines[line - 1].split(",")
    for column, text in cells.items():
        values[columns.index(column)] = text
    lines[line - 1] = ",".join(values)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def told(read: Callable[[Path], object], path: Path) -> str:
    """The sentence of a table that cannot be read, which begins with its name."""
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def check_any(path: Path, read: Callable[[Path], object]) -> None:
    """Three hundred tables with changed cells: each is read, or a DataError that names the file."""
    refused = []
    for text in tables(path.read_text(), 300):
        path.write_text(text, encoding="utf-8")
        try:
            read(path)
        except DataError as error:
            refused.append(str(error))
    assert {text.startswith(str(path)) for text in refused} == {True}
    assert 100 < len(refused) < 300

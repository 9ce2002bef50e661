"""Random changes of a file: of its bytes, of what its format holds, and of what kind of file it is."""

import copy
import csv
import io
import json
import os
import random
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    3,
    2**31,
    10**30,
    10**400,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\x00",
    "a\nb",
    "\x1b]0;title\x07\x1b[31m",
    "../../x",
    "/dev/zero",
    "evil.py:T",
    "evil:T",
    "evil.T",
    "٩",
    "\ud800",
    "é" * 300,
    "A" * 200_000,
    "nan",
    "1e999",
    "$(touch ran)",
    [],
    {},
    [[1]],
    {"x": {"y": 1}},
    ["a", 1, None],
    {"auto_map": {"AutoModel": "evil.T"}},
)
"""Values that stand where others should."""
KEYS = ("zz", "", "trust_remote_code", "auto_map", "\x1b[31m", "../x")
BYTES = (
    b"\xc3",
    b"\xed\xa0\x80",
    b"\n\n",
    b'"',
    b"\t\t\t",
    b"nan",
    b"1e308",
    b"-" * 9000,
    b"\0\x1b[2J\r",
    b"evil.py:T",
)
TOML = (
    "nan",
    "-inf",
    "-1",
    "0",
    "1" + "0" * 40,
    "true",
    "''",
    "[]",
    "{}",
    "[[1]]",
    "'x'",
    "'evil.py:T'",
    '"\\u001b[31m"',
    '"\\u0000"',
    "2024-01-01",
    "['a', 1]",
    "{a = {b = 1}}",
    "'../../../etc/passwd'",
    "'/dev/zero'",
    "'" + "y" * 5000 + "'",
    "07:00:00",
    "[" * 400 + "]" * 400,
    "9" * 5000,
)
KINDS = (
    "gone",
    "a folder",
    "a link to nowhere",
    "a link to itself",
    "a link out",
    "a link to a device",
    "a pipe",
    "a socket",
    "empty",
)


def of_bytes(content: bytes, rng: random.Random) -> bytes:
    """Cut, doubled, overwritten, of another encoding, nested without end, or noise."""
    first, second = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    flipped = bytearray(content)
    for _ in range(rng.choice((1, 3, 20)) if content else 0):
        flipped[rng.randrange(len(content))] = rng.randrange(256)
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: content[:first],
        lambda: content[:first] + content[second:],
        lambda: content * 2,
        lambda: bytes(flipped),
        lambda: content[:first] + rng.choice(BYTES) + content[first:],
        lambda: b"\xff\xfe" + content,
        lambda: content.decode(errors="replace").encode("utf-16"),
        lambda: rng.choice((b"", b"[" * 100_000, b'{"a":' * 50_000, b"9" * 6000)),
        lambda: rng.randbytes(rng.choice((3, 50, 5000))),
    )
    return rng.choice(changes)()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value within a JSON value; of long ones the first sixty."""
    if path:
        yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, content in list(inner)[:60]:
        yield from places(content, (*path, name))


def of_json(content: bytes, rng: random.Random) -> bytes:
    """Values replaced, keys removed, renamed and added."""
    value = json.loads(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        path = rng.choice(list(places(value)) or [()])
        inner = value
        for step in path[:-1]:
            inner = inner[step]
        if isinstance(inner, dict) and path and (chance := rng.random()) < 0.35:
            if chance < 0.2:
                removed = inner.pop(path[-1])
                if chance < 0.1:
                    inner[rng.choice(KEYS)] = removed
            else:
                inner[rng.choice(KEYS)] = rng.choice(ODD)
        elif path:
            inner[path[-1]] = (
                copy.deepcopy(rng.choice(ODD))
                if rng.random() < 0.95
                else deep(rng.choice((50, 600)))
            )
    return json.dumps(value).encode(errors="surrogatepass")


def deep(levels: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def of_csv(content: bytes, rng: random.Random) -> bytes:
    """Cells replaced, columns and lines removed, renamed, doubled."""
    lines = list(csv.reader(io.StringIO(content.decode())))
    for _ in range(rng.choice((1, 1, 2, 5))):
        line, column = rng.randrange(len(lines)), rng.randrange(len(lines[0]) or 1)
        what = rng.choice(
            ("cell",) * 6
            + ("name", "no column", "longer", "twice", "same column", "shorter", "header alone")
        )
        if what == "cell" and column < len(lines[line]):
            lines[line][column] = str(rng.choice(ODD)).encode(errors="replace").decode()
        elif what == "name" and column < len(lines[0]):
            lines[0][column] = rng.choice(("", "x", "schema", "model", "\x1b[31m"))
        elif what == "no column":
            lines = [cells[:column] + cells[column + 1 :] for cells in lines]
        elif what == "longer":
            lines[line].append("more")
        elif what == "twice":
            lines.append(list(lines[line]))
        elif what == "same column" and column < len(lines[0]):
            lines[0].append(lines[0][column])
        elif what == "shorter":
            lines[line] = lines[line][:-1]
        elif what == "header alone":
            lines = lines[:1]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode(errors="replace")


def of_text(content: bytes, rng: random.Random) -> bytes:
    """Lines removed, doubled, with other columns, turned round: of tables by tabs, and of whatever has lines."""
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 2))):
        number = rng.randrange(len(lines))
        line, cells = lines[number], lines[number].split(b"\t")
        cells[rng.randrange(len(cells))] = rng.choice(
            (*BYTES, b"", b"9" * 5000, b"x" * 100_000, b"\xe2\x80\xa8")
        )
        choices = (
            b"",
            line + b"\tmore",
            b"\t".join(line.split(b"\t")[:-1]),
            b"\t".join(cells),
            line + b"\n" + line,
            line.replace(b" ", b"\r"),
            b'"' + line,
            line[::-1],
        )
        lines[number] = rng.choice(choices)
    return b"\n".join(lines)


def of_toml(content: bytes, rng: random.Random) -> bytes:
    """Values replaced, tables renamed, lines in another order."""
    lines = content.decode().splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        number = rng.randrange(len(lines))
        key, equals, _ = lines[number].partition("=")
        lines[number] = (
            key + equals + rng.choice(TOML)
            if equals
            else rng.choice(("[x]", "[[all]]", "", "[a.b.c]", '[""]', "x=1"))
        )
    if rng.random() < 0.1:
        rng.shuffle(lines)
    return "\n".join(lines).encode()


def of_safetensors(content: bytes, rng: random.Random) -> bytes:
    """Its header, which is JSON, changed."""
    length = int.from_bytes(content[:8], "little")
    header = of_json(content[8 : 8 + length], rng)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def of_parquet(content: bytes, rng: random.Random) -> bytes:
    """A column gone, doubled, renamed, or of another type; fewer rows."""
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    name, rows = rng.choice(table.column_names), table.num_rows
    place = table.column_names.index(name)
    others: tuple[Any, ...] = (
        pyarrow.nulls(rows),
        [7] * rows,
        ["\x1b[31mevil:T"] * rows,
        [1e308] * rows,
        [float("nan")] * rows,
        [[["x"]]] * rows,
        ["train"] * rows,
        ["y" * 5000] * rows,
        [{"a": 1}] * rows,
        [b"\xff\xfe"] * rows,
        pyarrow.array(["x"] * rows).dictionary_encode(),
    )
    changes: tuple[Callable[[], pyarrow.Table], ...] = (
        lambda: table.drop_columns([name]),
        lambda: table.slice(0, rng.choice((0, 2))),
        lambda: table.append_column(name, table.column(place)),
        lambda: table.rename_columns(
            ["zz" if column == name else column for column in table.column_names]
        ),
    )
    column = pyarrow.array(other) if isinstance(other := rng.choice(others), list) else other
    changed = rng.choice((*changes, *[lambda: table.set_column(place, name, column)] * 8))()
    written = io.BytesIO()
    pyarrow.parquet.write_table(changed, written)
    return written.getvalue()


BY_SUFFIX: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".json": of_json,
    ".csv": of_csv,
    ".tsv": of_text,
    ".txt": of_text,
    ".toml": of_toml,
    ".safetensors": of_safetensors,
    ".parquet": of_parquet,
    ".jsonl": of_text,
}


def mutate(file: Path, rng: random.Random) -> str:
    """Changes a file or folder: mostly what its format holds, at times its bytes or its kind; says which."""
    chance = rng.random()
    if chance < 0.15 or not file.is_file():
        return replace(file, rng.choice(KINDS))
    content, within = file.read_bytes(), BY_SUFFIX.get(file.suffix, of_bytes)
    change = within if chance < 0.75 else of_bytes
    try:
        changed = change(content, rng)
    except ValueError:  # the file is not of its format: it is the bytes that are changed
        change, changed = of_bytes, of_bytes(content, rng)
    file.unlink()  # it may be a hard link to that of other inputs
    file.write_bytes(changed)
    return change.__name__


def replace(path: Path, kind: str) -> str:
    """Puts another kind of file in the place of one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        bound = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may have about a hundred characters
        bound.bind(path.name)
        os.chdir(here)
        bound.close()
    elif kind == "empty":
        path.touch()
    elif kind != "gone":
        path.symlink_to(
            {
                "a link to nowhere": "nowhere",
                "a link to itself": path.name,
                "a link out": "/etc/hostname",
            }.get(kind, "/dev/zero")
        )
    return kind

"""The limits of the house: length of files and functions, and names that say nothing.

`CONTRIBUTING.md` asks for a noun where a noun is meant. A local variable with one of the banned names may live for
three lines; the numbers below are how many functions of a room still have one that lives longer, and may only fall.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import blurb

ROOT = Path(blurb.__file__).parent
LONG_FILES = {
    "system/leases.py": 330,  # one protocol of files, whose steps are argued side by side
    "execution/sweeps.py": 305,  # what is written and what is read of one file
    "inputs/tokenizer.py": 305,  # one interface
}
LONG_FUNCTIONS = {"api/keywords.py: run": 80}  # its signature and docstring are the documentation
BANNED = ("found", "one", "made", "told")
LINES = 3
LONGER = {
    "analysis": 6,
    "api": 11,
    "checkpoints": 2,
    "cli": 28,
    "corpora": 5,
    "cost": 4,
    "data": 1,
    "doctor": 5,
    "execution": 19,
    "heads": 2,
    "inputs": 4,
    "leaderboard": 15,
    "learners": 8,
    "messages": 1,
    "metrics": 1,
    "names.py": 2,
    "planning": 12,
    "plots": 3,
    "protocols": 3,
    "registry.py": 1,
    "regression": 4,
    "results": 14,
    "statistics": 3,
    "store": 11,
    "system": 2,
    "tasks": 2,
    "terminal": 1,
    "training": 5,
}


def trees() -> list[tuple[str, int, ast.Module]]:
    files = sorted(ROOT.rglob("*.py"))
    texts = [(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in files]
    return [(place, len(text.splitlines()), ast.parse(text)) for place, text in texts]


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_no_file_has_more_than_300_lines() -> None:
    assert {place: lines for place, lines, _ in trees() if lines > LONG_FILES.get(place, 300)} == {}


def test_no_function_has_more_than_60_lines() -> None:
    long = {
        f"{place}: {one.name}": lines
        for place, _, tree in trees()
        for one in functions(tree)
        if (lines := (one.end_lineno or 0) - one.lineno + 1) > 60
    }
    assert {name: lines for name, lines in long.items() if lines > LONG_FUNCTIONS.get(name, 60)} == {}


def lives_longer(function: ast.FunctionDef) -> bool:
    """Whether a local with a banned name is used more than `LINES` after its first line."""
    lines: dict[str, list[int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in BANNED:
            lines.setdefault(node.id, []).append(node.lineno)
    return any(max(places) - min(places) > LINES for places in lines.values())


def test_names_that_say_nothing_become_fewer() -> None:
    counts = Counter(
        place.partition("/")[0] for place, _, tree in trees() for one in functions(tree) if lives_longer(one)
    )
    more = {room: count for room, count in counts.items() if count > int(LONGER.get(room, 0))}
    assert more == {}, "give the values that live for long a noun as name"
    fewer = {room: counts[room] for room, count in LONGER.items() if counts[room] < count}
    assert fewer == {}, "write the smaller numbers into this test"

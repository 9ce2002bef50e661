"""The limits of the house: length of files and functions, and names that say nothing.

`CONTRIBUTING.md` asks for a noun where a noun is meant.
"""

from __future__ import annotations

import ast
from pathlib import Path

import blurb

ROOT = Path(blurb.__file__).parent
LONG_FILES = {
    "system/leases.py": 330  # one protocol of files, whose steps are argued side by side
}
LONG_FUNCTIONS = {"api/keywords.py: run": 87}  # its signature and docstring are the documentation
BANNED = ("found", "one", "made", "told")
LINES = 3


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


def test_values_that_live_for_long_have_a_noun_as_name() -> None:
    """A local variable with one of the banned names may live for three lines."""
    assert [f"{place}: {one.name}" for place, _, tree in trees() for one in functions(tree) if lives_longer(one)] == []

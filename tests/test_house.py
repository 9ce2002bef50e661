"""The limits of the house: its weight, the size of files and functions, and names that say nothing.

`CONTRIBUTING.md` asks for a noun where a noun is meant.
"""

import ast
import bisect
from collections import Counter

import pytest

from benchmarks import weight

ROOT = weight.ROOT / "blurb"
FILE, FUNCTION, DENSITY = 200, 40, 10.6
"""Statements of a file and of a function, at most, and nodes of the syntax tree a statement."""
LONG_FUNCTIONS = {"cli/data/prepare.py: prepare": 41}
LIMITED = (
    "statements",
    "nodes",
    "files",
    "local_imports",
    "packed",
    "short_imported",
    "short_private",
)
BANNED = (
    "found",
    "one",
    "made",
    "told",
    "begun",
    "agreed",
    "there",
    "asked",
    "wanted",
    "mine",
    "beside",
    "sound",
    "shaped",
    "at_hand",
    "known_as",
    "of_protocol",
)
OPTIONS = {"extensions/board/cli/verify.py: verify"}
"""Commands with an option of such a name."""
STATEMENTS = 3


def trees() -> list[tuple[str, ast.Module]]:
    files = sorted(ROOT.rglob("*.py"))
    return [
        (file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8")))
        for file in files
    ]


def test_a_counted_line_bears_code() -> None:
    source = '"""Module."""\nimport os\n\n\nclass A:\n    x: int\n    """Of x."""\n\n    def f(self) -> None:\n'
    source += "        # why\n        from re import sub\n\n        print(\n            sub)  # fmt: skip\n"
    counted = weight.weigh(source)
    assert (counted.lines, counted.statements, counted.local_imports, counted.packed) == (
        5,
        6,
        1,
        1,
    )
    assert counted.imports == 2


@pytest.mark.extensions
def test_the_weight_only_goes_down() -> None:
    """`python -m benchmarks.weight --write` commits what was saved; a rise needs a reason in docs/decisions."""
    measured, allowed = weight.table(), weight.committed()
    assert measured.keys() == allowed.keys()
    heavier = {
        f"{room}, {column}": (getattr(counted, column), getattr(allowed[room], column))
        for room, counted in measured.items()
        for column in LIMITED
        if getattr(counted, column) > getattr(allowed[room], column)
    }
    assert heavier == {}
    assert measured["all"].density <= DENSITY


def test_files_and_functions_are_short() -> None:
    assert {
        place: count for place, tree in trees() if (count := weight.statements(tree)) > FILE
    } == {}
    long = {
        f"{place}: {function.name}": count
        for place, tree in trees()
        for function in weight.functions(tree)
        if (count := weight.statements(function) - 1) > FUNCTION
    }
    assert {
        name: count for name, count in long.items() if count > LONG_FUNCTIONS.get(name, FUNCTION)
    } == {}


def lives_longer(function: ast.AST) -> bool:
    """Whether a local with a banned name is used more than `STATEMENTS` after its first one."""
    starts = sorted(node.lineno for node in ast.walk(function) if isinstance(node, ast.stmt))
    lines: dict[str, list[int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in BANNED:
            lines.setdefault(node.id, []).append(bisect.bisect(starts, node.lineno))
    return any(max(places) - min(places) > STATEMENTS for places in lines.values())


def test_values_that_live_for_long_have_a_noun_as_name() -> None:
    """A local variable with one of the banned names may live for three statements."""
    assert [
        f"{place}: {one.name}"
        for place, tree in trees()
        for one in weight.functions(tree)
        if lives_longer(one) and f"{place}: {one.name}" not in OPTIONS
    ] == []


def test_no_function_has_a_name_that_says_nothing() -> None:
    assert [
        f"{place}: {each.name}"
        for place, tree in trees()
        for each in weight.functions(tree)
        if each.name in BANNED
    ] == []


def test_no_class_name_means_two_things() -> None:
    places: dict[str, list[str]] = {}
    for place, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(place)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def module_names(tree: ast.Module) -> list[str]:
    """Names that a module binds by itself, once each time; overloads and branches are left out."""
    names = [node.name for node in tree.body if isinstance(node, (*weight.FUNCTIONS, ast.ClassDef))]
    for node in tree.body:
        for target in (
            node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        ):
            names += (
                [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
                if target
                else []
            )
    return names


def test_no_module_binds_a_name_twice() -> None:
    """Where two files become one, a constant of the second would silently take the place of the first's."""
    assert {
        place: twice
        for place, tree in trees()
        if (twice := [name for name, count in Counter(module_names(tree)).items() if count > 1])
    } == {}

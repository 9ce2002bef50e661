"""No kind of learner is named outside of `blurb/learners`: what depends on a kind asks its declaration."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import blurb
from blurb.learners import PREFIX, kinds

ROOT = Path(blurb.__file__).parent
OTHER_MEANINGS = {
    "majority": (
        "store/rescore.py",
        "store/record.py",
        "store/index.py",
        "results/from_store.py",
        "execution/job.py",
        "results/results_csv.py",
        "extensions/reports/stats.py",
        "extensions/reports/cli/stats.py",
        "cli/score.py",
        "scoring/scores.py",
    ),  # of the most frequent answer
    "constant": (
        "metrics/functions/pearson.py",
        "regression/junit.py",
    ),  # whether the predictions are all alike
    "bigrams": (
        "extensions/reports/stats.py",
        "extensions/reports/cli/stats.py",
    ),  # repeated words in the data
    "probe": ("cost/budget.py",),  # a protocol
    "encoder": ("checkpoints/adapter.py",),  # a part of the name of a layer
}
"""Words that name something else, by word: the files that have them."""


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """Texts of the code with their lines; docstrings and help are aside."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    aside = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    } | {
        id(help_text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "setting"
        for help_text in node.args[2:]
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
            yield node.lineno, node.value


def named(name: str, text: str) -> bool:
    return text == name or text.partition(",")[0] == f"{PREFIX}{name}"


@pytest.mark.extensions
def test_no_kind_is_named_outside_of_its_room() -> None:
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        place = file.relative_to(ROOT).as_posix()
        if place.startswith(("learners/", "heads/")):  # a head is called bilstm, too
            continue
        for line, text in literals(file):
            found += [
                f"{place}:{line}: {text!r}"
                for name in (*kinds.names(), "")
                if named(name, text) and name + text and place not in OTHER_MEANINGS.get(name, ())
            ]
    assert found == []


def test_every_other_meaning_is_still_there() -> None:
    for word, places in OTHER_MEANINGS.items():
        for place in filter(
            lambda place: (ROOT / place).exists() or not place.startswith("extensions/"), places
        ):
            assert any(text == word for _, text in literals(ROOT / place)), (word, place)

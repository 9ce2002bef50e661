"""The room as a whole: names, worked examples, what it imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from blurb import metrics
from blurb.messages.errors import UnknownName


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_has_its_name_and_a_worked_example(name: str) -> None:
    function = metrics.get(name).function
    assert function is getattr(metrics, name)
    assert function.__doc__ is not None
    assert ">>> " in function.__doc__
    assert "Source: " in function.__doc__


def test_unknown_name_is_answered_with_the_closest() -> None:
    with pytest.raises(
        UnknownName,
        match=r"no metric called 'entity_f'\. Did you mean 'entity_f1'\? Available: accuracy, binary_f1,",
    ):
        metrics.get("entity_f")


def test_version_is_a_number() -> None:
    assert type(metrics.VERSION) is int


def test_import_is_cheap() -> None:
    heavy = "torch", "sklearn", "scipy", "pandas", "datasets", "evaluate", "seqeval"
    code = f"import sys, blurb.metrics; print([name for name in {heavy!r} if name in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.strip() == "[]"


def test_the_figure_that_counts_is_the_first() -> None:
    options = {
        "micro_f1_without": {"negative": "x"},
        "binary_f1": {"positive": "x"},
        "macro_f1": {"labels": ("x", "y")},
        "multilabel_f1": {"labels": ("x",)},
    }
    answers = {
        "entity_f1": [["B-x"]],
        "token_macro_f1": [["I-PAR"]],
        "pearson": [1.0, 2.0],
        "multilabel_f1": [["x"]],
    }
    for name in metrics.names():
        metric = metrics.get(name)
        given = answers.get(name, ["x", "y"])
        assert next(iter(metric(given, given, **options.get(name, {})))) == metric.main

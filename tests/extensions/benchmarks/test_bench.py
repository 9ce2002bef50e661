"""docs/performance.md is what its template and the committed figures give, and full sets are measured as said."""

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from benchmarks.bench import full_sets, report
from blurb import tasks
from blurb.corpora import demo
from blurb.data import read_split

DOCS = Path(__file__).parents[3] / "docs"


def figures() -> dict[str, object]:
    return json.loads((DOCS / "results" / "bench" / "bench.json").read_text(encoding="utf-8"))


def test_the_page_is_of_the_figures() -> None:
    """`python -m benchmarks.bench --report` writes it."""
    assert (DOCS / "performance.md").read_text(encoding="utf-8") == report.render(figures(), DOCS)


def test_full_sets_have_a_table_once_they_were_measured() -> None:
    one = {
        "examples": 5424,
        "padding": 0.0526,
        "tokens": 200_000,
        "training": 80.0,
        "choosing": 4.0,
        "predicting": 4.25,
    }
    machine = {**figures()["crf"]["machine"]}  # type: ignore[index]
    assert "| ncbi-disease | 5,424 | 5.3 % | 2,500 | 80.0 | 4.0 | 4.2 |" in report.render(
        {**figures(), "full": {"figures": {"ncbi-disease": one}, "machine": machine}}, DOCS
    )


@pytest.mark.costly
def test_full_sets_are_measured_whole_and_in_three_phases() -> None:
    from blurb.checkpoints import scratch

    model = scratch.build("scratch:tiny", demo.prepare())
    found = full_sets.measure(str(model), demo.prepare(), ["biosses"])["biosses"]
    assert found["examples"] == len(read_split(tasks.get("biosses"), demo.prepare(), "train"))
    assert 0 < found["padding"] < 1
    assert min(found[phase] for phase in ("training", "choosing", "predicting")) > 0

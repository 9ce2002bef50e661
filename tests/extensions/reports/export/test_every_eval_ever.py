"""Entries for Every Eval Ever. Oracles: the fields of its schema, and the means that the other formats print."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from scipy import stats

from blurb.results import from_store
from blurb.store.store import Store
from tests.extensions.reports.export.stores import bioasq, export, finish, gad

FIELDS = json.loads(Path(__file__).with_name("every_eval_ever.schema.json").read_text())
GIVEN = ("--measured-by", "A group", "--party", "third")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store(tmp_path / "runs")
    for seed in (1, 2, 3):
        finish(store, "gad", gad(), seed=seed)
    finish(store, "bioasq", bioasq(), verdict="counts only")
    return tmp_path


def entry(folder: Path, *given: str) -> dict[str, Any]:
    code, out = export("every-eval-ever", *(given or GIVEN), folder=folder)
    assert code == 0
    return json.loads(out)


def test_it_has_the_fields_of_the_published_schema(folder: Path) -> None:
    content = entry(folder)
    jsonschema.validate(content, FIELDS)
    if published := os.environ.get(
        "EVERY_EVAL_EVER_SCHEMA"
    ):  # the file itself, where somebody has it
        jsonschema.validate(content, json.loads(Path(published).read_text()))
    source = content["source_metadata"]
    assert (source["source_organization_name"], source["evaluator_relationship"]) == (
        "A group",
        "third_party",
    )
    assert (
        entry(folder, "--measured-by", "x")["source_metadata"]["evaluator_relationship"] == "other"
    )


def test_the_same_runs_are_the_same_entry(folder: Path) -> None:
    assert entry(folder) == entry(folder)


def test_figures_and_their_uncertainty(folder: Path) -> None:
    (row,) = from_store.read(Store(folder / "runs"))
    values = row.values("gad")
    gad_, bioasq_ = entry(folder)["evaluation_results"]
    score = gad_["score_details"]
    assert score["score"] == round(statistics.fmean(values), 2)
    assert (
        gad_["metric_config"]["min_score"]
        <= score["score"]
        <= gad_["metric_config"]["max_score"]
        == 100
    )
    error = stats.sem(values)
    low, high = stats.t.interval(0.95, 2, statistics.fmean(values), error)
    found = score["uncertainty"]
    assert found["standard_error"]["value"] == pytest.approx(error)
    assert (
        found["confidence_interval"]["lower"],
        found["confidence_interval"]["upper"],
    ) == pytest.approx((low, high))
    assert "uncertainty" not in bioasq_["score_details"]  # of one run
    assert bioasq_["source_data"]["additional_details"]["data_verdict"] == "counts only"

"""Model cards, read back by huggingface_hub; references, read back by a small parser."""

import json
import os
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from huggingface_hub.repocard import metadata_load
from scipy import stats

from blurb import tasks
from blurb.extensions.reports.export.formats.bibtex import key
from blurb.results import from_store
from blurb.store.store import Store
from tests.extensions.reports.export.stores import bioasq, export, finish, gad, refused
from tests.extensions.reports.export.test_tables import NAMES, fill


def scored(folder: Path, seeds: int) -> Path:
    store = Store(folder / "runs")
    for seed in range(1, seeds + 1):
        finish(store, "gad", gad(), seed=seed)
    finish(store, "bioasq", bioasq(), verdict="counts only")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return scored(tmp_path, 2)


def shown(folder: Path) -> dict[str, str]:
    """Dataset -> mean as the Markdown table has it."""
    lines = [
        line.split(" | ")
        for line in export("markdown", folder=folder).splitlines()
        if line.startswith("| ")
    ]
    return {cells[0].strip("| "): cells[1].strip("| ") for cells in lines[2:]}


def test_a_new_card(folder: Path) -> None:
    out = folder / "README.md"
    export("model-index", "--out", str(out), folder=folder)
    assert out.read_text() == export("model-index", "--dataset-id", "EMBO/BLURB", folder=folder)
    card = ModelCard.load(out)
    assert card.data.model_name == "m"
    gad_, bioasq_ = card.data.eval_results
    assert (gad_.task_type, gad_.dataset_type, gad_.dataset_config) == (
        "text-classification",
        "EMBO/BLURB",
        "gad",
    )
    assert (gad_.metric_type, f"{gad_.metric_value:.2f}") == ("f1", shown(folder)["GAD"])
    assert gad_.metric_args["seeds"] == 2
    assert gad_.metric_args["sd"] > 0
    assert gad_.dataset_args is None
    assert (bioasq_.task_type, bioasq_.metric_type) == ("question-answering", "accuracy")
    assert bioasq_.dataset_args == {"data": "counts only"}
    assert "sd" not in bioasq_.metric_args


def test_a_card_that_is_there_keeps_the_rest(folder: Path) -> None:
    out = folder / "README.md"
    out.write_bytes(
        b"---\r\nlicense: mit\r\nmodel-index:\r\n- name: old-name\r\n  results:\r\n  - task: {type: summarization}\r\n"
        b"    dataset: {type: x/y, name: Other}\r\n    metrics: [{type: rouge, value: 7.0}]\r\ntags: [bio]\r\n---\r\n"
        b"# Title\r\n\r\nText --- with dashes.\r\n"
    )
    for _ in range(2):  # ours are replaced, not added again
        export("model-index", "--out", str(out), folder=folder)
        card = ModelCard.load(out)
        assert (card.data.license, card.data.tags, card.data.model_name) == (
            "mit",
            ["bio"],
            "old-name",
        )
        assert [result.dataset_name for result in card.data.eval_results] == [
            "Other",
            "BLURB GAD",
            "BLURB BioASQ",
        ]
        assert out.read_bytes().endswith(b"# Title\r\n\r\nText --- with dashes.\r\n")


def test_a_run_has_one_card_of_its_last_checkpoint(tmp_path: Path) -> None:
    store, out = Store(tmp_path / "runs"), tmp_path / "README.md"
    finish(store, "gad", gad(), seed=1, model="mine@90")
    finish(store, "gad", gad(), seed=2, model="mine@1000")
    finish(store, "bioasq", bioasq(), model="other@7")
    assert "There are 3 such rows" in refused("model-index", "--out", str(out), folder=tmp_path)
    for _ in range(2):  # a later checkpoint replaces an earlier one
        export("model-index", "mine", "--out", str(out), folder=tmp_path)
        (result,) = ModelCard.load(out).data.eval_results
        assert (ModelCard.load(out).data.model_name, result.metric_args["step"]) == ("mine", 1000)
        finish(store, "gad", gad(), seed=3, model="mine@200")
    assert "mine@90, mine@200, mine@1000: quick" in export("latex", "mine", folder=tmp_path)


def test_another_metric_of_the_same_dataset_stays_on_the_card(folder: Path) -> None:
    out = folder / "README.md"
    export("model-index", "--out", str(out), folder=folder)
    card = ModelCard.load(out)
    first = card.data.eval_results[0]
    card.data.eval_results.append(
        replace(first, metric_type="my_metric", metric_name="Mine", metric_value=12.5)
    )
    card.save(out)
    export("model-index", "--out", str(out), folder=folder)
    found = ModelCard.load(out).data.eval_results
    assert len(found) == 3
    assert [result.metric_value for result in found if result.metric_type == "my_metric"] == [12.5]


@pytest.mark.parametrize(
    "content", ["---\n- a\n---\n", "---\na: [\n---\n", "---\nmodel-index: [{name: x}]\n---\n"]
)
def test_a_broken_card_is_left_as_it_is(folder: Path, content: str) -> None:
    out = folder / "README.md"
    out.write_text(content)
    assert "README.md" in refused("model-index", "--out", str(out), folder=folder)
    assert out.read_text() == content


@pytest.mark.costly
def test_the_score_is_on_the_card_when_all_thirteen_are_there(tmp_path: Path) -> None:
    fill(tmp_path)
    out = tmp_path / "README.md"
    export("model-index", "--out", str(out), folder=tmp_path)
    results = ModelCard.load(out).data.eval_results
    assert [result.dataset_config for result in results] == [*NAMES, "all"]
    assert f"{results[-1].metric_value:.2f}" == shown(tmp_path)["BLURB score"]
    assert metadata_load(out)["model-index"][0]["name"] == "my_model"
    export("model-index", "--tasks", "ner", "--out", str(tmp_path / "ner.md"), folder=tmp_path)
    assert len(ModelCard.load(tmp_path / "ner.md").data.eval_results) == 5


def test_eval_results(folder: Path) -> None:
    out = folder / ".eval_results"
    export("eval-results", "--dataset-id", "us/blurb", "--out", str(out), folder=folder)
    (path,) = out.iterdir()
    entries = parse_eval_result_entries(yaml.safe_load(path.read_text()))
    assert [(entry.dataset_id, entry.task_id) for entry in entries] == [
        ("us/blurb", "gad"),
        ("us/blurb", "bioasq"),
    ]
    assert f"{entries[0].value:.2f}" == shown(folder)["GAD"]
    assert entries[0].date == "2024-05-02T10:00:00Z"  # of the last seed
    assert "protocol quick lr=0.001" in entries[0].notes
    assert "seeds 2" in entries[0].notes
    assert "data counts only" in entries[1].notes


def test_eval_results_name_their_source(folder: Path) -> None:
    """The oracle is the Hub's own reader."""
    source = {"url": "https://example.org/run", "name": "Our runs", "org": "us"}
    export(
        "eval-results",
        *[word for name, value in source.items() for word in (f"--source-{name}", value)],
        "--dataset-revision",
        "abc",
        "--out",
        str(folder / "r"),
        folder=folder,
    )
    for entry in parse_eval_result_entries(
        yaml.safe_load((folder / "r" / "blurb.yaml").read_text())
    ):
        assert (entry.source_url, entry.source_name, entry.source_org) == tuple(source.values())
        assert entry.dataset_revision == "abc"
    assert "add --source-url" in refused(
        "eval-results", "--source-name", "x", "--out", str(folder / "s"), folder=folder
    )


def test_references_of_one_key_are_one_text() -> None:
    texts: dict[str, set[str]] = {}
    for task in tasks.all():
        texts.setdefault(key(task.citation), set()).add(task.citation)
    assert all(len(found) == 1 for found in texts.values())


# Entries for Every Eval Ever. Oracles: the fields of its schema, and the means that the other formats print.


FIELDS = json.loads(Path(__file__).with_name("every_eval_ever.schema.json").read_text())
GIVEN = ("--measured-by", "A group", "--party", "third")


@pytest.fixture
def three_seeds(tmp_path: Path) -> Path:
    return scored(tmp_path, 3)


def entry(folder: Path, *given: str) -> dict[str, Any]:
    out = export("every-eval-ever", *(given or GIVEN), folder=folder)
    return json.loads(out)


def test_it_has_the_fields_of_the_published_schema(three_seeds: Path) -> None:
    content = entry(three_seeds)
    jsonschema.validate(content, FIELDS)
    # The file itself, where somebody has it
    if published := os.environ.get("EVERY_EVAL_EVER_SCHEMA"):
        jsonschema.validate(content, json.loads(Path(published).read_text()))
    source = content["source_metadata"]
    assert (source["source_organization_name"], source["evaluator_relationship"]) == (
        "A group",
        "third_party",
    )
    assert (
        entry(three_seeds, "--measured-by", "x")["source_metadata"]["evaluator_relationship"]
        == "other"
    )


def test_the_same_runs_are_the_same_entry(three_seeds: Path) -> None:
    assert entry(three_seeds) == entry(three_seeds)


def test_figures_and_their_uncertainty(three_seeds: Path) -> None:
    (row,) = from_store.read(Store(three_seeds / "runs"))
    values = row.values("gad")
    gad_, bioasq_ = entry(three_seeds)["evaluation_results"]
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

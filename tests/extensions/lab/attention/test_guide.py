"""The numbers of docs/extensions/attention.md are those of the encoder and the sentence that it names."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import pictures
from blurb.extensions.lab.attention import Attention, attention, page
from blurb.extensions.reports.plots._style import digest

ROOT = Path(__file__).parents[4]
GUIDE = (ROOT / "docs" / "extensions" / "attention.md").read_text(encoding="utf-8")
RESULTS = ROOT / "docs" / "results" / "lab"
LAYER, HEAD = 3, 1


@pytest.fixture(scope="module")
def result(minilm: Path) -> Attention:
    text = re.search(r'--text "([^"]+)" \\\n', GUIDE)
    return attention(minilm, text[1], entity="gastric reflux", word="it", head="4.2")


def test_the_example_is_the_head_that_is_named(result: Attention) -> None:
    assert result.head == (LAYER, HEAD)
    assert len(result.models[0].pieces) == 21


def test_the_table_of_scores(result: Attention) -> None:
    model = result.models[0]
    scores = model.projections.scores[LAYER, HEAD, model.pieces.index("it")].astype(float)
    powers = np.exp(scores)
    rows = re.findall(
        r"^\| (\S+?)(?:,[^|]*)? \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", GUIDE, re.MULTILINE
    )
    assert len(rows) == 8
    for piece, score, power, weight in rows:
        at = model.pieces.index(piece)
        assert float(score) == pytest.approx(scores[at], abs=0.006)
        assert float(power) == pytest.approx(powers[at], rel=0.002)
        assert float(weight) == pytest.approx(powers[at] / powers.sum(), abs=0.0006)
    others = re.search(r"\| the (\d+) others \| \| ([\d.]+) \| ([\d.]+) \|", GUIDE)
    assert int(others[1]) == len(scores) - len(rows)
    assert float(others[2]) == pytest.approx(
        powers.sum() - sum(float(row[2]) for row in rows), abs=0.05
    )
    assert f"the sum is {powers.sum():.1f}" in GUIDE


def test_queries_and_keys(result: Attention) -> None:
    model = result.models[0]
    query = model.projections.queries[LAYER, HEAD, model.pieces.index("it")]
    key = model.projections.keys[LAYER, HEAD, model.pieces.index("As")]
    assert len(query) == 32
    for numbers in (query, key):
        assert ", ".join(f"{value:.2f}" for value in numbers[:4]).replace("-", "−") in GUIDE
    assert f"the sum is {query @ key:.2f}" in GUIDE


def test_the_numbers_of_words_and_special_tokens(result: Attention) -> None:
    model, words = result.models[0], result.words
    weights = result.weights[LAYER, HEAD]
    assert f"their sum, {weights[words.index('it'), words.index('Aspirin')]:.3f}" in GUIDE
    assert f"their mean, {weights[words.index('gastric'), words.index('fever')]:.4f}" in GUIDE
    assert f"{model.mean_special.mean():.0%} of all weights".replace("%", " %") in GUIDE
    layer, head = np.unravel_index(model.mean_special.argmax(), model.mean_special.shape)
    assert (
        f"{model.mean_special.max():.0%} in head {layer + 1}.{head + 1}".replace("%", " %") in GUIDE
    )
    before = result.weights[0, 2]
    assert all(
        before[row, row - 1] > 0.45 for row in range(1, len(words)) if row != words.index("gastric")
    )


def sample() -> str:
    return (RESULTS / "attention.html").read_text(encoding="utf-8")


def committed() -> dict[str, Any]:
    """What the script of the committed page reads."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', sample(), re.DOTALL
    )
    return json.loads(found[1])


def test_the_page_beside_it_is_of_this_version() -> None:
    assert len(sample()) < 1_000_000
    templates = ROOT / "blurb" / "extensions" / "lab" / "attention" / "templates"
    for name in ("attention.js", "scores.js", "attention.css"):
        assert (templates / name).read_text(encoding="utf-8") in sample()


def test_the_page_beside_it_is_of_this_encoder(result: Attention) -> None:
    """All is equal but for the last step of a weight, which another processor may round otherwise."""
    there, now = committed(), page.data(result)
    (model,), (other,) = there.pop("models"), now.pop("models")
    now["entity"] = list(now["entity"])
    assert there == now
    weights = [
        np.frombuffer(base64.b64decode(each["weights"]), np.uint8).astype(int)
        for each in (model, other)
    ]
    assert np.abs(weights[0] - weights[1]).max() <= 1
    assert model["name"] == "all-MiniLM-L6-v2"
    for name in ("layers", "heads", "rows", "columns", "before", "size", "pooling"):
        assert model[name] == other[name]


def test_the_picture_beside_it_is_of_the_page() -> None:
    (model,), head = committed()["models"], committed()["head"]
    figures = [[[model["name"], *model["columns"], model["weights"]]], head]
    assert pictures.stamped(RESULTS / "attention.png") == digest(figures)

"""The page and the picture: what is in them, how large they are, and the command that makes them."""

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blurb.extensions.lab.attention import Attention, ModelWeights, attention
from blurb.extensions.lab.attention.page import MOST_WORDS, STEPS, data, render
from blurb.extensions.lab.attention.weights import Projections
from blurb.messages.errors import DataError, SettingsError
from tests.cli.in_process import run
from tests.conftest import Builder

TEXT = "Aspirin lowered the fever, but two patients who took it developed gastric reflux."
HOSTILE = "</script><script>document.title='owned'</script><!--<img src=x onerror=alert(1)>"


def drawn(layers: int, heads: int, words: int, size: int = 64) -> Attention:
    """Random weights of an encoder of that size on a text of that many words of two sub-tokens."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.full(words + 2, 0.1), (layers, heads, words + 2)).astype(np.float32)
    vectors = rng.normal(size=(2, layers, heads, 2 * words + 2, size)).astype(np.float32)
    text = " ".join(["word"] * words)
    columns = ("[CLS]", *text.split(), "[SEP]")
    owners = (0, *(1 + at // 2 for at in range(2 * words)), words + 1)
    pieces = ("[CLS]", *("wo", "rd") * words, "[SEP]")
    model = ModelWeights(
        "m", columns, 1, words, matrix, False, pieces, owners, Projections(*vectors)
    )
    return Attention(
        text, tuple((5 * at, 5 * at + 4) for at in range(words)), (model,), (1, 2), 0, (0, 0), ()
    )


def content(page: str) -> dict[str, Any]:
    """The data of a page."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(match[1])


def test_weights_are_read_back_from_the_page(checkpoint: Builder) -> None:
    result = attention(checkpoint("bert_uncased"), TEXT)
    (model,) = content(render(result))["models"]
    stored = np.frombuffer(base64.b64decode(model["weights"]), dtype=np.uint8).reshape(
        result.models[0].matrix.shape
    )
    np.testing.assert_allclose((stored / STEPS) ** 2, result.models[0].matrix, atol=0.004)


def test_scores_are_read_back_from_the_page(checkpoint: Builder) -> None:
    result = attention(checkpoint("bert_uncased"), TEXT, word="reflux")
    projections = result.models[0].projections
    stored = content(render(result))["models"][0]["scores"]
    steps = np.array(stored["scores_step"]).reshape(2, 2, 1, 1)
    scores = np.frombuffer(base64.b64decode(stored["scores"]), dtype="<i2").reshape(
        2, 2, len(stored["mine"]), -1
    )
    np.testing.assert_allclose(
        scores * steps, projections.scores[:, :, stored["mine"]], rtol=1e-3, atol=1e-4
    )
    steps = np.array(stored["keys_step"]).reshape(2, 2, 1, 1)
    keys = np.frombuffer(base64.b64decode(stored["keys"]), dtype=np.int8).reshape(
        projections.keys.shape
    )
    np.testing.assert_allclose(
        keys * steps, projections.keys, atol=np.abs(projections.keys).max() / 127
    )


def test_the_page_of_a_sentence_is_below_a_megabyte() -> None:
    """A 12 x 12 encoder with vectors of 64 numbers, thirty words of two sub-tokens each."""
    assert len(render(drawn(12, 12, 30)).encode()) < 1_000_000
    assert "left_out" in data(drawn(12, 12, 30))["models"][0]["scores"]
    assert "keys" in data(drawn(12, 12, 8))["models"][0]["scores"]


def test_words_are_inert(checkpoint: Builder) -> None:
    page = render(attention(checkpoint("bert_uncased"), f"Fever {HOSTILE}", entity="Fever"))
    assert HOSTILE not in page
    assert page.count("</script>") == 2  # of the data, and of the script
    assert "<img" not in page
    assert "<!--" not in page


def test_a_page_asks_for_nothing(checkpoint: Builder) -> None:
    page = render(attention(checkpoint("bert_uncased"), TEXT))
    assert "default-src 'none'" in page
    # A name, which is not fetched
    assert re.findall(r"https?://[^\"]+", page) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"<(?:link|img|iframe)[^>]*>", page) == ['<link rel="icon" href="data:,">']


def test_a_notebook_shows_the_page(checkpoint: Builder) -> None:
    shown = attention(checkpoint("bert_uncased"), TEXT)._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html')
    assert 'sandbox="allow-scripts"' in shown


def test_too_many_words_for_a_picture(tmp_path: Path) -> None:
    result = drawn(1, 1, MOST_WORDS + 1, 4)
    for write in (result.html, result.plot):
        with pytest.raises(
            SettingsError, match=rf"at most {MOST_WORDS} words \(got {MOST_WORDS + 1}\)"
        ):
            write(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    result = drawn(3, 4, 9, 4)
    row = replace(result.models[0], matrix=result.models[0].matrix[:1, :1, :1], is_pooling=True)
    for name, shown in {
        "encoder": result,
        "both": replace(result, models=(*result.models, row)),
    }.items():
        shown.plot(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        shown.plot(tmp_path / f"{name}.svg")
        once = (tmp_path / f"{name}.svg").read_bytes()
        shown.plot(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_bytes() == once
    with pytest.raises(SettingsError, match=r"must end in .png, .svg, .pdf"):
        result.plot(tmp_path / "a.jpg")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        result.plot(tmp_path / "file" / "a.png")


def test_the_command(checkpoint: Builder, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    models = [str(checkpoint(kind)) for kind in ("bert_uncased", "deberta")]
    files = ["--out", str(tmp_path / "a.html"), "--plot", str(tmp_path / "a.png")]
    done = run("attention", *models, "--text", TEXT, "--entity", "gastric reflux", *files)
    assert (done.exit_code, "'eager'" in done.stderr) == (0, True)
    assert "bert_uncased: 2 layers of 2 heads; of a word's weights [CLS], [SEP] get" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.png"]
    assert len(content((tmp_path / "a.html").read_text(encoding="utf-8"))["models"]) == 2


def test_a_wrong_picture_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    options = ["--text", TEXT, "--out", str(page), "--plot", "a.jpg"]
    done = run("attention", "no-such-model", *options)
    assert isinstance(done.exception, SettingsError | SystemExit)
    assert "a.jpg" in str(done.exception) + done.output
    assert not page.exists()

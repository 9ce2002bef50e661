"""What the doctor finds in checkpoints."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from blurb.checkpoints import architecture, loading
from blurb.doctor import examine
from tests.conftest import Builder
from tests.rewriting import rewrite


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "deberta"])
def test_nothing_is_wrong_with_a_whole_one(checkpoint: Builder, kind: str) -> None:
    report = examine(checkpoint(kind))
    assert (report.kind, report.problems) == ("checkpoint", [])
    assert report.facts["parameters"] > 1_000


def _weights(folder: Path) -> tuple[str, str]:
    (folder / "model.safetensors").unlink()
    return "no weights", "save_pretrained"


def _cut(folder: Path) -> tuple[str, str]:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1_000])
    return "model.safetensors", "Download the checkpoint again"


def _tokenizer(folder: Path) -> tuple[str, str]:
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "vocab.txt").unlink(missing_ok=True)
    return "no tokenizer", "tokenizer.save_pretrained"


def _segments(folder: Path) -> tuple[str, str]:
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("token_type_embeddings.weight"))
    save_file(
        {**weights, name: weights[name][:1].clone()}, folder / "model.safetensors", {"format": "pt"}
    )
    rewrite(folder / "config.json", type_vocab_size=1)
    return (
        "numbers 2 segments of a pair of texts, but the encoder has embeddings for 1 only",
        "model_input_names",
    )


def _nan(folder: Path) -> tuple[str, str]:
    weights = load_file(folder / "model.safetensors")
    weights[next(name for name in weights if "attention" in name)][0] = torch.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return "NaN or infinite", "earlier one"


def _vocabulary(folder: Path) -> tuple[str, str]:
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("word_embeddings.weight"))
    rows = len(weights[name]) - 9
    save_file(
        {**weights, name: weights[name][:rows].clone()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    rewrite(folder / "config.json", vocab_size=rows)
    return f"the encoder has only {rows} embeddings", "save_pretrained"


@pytest.mark.parametrize(("kind", "count"), [("bert_uncased", 0), ("roberta", 1)])
def test_texts_that_sentence_transformers_would_lower_case(
    checkpoint: Builder, tmp_path: Path, kind: str, count: int
) -> None:
    folder = Path(shutil.copytree(checkpoint(kind), tmp_path / "mine"))
    (folder / "sentence_bert_config.json").write_text('{"do_lower_case": true}')
    problems = examine(folder).problems
    assert ["lower-cases each text" in problem.what for problem in problems] == [True] * count


WRITTEN: dict[str, tuple[str, str | dict[str, Any], str, str]] = {
    "ids": (
        "added_tokens.json",
        '{"x": -1}',
        "must be a whole number from 0",
        "tokenizer.save_pretrained",
    ),
    "casing": (
        "tokenizer_config.json",
        {"do_lower_case": False},
        "words with capitals are unknown",
        '"do_lower_case": true',
    ),
    "config": (
        "config.json",
        {"hidden_size": 0},
        "hidden_size must be at least 1 and at most 1,000,000 (got 0)",
        "save the model again",
    ),
    "quantised": (
        "config.json",
        {"quantization_config": {"bits": 4}},
        "but blurb trains float32",
        "Dequantise them.",
    ),
    "family": (
        "config.json",
        {"architectures": ["RobertaForMaskedLM"]},
        "loaded as bert, the type in config.json, but its architectures are of type roberta",
        '"model_type": "roberta"',
    ),
    "json": ("config.json", "{", "not a valid JSON file", "save_pretrained"),
    "adapter": (
        "adapter_config.json",
        '{"base_model_name_or_path": "org/base"}',
        "lies beside whole weights",
        "remove adapter_config.json",
    ),
}
"""What is wrong -> the file, what it says (or what of it changes), and what is told of it."""
MADE = {
    made.__name__[1:]: made for made in (_weights, _cut, _tokenizer, _segments, _nan, _vocabulary)
}


def broken(folder: Path, name: str) -> tuple[str, str]:
    if name in MADE:
        return MADE[name](folder)
    file, content, what, fix = WRITTEN[name]
    if isinstance(content, dict):
        rewrite(folder / file, **content)
    else:
        (folder / file).write_text(content)
    return what, fix


@pytest.mark.parametrize("name", [*MADE, *WRITTEN])
def test_one_thing_is_wrong(copy: Path, name: str) -> None:
    what, fix = broken(copy, name)
    (problem,) = examine(copy).problems
    assert what in f"{problem.where} {problem.what}"
    assert fix in problem.fix
    assert problem.where.startswith(str(copy))


def test_several_at_once(copy: Path) -> None:
    told = [broken(copy, name)[0] for name in ("cut", "ids", "config", "quantised")]
    found = [f"{problem.where} {problem.what}" for problem in examine(copy).problems]
    assert len(found) == len(told)
    assert all(any(what in one for one in found) for what in told)


@pytest.mark.costly
@pytest.mark.parametrize("breaks", [None, _vocabulary], ids=["alone", "with another vocabulary"])
def test_what_the_weights_do_not_fill_is_neither_run_nor_built(
    copy: Path, monkeypatch: pytest.MonkeyPatch, breaks: Callable[[Path], tuple[str, str]] | None
) -> None:
    """499 layers that config.json alone has took half a minute and 2 GB: a pass through all, and all made at random."""
    rewrite(copy / "config.json", num_hidden_layers=499, max_position_embeddings=9_999_999)
    told = breaks(copy)[0] if breaks else "parameters, but the weights are"
    for module, name in ((architecture, "check_vector_count"), (loading, "_check_finite")):
        monkeypatch.setattr(module, name, lambda *_, name=name: pytest.fail(name))
    found = [f"{problem.where} {problem.what}" for problem in examine(copy).problems]
    assert len(found) == (2 if breaks else 1)
    assert told in found[0]
    assert "of 324," in found[-1]


def test_a_folder_of_checkpoints(copy: Path) -> None:
    (problem,) = [one for one in examine(copy.parent).problems if "subfolders" in one.what]
    assert "mine" in problem.what


def test_code_of_a_checkpoint_is_never_run(copy: Path, tmp_path: Path) -> None:
    (copy / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    rewrite(
        copy / "config.json",
        model_type="mine",
        auto_map={"AutoConfig": "mine.X", "AutoModel": "mine.Y"},
    )
    assert examine(copy).problems
    assert not (tmp_path / "ran").exists()

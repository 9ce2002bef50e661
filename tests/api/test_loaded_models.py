"""Models that the caller has loaded, and tokenizers from elsewhere."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import blurb
from blurb.checkpoints import staged_checkpoint
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError, SettingsError
from tests.conftest import Builder

FEW = {
    "suite": "demo",
    "protocol": "smoke",
    "tasks": "biosses",
    "leaderboard": None,
    "progress": False,
    "device": "cpu",
}


def loaded(folder: Path, kind: str = "AutoModel", **options: Any) -> tuple[Any, Any]:
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.costly
def test_a_loaded_model_scores_what_its_folder_does(checkpoint: Builder, tmp_path: Path) -> None:
    folder = checkpoint("bert_uncased")
    model, tokenizer = loaded(folder)
    model.train()
    before = (
        copy.deepcopy(model.state_dict()),
        copy.deepcopy(model.config.to_dict()),
        model.training,
    )
    ours = blurb.run(model, tokenizer=tokenizer, name="mine", output=tmp_path / "a", **FEW)
    theirs = blurb.run(folder, name="mine", output=tmp_path / "b", **FEW)
    assert ours.rows[0].values("biosses") == theirs.rows[0].values("biosses")
    assert not ours.failed
    (record,) = ours.rows[0].records_of("biosses").values()
    assert record.provenance.revision == "in memory"
    after = model.state_dict(), model.config.to_dict(), model.training
    assert after[1:] == before[1:]
    assert all((after[0][name] == value).all() for name, value in before[0].items())


def test_a_loaded_model_is_saved_once(checkpoint: Builder) -> None:
    model, tokenizer = loaded(checkpoint("bert_uncased"))
    first = staged_checkpoint.of_loaded(model, tokenizer)
    made = (first / "model.safetensors").stat().st_mtime_ns
    assert staged_checkpoint.of_loaded(model, tokenizer) == first
    assert (first / "model.safetensors").stat().st_mtime_ns == made
    assert not [path for path in first.parent.iterdir() if path.name.startswith(".")]
    with_head, _ = loaded(checkpoint("bert_uncased"), "AutoModelForSequenceClassification")
    with_head.base_model.load_state_dict(model.state_dict(), strict=False)
    assert (staged_checkpoint.of_loaded(with_head, tokenizer) / "config.json").is_file()


def test_half_precision_stays_what_it_is(checkpoint: Builder) -> None:
    import torch
    from safetensors import safe_open

    model, tokenizer = loaded(checkpoint("bert_uncased"), dtype=torch.bfloat16)
    folder = staged_checkpoint.of_loaded(model, tokenizer)
    with safe_open(folder / "model.safetensors", "pt") as file:
        names = file.keys()
        assert {file.get_tensor(name).dtype for name in names} == {torch.bfloat16}


def test_models_that_cannot_be_used_are_named(checkpoint: Builder, tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    folder = checkpoint("bert_uncased")
    model, tokenizer = loaded(folder)
    with pytest.raises(ModelError, match="tokenizer="):
        blurb.run(model, output=tmp_path / "runs", **FEW)
    with pytest.raises(ModelError, match="got Linear"):
        blurb.run(torch.nn.Linear(2, 2), tokenizer=tokenizer, output=tmp_path / "runs", **FEW)
    with torch.device("meta"):
        empty = AutoModel.from_config(AutoConfig.from_pretrained(folder))
    with pytest.raises(ModelError, match="meta"):
        blurb.run(empty, tokenizer=tokenizer, output=tmp_path / "runs", **FEW)
    model.config.quantization_config = {"load_in_8bit": True}
    with pytest.raises(ModelError, match="quantised"):
        blurb.run(model, tokenizer=tokenizer, output=tmp_path / "runs", **FEW)
    del model.config.quantization_config
    tokenizer.add_tokens([f"[more{number}]" for number in range(9)])
    with pytest.raises(ModelError, match="tokenizer has"):
        blurb.run(model, tokenizer=tokenizer, output=tmp_path / "runs", **FEW)
    assert not (tmp_path / "runs").exists()


def test_the_tokenizer_of_another_folder(checkpoint: Builder, tmp_path: Path) -> None:
    """A checkpoint without its tokenizer, given that of its twin, is the twin."""
    twin = checkpoint("bert_uncased")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((twin / name).read_bytes())
    with pytest.raises(ModelError, match="--tokenizer"):
        resolve_model(str(bare))
    ours, theirs = resolve_model(str(bare), tokenizer=str(twin)), resolve_model(str(twin))
    assert (ours.weights, ours.tokenizer, ours.name) == (theirs.weights, theirs.tokenizer, "bare")
    with pytest.raises(ModelError, match="does not exist"):
        resolve_model(str(bare), tokenizer=str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match="tokenizer="):
        blurb.run("baseline:majority", tokenizer=str(twin), output=tmp_path / "runs", **FEW)

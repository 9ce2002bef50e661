"""Checkpoints to continue from, of other architectures than BERT."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import DistilBertConfig, DistilBertForMaskedLM

from blurb.extensions.lab.pretraining import pretrain as pretraining, request, trainer
from blurb.extensions.lab.pretraining.pretrain import PLAN, pretrain
from blurb.extensions.lab.pretraining.recipe import VERSION, Recipe
from blurb.extensions.lab.pretraining.request import PretrainingCorpus
from blurb.extensions.lab.study import parts, spec
from blurb.messages.errors import BlurbError, DataError, ModelError, Notice, SettingsError
from blurb.system.files import damaged_files, seal_folder
from tests.checkpoints.kinds import bert_tokenizer, bert_uncased, modernbert, roberta, save
from tests.conftest import ROOT
from tests.extensions.lab.conftest import SMALL
from tests.rewriting import edit

CONTINUED = replace(SMALL, size="", vocabulary=0)


def distilbert(folder: Path) -> None:
    tokenizer = bert_tokenizer(lowercase=True)
    save(tokenizer, DistilBertForMaskedLM(DistilBertConfig(vocab_size=len(tokenizer), dim=32, hidden_dim=64,
                                                           n_layers=2, n_heads=2)), folder)  # fmt: skip


@pytest.mark.parametrize("kind", [bert_uncased, roberta, modernbert, distilbert])
def test_the_weights_are_those_of_the_checkpoint_and_nothing_is_dropped(
    tmp_path: Path, kind: Callable[[Path], None]
) -> None:
    kind(tmp_path)
    model, _ = pretraining.continued(str(tmp_path), replace(CONTINUED, start=str(tmp_path)))
    name, embedding = next((name, each) for name, each in load_file(tmp_path / "model.safetensors").items()
                           if name.endswith(("word_embeddings.weight", "tok_embeddings.weight")))  # fmt: skip
    assert torch.equal(dict(model.named_parameters())[name], embedding)
    inputs = {
        "input_ids": torch.arange(5, 25).reshape(1, 20),
        "attention_mask": torch.ones(1, 20, dtype=torch.long),
    }
    model.train()
    assert torch.equal(*(model(**inputs).logits for _ in range(2)))


def test_only_bert_learns_pairs_of_texts(tmp_path: Path) -> None:
    """Its class would draw the encoder of another architecture anew."""
    roberta(tmp_path)
    with pytest.raises(ModelError, match="is of type roberta, and only BERT learns pairs of texts"):
        pretraining.continued(
            str(tmp_path), replace(CONTINUED, start=str(tmp_path), next_sentence=True)
        )


@pytest.mark.parametrize(
    ("name", "value"), [("size", "mini"), ("vocabulary", 500), ("cased", True), ("kind", "bpe")]
)
def test_a_checkpoint_to_continue_from_has_its_own_size_and_vocabulary(
    name: str, value: object
) -> None:
    with pytest.raises(BlurbError, match=f"{name} is of a new encoder"):
        request.recipe({"start": "somewhere", name: value})
    assert request.recipe({"start": "somewhere"}) == Recipe(
        size="", vocabulary=0, start="somewhere"
    )


@pytest.mark.costly
def test_bits_per_byte_are_measured_in_fp32_whatever_it_was_trained_in(
    tmp_path: Path, corpus: PretrainingCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Trainer leaves its autocast in the encoder. The card says which checkpoint it began with."""
    roberta(tmp_path / "general")
    out, seen = tmp_path / "out", set()
    recipe = request.recipe(
        {"start": str(tmp_path / "general"), "length": 32, "batch": 8, "words": 1_000}
    )
    out.mkdir()
    (out / "recipe.json").write_text(
        json.dumps({"hash": recipe.hash(corpus.hash), "precision": "bf16"})
    )
    measure = trainer.measure

    def watched(model: torch.nn.Module, *given: object) -> object:
        for layer in model.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.register_forward_hook(lambda layer, inputs, output: seen.add(output.dtype))
        return measure(model, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(trainer, "measure", watched)
    about = json.loads(
        (
            pretrain(out, corpus, recipe, {"source": "x"}, progress=False) / "pretraining.json"
        ).read_text()
    )
    assert seen == {torch.float32}
    assert about["precision"] == "bf16"
    assert len(about["start"]) >= 16


def test_nothing_goes_on_from_a_checkpoint_without_moments(tmp_path: Path) -> None:
    """Those that stay have none; the Trainer would begin its schedule anew with their weights, and say nothing."""
    for step, names in (
        (5, ("model", "scheduler.pt")),
        (10, ("model", "scheduler.pt", "optimizer.pt")),
    ):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        for name in names:
            (folder / name).write_text(str(step))
        seal_folder(folder)
    assert trainer.last_complete(tmp_path) == tmp_path / "checkpoint-10"
    (tmp_path / "checkpoint-10" / "model").write_text("damaged")
    with pytest.warns(Notice, match="the pretraining starts anew"):
        assert trainer.last_complete(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint-5"]


def test_the_trial_of_hours_has_the_mean_of_a_rising_mask_rate(
    corpus: PretrainingCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = []

    def loss(model: torch.nn.Module, inputs: dict[str, torch.Tensor], bf16: bool) -> torch.Tensor:
        rates.append(float((inputs["labels"] >= 0).float().mean()))
        return next(model.parameters()).sum()

    monkeypatch.setattr(trainer, "loss", loss)
    monkeypatch.setattr(pretraining, "WARM_UP", 0.0)
    monkeypatch.setattr(pretraining, "SECONDS", 0.3)
    pretraining.words_per_second(corpus, replace(SMALL, mask_rate=0.25, rising=True))
    assert np.mean(rates) == pytest.approx(0.15, abs=0.02)


def test_a_later_save_neither_hides_a_damage_nor_reads_the_other_checkpoints(
    tmp_path: Path,
) -> None:
    saving = trainer._Saving(100, 0, lambda model: 1.0, 0.0)

    def save(step: int) -> None:
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        for name in ("model.safetensors", *trainer.MOMENTS):
            (folder / name).write_bytes(b"whole")
        saving.on_save(
            SimpleNamespace(output_dir=str(tmp_path)), SimpleNamespace(global_step=step), None
        )

    for step in (1, 2):
        save(step)
    assert not (tmp_path / "checkpoint-1" / "optimizer.pt").exists()
    assert damaged_files(tmp_path / "checkpoint-1") == []
    (tmp_path / "checkpoint-1" / "model.safetensors").write_bytes(b"cut")
    save(5)
    assert damaged_files(tmp_path / "checkpoint-1") == ["model.safetensors"]
    assert [damaged_files(tmp_path / f"checkpoint-{step}") for step in (2, 5)] == [[], []]


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"seed": -1}, "seed must be at least 0"), ({"weight_decay": -1.0}, "decay")],
)
def test_what_no_training_can_do_is_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Recipe(**changed).check()


# What began with a version of pretraining keeps it. The oracle is the committed study, which was made by version 1.


COMMITTED = ROOT / "docs" / "results" / "lab" / "vocabulary-and-masking"


def test_a_study_keeps_the_version_of_its_parts(tmp_path: Path) -> None:
    study = spec.read("vocabulary-and-masking")
    assert {variant.recipe.version for variant in parts.start_study(study, tmp_path).variants} == {
        VERSION
    }
    begun = parts.start_study(study, COMMITTED)
    assert {variant.recipe.version for variant in begun.variants} == {1}
    assert all(parts.is_done(COMMITTED, begun, variant, 1) for variant in begun.variants)
    with pytest.raises(DataError, match="made with another version"):
        parts.check(COMMITTED, study.variants[0], 1)


def test_parts_of_two_versions_are_not_mixed(tmp_path: Path) -> None:
    study = spec.read("vocabulary-and-masking")
    for name in ("own-whole-word-1", "own-whole-word-2"):
        (tmp_path / "parts" / name).mkdir(parents=True)
        shutil.copy(COMMITTED / "parts" / name / "pretraining.json", tmp_path / "parts" / name)
    edit(
        tmp_path / "parts" / "own-whole-word-2" / "pretraining.json",
        lambda about: about["recipe"].update(version=2),
    )
    with pytest.raises(DataError, match="versions 1 and 2 of pretraining"):
        parts.start_study(study, tmp_path)


def test_a_part_that_a_kill_left_decides_as_well(tmp_path: Path) -> None:
    work = tmp_path / "work" / "own-whole-word-1" / "pretrained"
    work.mkdir(parents=True)
    (work / PLAN).write_text(json.dumps({"hash": "x", "recipe": {"words": 77}}))
    begun = parts.start_study(spec.read("vocabulary-and-masking"), tmp_path)
    assert {variant.recipe.version for variant in begun.variants} == {1}


@pytest.mark.costly
def test_a_run_keeps_the_version_that_it_began_with(
    tmp_path: Path, corpus: PretrainingCorpus
) -> None:
    asked = replace(SMALL, words=600, whole_word=True)
    first = replace(asked, version=1)
    old = {name: value for name, value in asdict(first).items() if name != "version"}
    (tmp_path / "old").mkdir()
    plan = {"hash": first.hash(corpus.hash), "recipe": old, "precision": "fp32"}
    (tmp_path / "old" / PLAN).write_text(json.dumps(plan))
    folders = [
        pretrain(tmp_path / name, corpus, asked, {"source": "x"}, progress=False)
        for name in ("old", "new")
    ]
    made = [json.loads((folder / "pretraining.json").read_text()) for folder in folders]
    assert [each["recipe"]["version"] for each in made] == [1, VERSION]
    assert made[0]["hash"] == plan["hash"] != made[1]["hash"]
    with pytest.raises(BlurbError, match="of another recipe"):
        pretrain(tmp_path / "old", corpus, replace(asked, seed=5), {"source": "x"}, progress=False)


def test_without_accelerate_it_says_so_before_it_writes(
    tmp_path: Path, corpus: PretrainingCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretraining, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="pip install accelerate"):
        pretrain(tmp_path / "out", corpus, SMALL, {"source": "x"}, progress=False)
    assert list(tmp_path.iterdir()) == []

"""Weights that nothing uses: those of heads, poolers and old buffers may be there, those inside the encoder may not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from blurb.checkpoints import Checkpoint
from blurb.learners.building import resolve_model
from blurb.messages.errors import ModelError
from tests import checkpoints
from tests.checkpoints import reweigh
from tests.conftest import Builder
from tests.rewriting import rewrite

KINDS = [*checkpoints.KINDS, *checkpoints.FAMILIES]
OLD = (
    "position_ids",
    "token_type_ids",
    "inv_freq",
    "rotary_emb.inv_freq",
    "attn.bias",
    "attn.masked_bias",
)
"""Buffers of older releases."""
HEADS = (
    "cls.predictions.bias",
    "lm_head.weight",
    "classifier.dense.weight",
    "pooler.dense.extra",
    "qa_outputs.weight",
)


@pytest.fixture
def with_weights(checkpoint: Builder, tmp_path: Path) -> Callable[..., Path]:
    """Copies a kind of checkpoint with more weights, named below a module of the encoder or at the top."""

    def build(kind: str, *names: str, binary: bool = False) -> Path:
        folder = Path(shutil.copytree(checkpoint(kind), tmp_path / kind))
        reweigh(
            folder / "model.safetensors",
            lambda state: state | {name: torch.ones(3) for name in names},
        )
        if binary:
            torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
            (folder / "model.safetensors").unlink()
        return folder

    return build


def _module(folder: Path) -> str:
    """The name of a module within the layers, as the file of the checkpoint has it."""
    model = AutoModel.from_pretrained(folder)
    named = [
        name for name in load_file(folder / "model.safetensors") if ".0." in name or ".1." in name
    ]
    inside = [
        name
        for name in named
        if name.removeprefix(f"{model.base_model_prefix}.").split(".")[0] != "decoder"
    ]
    return inside[0].rpartition(".")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_heads_and_old_buffers_may_be_there(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str
) -> None:
    inside = _module(checkpoint(kind))
    folder = with_weights(kind, *HEADS, *(f"{inside}.{name}" for name in OLD))
    Checkpoint(folder).check_filled()
    Checkpoint(folder).load_encoder()


@pytest.mark.parametrize(
    "name", ["distance_embedding.weight", "self.extra", "attn.bias.weight", "lora_A.default.weight"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_others_inside_the_encoder_are_refused(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str, name: str
) -> None:
    whole = f"{_module(checkpoint(kind))}.{name}"
    folder = with_weights(kind, whole)
    with pytest.raises(
        ModelError,
        match=rf"of the weights inside the encoder's own modules are not used .*\.{name}",
    ):
        resolve_model(str(folder))


def test_relative_positions_of_bert(with_weights: Callable[..., Path]) -> None:
    """transformers 5 has no relative positions for BERT, and loaded such a checkpoint as one of absolute positions."""
    names = [f"bert.encoder.layer.{n}.attention.self.distance_embedding.weight" for n in (0, 1)]
    folder = with_weights("bert_uncased", *names)
    rewrite(folder / "config.json", position_embedding_type="relative_key")
    with pytest.raises(ModelError, match=r"2 of the weights inside .*distance_embedding"):
        resolve_model(str(folder))


def test_of_pickled_weights_when_they_are_loaded(with_weights: Callable[..., Path]) -> None:
    folder = with_weights("bert_uncased", "bert.encoder.layer.0.attention.self.extra", binary=True)
    with pytest.raises(ModelError, match="1 of the weights inside"):
        Checkpoint(folder).load_encoder()


@pytest.mark.parametrize(
    ("prefix", "by"),
    [
        ("module.", ", as DataParallel writes them"),
        ("_orig_mod.", ", as torch.compile writes them"),
        ("model.", ", as Lightning writes them"),
        ("student.", ""),
    ],
)
def test_a_prefix_is_named(copy: Path, prefix: str, by: str) -> None:
    reweigh(
        copy / "model.safetensors",
        lambda state: {f"{prefix}{name}": one for name, one in state.items()},
    )
    with pytest.raises(
        ModelError, match=rf"the names in the file begin with '{prefix}bert\.'{by}; save it again"
    ):
        resolve_model(str(copy))


@pytest.mark.parametrize(
    "name", ["bert.entity_embeddings.weight", "bert.encoder.layer.0.pooler_gate.weight"]
)
def test_of_modules_that_the_encoder_does_not_have(
    with_weights: Callable[..., Path], name: str
) -> None:
    with pytest.raises(ModelError, match=rf"1 of the weights inside .*{name}"):
        resolve_model(str(with_weights("bert_uncased", name)))


def _bare(folder: Path) -> set[str]:
    """The names in a file that the encoder has as they stand."""
    return set(load_file(folder / "model.safetensors")) & set(
        AutoModel.from_pretrained(folder).state_dict()
    )


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_beside_an_encoder_without_a_prefix_nothing_but_heads(
    checkpoint: Builder, with_weights: Callable[..., Path], kind: str, binary: bool
) -> None:
    """Oracle: transformers' own names. What is beside a prefix, as of a model with a head, is none of the encoder's."""
    folder = with_weights(kind, "entity_embeddings.weight", binary=binary)
    if not _bare(checkpoint(kind)):
        Checkpoint(folder).load_encoder()
    else:
        with pytest.raises(ModelError, match=r"1 of the weights inside .*entity_embeddings"):
            Checkpoint(folder).load_encoder()

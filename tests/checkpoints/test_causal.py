"""A causal decoder has nothing at its first place. Oracle: the gradient of the first vector by the other inputs."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from blurb import tasks
from blurb.checkpoints import Checkpoint
from blurb.formulations import bind
from blurb.learners.building import resolve_model
from blurb.learners.finetuning.network import check
from blurb.messages.errors import SettingsError
from blurb.protocols.settings import Settings
from tests import checkpoints
from tests.conftest import Builder
from tests.rewriting import edit, rewrite

DECODERS = ("gpt2", "llama", "qwen3", "bert", "bloom", "mamba")


def _config(kind: str, size: int) -> Any:
    import transformers as t

    return {
        "gpt2": lambda: t.GPT2Config(
            n_embd=32, n_layer=2, n_head=2, vocab_size=size, bos_token_id=1, eos_token_id=1
        ),
        "llama": lambda: t.LlamaConfig(vocab_size=size, num_key_value_heads=2, **checkpoints.SIZES),
        "qwen3": lambda: t.Qwen3Config(
            vocab_size=size, num_key_value_heads=2, head_dim=16, **checkpoints.SIZES
        ),
        "bert": lambda: t.BertConfig(vocab_size=size, is_decoder=True, **checkpoints.SIZES),
        "bloom": lambda: t.BloomConfig(hidden_size=32, n_layer=2, n_head=2, vocab_size=size),
        "mamba": lambda: t.MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=size),
    }[kind]()


@pytest.fixture(scope="module")
def decoder(checkpoint: Builder, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """A decoder whose tokenizer puts [CLS] first, as that of an encoder does."""

    def build(kind: str) -> Path:
        from transformers import AutoModel

        folder = Path(
            shutil.copytree(checkpoint("bert_uncased"), tmp_path_factory.mktemp("decoders") / kind)
        )
        AutoModel.from_config(_config(kind, 350)).save_pretrained(folder)
        return folder

    return build


def _sees_nothing(folder: Path) -> bool:
    encoder = Checkpoint(folder).load_encoder()[0].eval()
    vectors = encoder.get_input_embeddings()(torch.arange(5, 13)[None]).detach().requires_grad_()
    encoder(inputs_embeds=vectors, attention_mask=torch.ones(1, 8)).last_hidden_state[
        0, 0
    ].square().sum().backward()
    return not bool(vectors.grad[0, 1:].any())


@pytest.mark.parametrize("kind", DECODERS)
def test_a_decoder_is_causal(decoder: Builder, kind: str) -> None:
    folder = decoder(kind)
    assert _sees_nothing(folder)
    assert Checkpoint(folder).is_causal


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_a_decoder_that_config_makes_bidirectional_is_not(
    decoder: Builder, tmp_path: Path, kind: str
) -> None:
    """Its modules still say that they are causal (transformers 5.2 and later)."""
    folder = Path(shutil.copytree(decoder(kind), tmp_path / kind))
    rewrite(folder / "config.json", is_causal=False)
    assert not _sees_nothing(folder)
    assert not Checkpoint(folder).is_causal


@pytest.mark.parametrize("kind", [*checkpoints.KINDS, *checkpoints.FAMILIES])
def test_an_encoder_is_not(checkpoint: Builder, kind: str) -> None:
    if kind != "embedding_gemma2":  # each layer looks the ids up again
        assert not _sees_nothing(checkpoint(kind))
    assert not Checkpoint(checkpoint(kind)).is_causal


@pytest.mark.parametrize("pooling", ["cls", "cls-pooler"])
@pytest.mark.parametrize("kind", ["gpt2", "bert", "bloom"])
def test_cls_is_refused_with_what_would_work(decoder: Builder, kind: str, pooling: str) -> None:
    source = resolve_model(str(decoder(kind)))
    settings = Settings(max_length=48, pooling=pooling)
    with pytest.raises(
        SettingsError,
        match=r"causal decoder.* Possible values: attention, attention-dot, attention-general, last, mean\.",
    ):
        check(source, bind(tasks.get("hoc"), settings))
    check(source, bind(tasks.get("bc2gm"), settings))  # words are not pooled
    for other in ("mean", "attention"):
        check(source, bind(tasks.get("hoc"), dataclasses.replace(settings, pooling=other)))


def test_a_classification_token_at_the_end_has_seen_everything(
    decoder: Builder, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(decoder("gpt2"), tmp_path / "last"))

    def last(content: dict[str, Any]) -> None:
        for frame in ("single", "pair"):
            cls, *others = content["post_processor"][frame]
            content["post_processor"][frame] = [*others, cls]

    edit(folder / "tokenizer.json", last)
    # It takes the special tokens from the file.
    rewrite(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    source = resolve_model(str(folder))
    assert source.checkpoint.tokenizer.special_tokens.cls == -1
    check(source, bind(tasks.get("hoc"), Settings(max_length=48)))

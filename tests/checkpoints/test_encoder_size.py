"""The formula of a pass against PyTorch's own counter of operations, and sizes against the loaded encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModel

from blurb.checkpoints import Checkpoint
from blurb.checkpoints.architecture import EncoderSize
from tests import checkpoints
from tests.conftest import Builder


@pytest.mark.parametrize(("kind", "tolerance"), [("bert_uncased", 0.05), ("roberta", 0.05), ("t5", 0.1)])
@pytest.mark.parametrize("length", [8, 64])
def test_operations_are_those_that_torch_counts(kind: str, tolerance: float, length: int, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    ids = torch.full((3, length), 5)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids))
    assert Checkpoint(checkpoint(kind)).size.forward(3, length) == pytest.approx(
        counter.get_total_flops(), rel=tolerance
    )


@pytest.mark.parametrize("kind", ["bert_uncased", "roberta", "modernbert", "deberta", "t5"])
def test_sizes_are_those_of_the_weights(kind: str, checkpoint: Builder) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    shape = Checkpoint(checkpoint(kind)).size
    table = encoder.get_input_embeddings().weight
    assert (shape.table, shape.vocabulary) == (table.numel(), table.shape[0])
    assert (shape.layers, shape.hidden) == (2, 32)
    whole = sum(parameter.numel() for parameter in encoder.parameters())
    assert whole / 4 < shape.body <= whole - shape.table


def test_time_grows_with_everything() -> None:
    shape = EncoderSize(body=1_000, table=100, vocabulary=10, layers=2, hidden=8, most=None)
    assert shape.forward(1, 10) == 10 * (2_000 + 4 * 2 * 8 * 10)
    assert shape.forward(2, 10) == 2 * shape.forward(1, 10)
    assert shape.forward(1, 20) > 2 * shape.forward(1, 10)


def test_the_width_is_that_of_the_vectors(copy: Path) -> None:
    """EmbeddingGemma 2 projects its last vectors to a width that `hidden_size` does not say."""
    sizes = checkpoints.SIZES | {"num_key_value_heads": 1, "head_dim": 16, "embedding_dim": 48}
    config = AutoConfig.for_model("embedding_gemma2_text", vocab_size=350, pad_token_id=0, **sizes)
    AutoModel.from_config(config).save_pretrained(copy)
    read = Checkpoint(copy)
    encoder, _ = read.load_encoder()
    assert read.width == encoder(torch.ones(1, 5, dtype=torch.long)).last_hidden_state.shape[-1] == 48

"""What training on a CPU replaces (dropout, attention, embeddings) must be the encoder's own, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from blurb.checkpoints import Checkpoint
from blurb.training.dropout import CpuDropout, set_dropout, use_cpu_dropout
from blurb.training.network import UsedRows, train_used_rows
from tests import checkpoints
from tests.conftest import Builder

TEXTS = ("kalo mi tra nex vorpil " * 6, "kalo dun", "mi")


class _Holder(nn.Module):
    """The least that a network is to `use_cpu_dropout`."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder


def _encoder(folder: Path) -> tuple[Any, Tensor, Tensor]:
    """An encoder with padded ids and their mask, both (batch, pieces)."""
    encoder, _ = Checkpoint(folder).load_encoder()
    tokenizer = Checkpoint(folder).tokenizer
    rows = [
        tokenizer.special_tokens.single(subtokens.ids) for subtokens in tokenizer.subtokens(TEXTS)
    ]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [tokenizer.pad_id] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return encoder, ids, mask


def _hidden(encoder: Any, ids: Tensor, mask: Tensor) -> Tensor:
    return encoder(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]


@pytest.mark.parametrize("kind", checkpoints.KINDS)
@pytest.mark.parametrize("cpu", [False, True])
def test_without_dropout_training_sees_what_prediction_sees(
    checkpoint: Builder, kind: str, cpu: bool
) -> None:
    """`encoder_dropout = 0`: of the modules, of the attention, and of whatever an architecture keeps as a number."""
    encoder, ids, mask = _encoder(checkpoint(kind))
    expected = _hidden(encoder.eval(), ids, mask)
    set_dropout(encoder, 0.5)
    assert not torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-2)
    set_dropout(encoder, 0.0)
    if cpu:
        use_cpu_dropout(_Holder(encoder))
    assert torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-5)


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_training_without_a_dropped_element_gives_what_prediction_gives(
    checkpoint: Builder, kind: str
) -> None:
    """Padding, local attention, relative positions: all of it has to be in the attention that training uses."""
    encoder, ids, mask = _encoder(checkpoint(kind))
    expected = _hidden(encoder.eval(), ids, mask)
    use_cpu_dropout(_Holder(encoder))
    assert torch.allclose(_hidden(encoder.eval(), ids, mask), expected, atol=1e-5)
    set_dropout(
        encoder, 1e-9
    )  # not 0, which would leave the attention to torch; too little to drop anything
    assert torch.allclose(_hidden(encoder.train(), ids, mask), expected, atol=1e-5)
    set_dropout(encoder, 0.5)
    assert not torch.allclose(_hidden(encoder, ids, mask), expected, atol=1e-2)
    assert not [name for name, module in encoder.named_modules() if type(module) is nn.Dropout]
    assert kind == "modernbert" or [
        module for module in encoder.modules() if isinstance(module, CpuDropout)
    ]


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_the_rows_of_the_embedding_that_are_used_learn_and_no_others(
    checkpoint: Builder, kind: str
) -> None:
    encoder, ids, mask = _encoder(checkpoint(kind))
    before = encoder.get_input_embeddings().weight.detach().clone()
    expected = _hidden(encoder.eval(), ids, mask)
    used = ids.unique()
    train_used_rows(encoder, used)
    assert type(encoder.get_input_embeddings()) is UsedRows
    assert not [
        name for name, parameter in encoder.named_parameters() if parameter.shape == before.shape
    ]
    assert torch.equal(_hidden(encoder.eval(), ids, mask), expected)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=1.0)
    _hidden(encoder.train(), ids, mask).pow(3).sum().backward()
    optimizer.step()
    encoder.eval()
    moved = (encoder.get_input_embeddings().weight != before).any(1).nonzero().flatten().tolist()
    assert set(moved) <= set(used.tolist())
    assert len(moved) >= len(used) - 1  # padding may get no gradient


@pytest.mark.parametrize("kind", checkpoints.KINDS)
def test_a_step_under_bf16_is_finite_and_keeps_float32_weights(
    checkpoint: Builder, kind: str
) -> None:
    encoder, ids, mask = _encoder(checkpoint(kind))
    use_cpu_dropout(_Holder(encoder))
    set_dropout(encoder, 0.1)
    encoder.train()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = _hidden(encoder, ids, mask)
    hidden.float().pow(2).sum().backward()
    gradients = [parameter.grad for parameter in encoder.parameters() if parameter.grad is not None]
    assert len(gradients) > 10
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}

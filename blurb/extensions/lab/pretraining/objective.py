"""The loss of masked language modelling, computed at the predicted places only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from blurb.extensions.lab.pretraining.inputs import IGNORED


def loss(model: Any, inputs: Mapping[str, torch.Tensor], bf16: bool = False) -> torch.Tensor:
    """The mean cross entropy of the predicted sub-tokens, and with `next_sentence_label` that of the pairs added.

    The decoder of BERT is a product with the whole vocabulary, for every sub-token; 85 % of these are not predicted, so
    their hidden states are left out before it. Other architectures compute their own loss, which is the same.

    :param inputs: `input_ids` and `labels` of shape (batch, length), with `IGNORED` where nothing is predicted
    :param bf16: whether products are in bf16; the Trainer's own setting is around `model.forward` alone, which is not
        called here
    """
    with torch.autocast(inputs["input_ids"].device.type, dtype=torch.bfloat16, enabled=bf16):
        return _loss(model, inputs)


def _loss(model: Any, inputs: Mapping[str, torch.Tensor]) -> torch.Tensor:
    body = {name: value for name, value in inputs.items() if name not in ("labels", "next_sentence_label")}
    if not hasattr(model, "bert"):
        # Not `model(...)`: a Trainer leaves its own autocast in the instance, and the measurement would be in bf16.
        return type(model).forward(model, **body, labels=inputs["labels"]).loss  # type: ignore[no-any-return]
    output = model.bert(**body)
    places = inputs["labels"] != IGNORED
    head = model.cls
    scores = head.predictions(output.last_hidden_state[places])
    total = cross_entropy(scores.float(), inputs["labels"][places])
    if "next_sentence_label" in inputs:
        pairs = head.seq_relationship(output.pooler_output)
        total = total + cross_entropy(pairs.float(), inputs["next_sentence_label"])
    return total


def flops(model: Any, inputs: Mapping[str, torch.Tensor]) -> int:
    """Operations of the products of an update, forwards and backwards, as torch counts them: a multiply-add is two.

    With products of their own in the attention: torch counts nothing in the fused kernel of a CPU.
    """
    used = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with FlopCounterMode(display=False) as counter:
        loss(model, inputs).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()
    model.set_attn_implementation(used)
    return int(counter.get_total_flops())

"""bf16 working weights: the forward pass of autocast to the bit, and the optimizer's float32 below it."""

import copy

import pytest
import torch

from benchmarks.device import measure_launches as launches
from blurb.checkpoints import Checkpoint
from tests.conftest import Builder


@pytest.mark.parametrize("kind", ["bert_uncased", "modernbert"])
def test_working_weights_give_the_forward_pass_of_autocast(checkpoint: Builder, kind: str) -> None:
    encoder, _ = Checkpoint(checkpoint(kind)).load_encoder()
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    plain, working = (
        launches.Step(copy.deepcopy(encoder), variant, "cpu", 4, 12)
        for variant in launches.VARIANTS
    )
    plain.encoder.eval()
    working.encoder.eval()
    assert torch.equal(plain.forward(), working.forward())
    assert {one.dtype for one in working.weights.parameters} == {torch.float32}
    before = [one.detach().clone() for one in working.weights.masters]
    for step in (plain, working):
        step.encoder.train()
        step()
    moved = [
        not torch.equal(one, other)
        for one, other in zip(before, working.weights.masters, strict=True)
    ]
    assert sum(moved) > 0.8 * len(moved)
    for master, copied in zip(working.weights.masters, working.weights.working, strict=True):
        assert torch.equal(master.bfloat16(), copied)


def test_a_line_is_a_ratio_to_autocast() -> None:
    figures = {"operators": 1052, "casts": 417, "host": 9.0, "device": 3.0}
    found = {
        "MiniLM, 40, autocast": {**figures, "step": 10.0},
        "MiniLM, 40, working weights": {**figures, "casts": 120, "step": 8.0},
    }
    assert [line[-1] for line in launches.rows(found)] == ["1.00", "1.25"]
    assert launches.rows(found)[0][:5] == ("MiniLM", "40", "autocast", "1,052", "417")

"""Operators, host time and device time of one training step, under autocast and with bf16 working weights.

Working weights are bf16 copies of the matrices of all linear layers, over masters in float32 that the optimizer moves:
autocast then casts no weight, and the forward pass is the same to the bit (`tests/benchmarks/test_device_launches.py`).
They are a switch of this benchmark alone. The loop gets them only if a card shows at least 1.15 times its speed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.device.cells import Cell, Context, Figures

BATCH, LENGTHS = 32, (40, 128)
VARIANTS = ("autocast", "working weights")
COLUMNS = (
    "encoder",
    "length",
    "variant",
    "operators",
    "casts",
    "host, ms",
    "device, ms",
    "step, ms",
    "x autocast",
)
NOTE = (
    "One step of 32 inputs: forward, backward, AdamW. `host` and `device` are sums over the operators of the profiler, "
    "`step` is the median without it."
)
MEMORY = {"MiniLM": 4.0, "BERT-base": 10.0}


class WorkingWeights:
    """bf16 copies of the linear layers of an encoder, in place, over masters in float32.

    :ivar parameters: of the optimizer: the masters, and all parameters that have none
    """

    def __init__(self, encoder: nn.Module) -> None:
        self.masters: list[nn.Parameter] = []
        self.working: list[Tensor] = []
        for module in [one for one in encoder.modules() if isinstance(one, nn.Linear)]:
            for name, value in list(module.named_parameters(recurse=False)):
                self.masters.append(nn.Parameter(value.detach().clone()))
                self.working.append(nn.Parameter(value.detach().bfloat16()))
                setattr(module, name, self.working[-1])
        own = {id(one) for one in self.working}
        self.parameters = [
            *self.masters,
            *(one for one in encoder.parameters() if id(one) not in own),
        ]

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer step on the masters, whose values the copies get."""
        self.gradients()
        optimizer.step()
        self.publish()
        optimizer.zero_grad()
        self.forget()

    def gradients(self) -> None:
        """Gives the gradients of the copies to the masters, as float32; those of the copies stay where they are."""
        for master, working in zip(self.masters, self.working, strict=True):
            master.grad = None if working.grad is None else working.grad.float()

    def publish(self) -> None:
        """Gives the values of the masters to the copies."""
        with torch.no_grad():
            torch._foreach_copy_(self.working, self.masters)

    def forget(self) -> None:
        """Drops the gradients of the copies."""
        for working in self.working:
            working.grad = None


class Step:
    """A training step of an encoder on random inputs.

    :param variant: of `VARIANTS`
    """

    def __init__(self, encoder: Any, variant: str, device: str, inputs: int, length: int) -> None:
        self.encoder, self.device = encoder.to(device).train(), device
        self.weights = WorkingWeights(self.encoder) if variant == VARIANTS[1] else None
        parameters = self.weights.parameters if self.weights else list(self.encoder.parameters())
        self.optimizer = torch.optim.AdamW(parameters, lr=1e-5, fused=True)
        torch.manual_seed(0)
        self.ids = torch.randint(5, encoder.config.vocab_size, (inputs, length)).to(device)

    def forward(self) -> Tensor:
        """(inputs, length, size)."""
        with torch.autocast(self.device, torch.bfloat16):
            hidden: Tensor = self.encoder(
                input_ids=self.ids, attention_mask=torch.ones_like(self.ids)
            ).last_hidden_state
        return hidden

    def __call__(self) -> None:
        self.forward().float().square().mean().backward()
        if self.weights:
            self.weights.step(self.optimizer)
        else:
            self.optimizer.step()
            self.optimizer.zero_grad()
        if self.device == "cuda":
            torch.cuda.synchronize()


def cells(context: Context) -> Iterator[Cell]:
    """Both variants of an encoder and length, one after the other."""
    for model in MEMORY:
        for length in LENGTHS if not context.small else LENGTHS[:1]:
            for variant in VARIANTS:
                measured = partial(_measure, context, model, length, variant)
                yield Cell(
                    f"{model}, {length}, {variant}", measured, context.pick(MEMORY[model], 0.0)
                )


def _measure(context: Context, model: str, length: int, variant: str) -> Figures:
    from blurb.checkpoints import Checkpoint

    encoder, _ = Checkpoint(context.model(model)).load_encoder()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    step = Step(encoder, variant, context.device, context.pick(BATCH, 2), length)
    for _ in range(context.pick(5, 1)):
        step()
    seconds = []
    for _ in range(context.pick(30, 2)):
        begun = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begun)
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if context.device == "cuda" else []
    with torch.profiler.profile(activities=kinds) as profile:
        step()
    found = [one for one in profile.key_averages() if one.key.startswith("aten::")]
    return {
        "operators": sum(one.count for one in found),
        "casts": sum(one.count for one in found if one.key == "aten::_to_copy"),
        "host": sum(one.self_cpu_time_total for one in found) / 1e3,
        "device": sum(one.self_device_time_total for one in profile.key_averages()) / 1e3,
        "step": statistics.median(seconds) * 1e3,
    }


def rows(found: Mapping[str, Figures]) -> Sequence[Sequence[str]]:
    table = []
    for name, one in found.items():
        model, length, variant = name.split(", ")
        usual = found.get(f"{model}, {length}, {VARIANTS[0]}")
        ratio = f"{usual['step'] / one['step']:.2f}" if usual else ""
        times = [f"{one[what]:.2f}" for what in ("host", "device", "step")]
        table.append(
            (model, length, variant, f"{one['operators']:,}", f"{one['casts']:,}", *times, ratio)
        )
    return table

"""How cost grows: a training step in length, batch and size of the model; the tables in trials.

The encoders are BERTs with random weights: what they learn does not matter, what they cost does.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

LENGTHS = (16, 32, 64, 128, 256, 512)
BATCHES = (1, 2, 4, 8, 16, 32, 64)
SIZES = {
    "2 x 128": (2, 128),
    "4 x 256": (4, 256),
    "6 x 384": (6, 384),
    "12 x 384": (12, 384),
    "12 x 768": (12, 768),
}
"""Layers and width; the third is all-MiniLM-L6-v2's, the last BERT-base's."""
TRIALS = (10, 100, 1000)
BATCH, LENGTH, STEPS = 16, 32, 3


def measure() -> dict[str, dict[str, float]]:
    """Milliseconds of a step by each of three, the others being `6 x 384`, batch 16, length 32; seconds of tables."""
    step = {"length": {}, "batch": {}, "model": {}}
    small = network(*SIZES["6 x 384"])
    for length in LENGTHS:
        step["length"][str(length)] = milliseconds(small, BATCH, length)
    for batch in BATCHES:
        step["batch"][str(batch)] = milliseconds(small, batch, LENGTH)
    for name, size in SIZES.items():
        step["model"][name] = milliseconds(network(*size), BATCH, LENGTH)
    return {**step, "trials": {str(count): tables(count) for count in TRIALS}}


def network(layers: int, width: int) -> torch.nn.Module:
    """A BERT with a tag head, as the loop trains it."""
    from transformers import BertConfig, BertModel

    from blurb.heads import Problem, heads
    from blurb.training.dropout import use_cpu_dropout
    from blurb.training.network import Network

    config = BertConfig(
        vocab_size=2000,
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=max(1, width // 32),
        intermediate_size=4 * width,
    )
    head = heads.get("linear")(width, Problem("tokens", ("O", "B", "I"), "bio"), 0.1)
    found = Network(BertModel(config, add_pooling_layer=False), None, head, False)
    use_cpu_dropout(found)
    return found.train()


def milliseconds(model: torch.nn.Module, batch: int, length: int) -> float:
    """The fastest of a few steps: forward, backward, AdamW; bf16 autocast as where the hardware has it."""
    from blurb.training.batches import Batch
    from blurb.training.hardware import has_bf16

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    ids = torch.randint(5, 2000, (batch, length))
    places = torch.arange(length).repeat(batch, 1)
    part = Batch(
        ids,
        torch.ones_like(ids),
        None,
        places,
        torch.ones_like(ids, dtype=torch.bool),
        torch.zeros_like(ids),
        word_ends=places + 1,
    )

    def step() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=has_bf16(torch.device("cpu"))):
            model.loss(part).backward()  # type: ignore[operator]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return 1000 * fastest(step, STEPS)


def tables(count: int) -> float:
    """Seconds to read a store of so many finished trials and to write its tables."""
    from blurb.results import tables as views
    from blurb.store.store import Store
    from tests.results.played import play

    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name) / "runs")
        for model in range(count // 10):
            play(store, f"model-{model}", dict.fromkeys(("gad", "hoc"), 0.8), seeds=range(1, 6))
        return fastest(lambda: views.rebuild(store, Path(name) / "leaderboard.csv"), 2)


def fastest(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times[1:])

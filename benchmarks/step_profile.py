"""Where a training step and a prediction spend their time.

    python -m benchmarks.step_profile --model FOLDER --data FOLDER [--task ncbi-disease] [--batches 60] [--json FILE]

The phases are measured with a clock around each of them, without a profiler; the kinds of operations with torch's
profiler in another pass, as shares of its own total. The peak is that of a bf16 product of the same shapes as the
encoder's, measured before and after. With several threads and other work on the machine all of it is a guess.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from blurb import data, formulations, tasks
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.training import loop
from blurb.training.batches import training_batches

KINDS = {
    "products": ("aten::mm", "aten::addmm", "aten::bmm", "aten::linear", "mkldnn", "aten::baddbmm"),
    "attention": ("scaled_dot_product", "_softmax"),
    "copies and fills": (
        "aten::copy_",
        "aten::_to_copy",
        "aten::zero_",
        "aten::fill_",
        "aten::clone",
        "aten::cat",
    ),
    "AdamW and norm": ("_fused_adamw", "linalg_vector_norm", "_foreach"),
    "gelu and norms of layers": ("gelu", "native_layer_norm"),
    "dropout": ("random_", "bitwise", "_Dropout", "native_dropout"),
}


class Clock:
    """Seconds by phase; a phase inside another counts for itself alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.open: list[str] = []
        self.since = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._stop()
        self.open.append(name)
        try:
            yield
        finally:
            self._stop()
            self.open.pop()

    def _stop(self) -> None:
        now = time.perf_counter()
        if self.open:
            self.seconds[self.open[-1]] += now - self.since
        self.since = now

    def around(self, owner: Any, attribute: str, name: str) -> None:
        """Counts the time within a function that `owner` holds."""
        inner: Callable[..., Any] = getattr(owner, attribute)

        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.phase(name):
                return inner(*args, **kwargs)

        setattr(owner, attribute, timed)

    def module(self, module: torch.nn.Module, name: str) -> None:
        """Counts the time within a module's forward."""
        self.around(module, "forward", name)


def peak(tokens: int, sizes: list[tuple[int, int]], precision: str) -> float:
    """FLOP/s of products of (tokens, k) and (k, n) one after another, the fastest of five rounds."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    pairs = [
        (torch.randn(tokens, k, dtype=dtype), torch.randn(n, k, dtype=dtype)) for k, n in sizes
    ]
    best = 0.0
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(5):
            for one, other in pairs:
                torch.nn.functional.linear(one, other)
        best = max(best, 10 * tokens * sum(k * n for k, n in sizes) / (time.perf_counter() - begun))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--task", default="ncbi-disease")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    show(found)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    source, task = building.resolve_model(options.model), tasks.get(options.task)
    rows = list(data.load_task(task, options.data, ["train"]).splits["train"].shuffle(seed=1))
    rows = rows[: options.batches * options.batch_size]
    changed = {"lr": 1e-4, "batch_size": options.batch_size, "epochs": 1, "select": "last"}
    settings = protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    formulation = formulations.bind(task, settings)
    learner = EncoderLearner(source, formulation, "cpu", options.precision)
    units, few = Subset(rows, f"profile {len(rows)}"), Subset(rows[:32], "profile 32")

    def fit() -> None:
        learner.fit(units, few, 1, lambda done, total: None)

    fit()  # kernels are chosen, memory is there
    features = learner.formulation.features(rows, learner.tokenizer, learner.limit)
    lengths = features.ids.lengths
    batches = training_batches(lengths, options.batch_size, np.random.default_rng(1))
    padded = sum(len(batch) * int(lengths[batch].max()) for batch in batches)
    sizes = [
        (module.in_features, module.out_features)
        for module in learner.trainer.network.encoder.modules()
        if isinstance(module, torch.nn.Linear)
    ]
    top = peak(padded // len(batches), sizes, options.precision)
    clock = Clock()
    _watch(clock)
    begun = time.perf_counter()
    with clock.phase("the rest of the loop"):
        fit()
    seconds = time.perf_counter() - begun
    phases = {name: value / seconds for name, value in clock.seconds.items()}
    begun = time.perf_counter()
    learner.predict(units)
    predicting = time.perf_counter() - begun
    learner.known = None  # or the answers on dev would be given again
    with FlopCounterMode(display=False) as counter:
        learner.predict(few)
    flops = counter.get_total_flops() / int(lengths[:32].sum())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        fit()
    top = max(top, peak(padded // len(batches), sizes, options.precision))
    total = int(lengths.sum())
    return {
        "task": task.name,
        "batch": options.batch_size,
        "precision": options.precision,
        "threads": torch.get_num_threads(),
        "tokens": total,
        "padding": 1 - total / padded,
        "training tokens/s": total / seconds,
        "prediction tokens/s": total / predicting,
        "peak GFLOP/s": top / 1e9,
        "training GFLOP/s": 3 * flops * total / seconds / 1e9,
        "prediction GFLOP/s": flops * total / predicting / 1e9,
        "phases": phases,
        "operations": _kinds(profiler),
    }


def _watch(clock: Clock) -> None:
    """Puts the clock around what every trainer from here on does."""
    from transformers import BertModel
    from transformers.models.bert import modeling_bert as bert

    clock.around(loop, "collate_batch", "data")
    clock.around(loop, "make_adamw", "set-up")
    clock.around(torch.optim.AdamW, "step", "optimizer")
    clock.around(torch.optim.Optimizer, "zero_grad", "optimizer")
    clock.around(torch.nn.utils, "clip_grad_norm_", "norm of the gradients")
    clock.around(torch.Tensor, "backward", "backward")
    clock.around(EncoderLearner, "_network", "set-up")
    clock.around(EncoderLearner, "_features", "data")
    clock.around(EncoderLearner, "_predict", "metric on dev")
    clock.around(loop.Network, "loss", "forward: head and loss")
    clock.around(BertModel, "forward", "forward: rest of the encoder")
    for name, part in (
        ("BertEmbeddings", "embeddings"),
        ("BertSelfAttention", "attention"),
        ("BertSelfOutput", "attention"),
        ("BertIntermediate", "feed-forward"),
        ("BertOutput", "feed-forward"),
    ):
        clock.around(getattr(bert, name), "forward", f"forward: {part}")


def _kinds(profiler: Any) -> dict[str, float]:
    """Shares of the profiler's own total by kind of operation."""
    found: dict[str, float] = defaultdict(float)
    for event in profiler.key_averages():
        kind = next(
            (kind for kind, names in KINDS.items() if any(name in event.key for name in names)),
            "all others",
        )
        found[kind] += event.self_cpu_time_total
    whole = sum(found.values())
    return {kind: value / whole for kind, value in sorted(found.items(), key=lambda item: -item[1])}


def show(found: dict[str, Any]) -> None:
    print(
        f"{found['task']}, batch {found['batch']}, {found['precision']}, {found['threads']} threads"
    )
    for what in ("training", "prediction"):
        share = found[f"{what} GFLOP/s"] / found["peak GFLOP/s"]
        speed = f"{found[f'{what} tokens/s']:8.0f} tokens/s {found[f'{what} GFLOP/s']:6.0f} GFLOP/s"
        print(f"{what:12}{speed}, {share:.0%} of peak")
    print(
        f"peak of the encoder's own products {found['peak GFLOP/s']:.0f} GFLOP/s; padding {found['padding']:.1%}"
    )
    for name in ("phases", "operations"):
        print(f"{name}:")
        for part, share in sorted(found[name].items(), key=lambda item: -item[1]):
            print(f"  {part:32}{share:6.1%}")


if __name__ == "__main__":
    main()

"""What `blurb run` says before it starts, beside what then happens: seconds of a trial, and memory of its process.

    OMP_NUM_THREADS=1 python benchmarks/estimates.py --model FOLDER --data DATA [--cases 1,4]

The cases are of several types of task, settings and sizes of encoder (random ones with the tokenizer of --model). Each
is estimated without history, from a calibration that an encoder has once, and run in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from blurb import models, tasks
from blurb.runs import cost, plan
from blurb.training import hardware, protocol

SIZES = {"256x4": (256, 4, 4), "512x4": (512, 4, 8), "768x2": (768, 2, 12)}
"""Hidden size, layers and heads of the random encoders."""
CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("given", "ncbi-disease", "auto", {"max_train": 500, "epochs": 2}),
    ("given", "gad", "auto", {"max_train": 500, "epochs": 2}),
    ("given", "biosses", "auto", {"epochs": 10}),
    ("given", "hoc", "auto", {"max_train": 800, "max_eval": 1200, "epochs": 2, "head_init": "linear"}),
    ("given", "pubmedqa", "auto", {"max_train": 60, "max_eval": 200, "epochs": 1, "batch_size": 8}),
    ("given", "chemprot", "auto", {"max_train": 400, "max_eval": 1500, "epochs": 1}),
    ("given", "bc5-chem", "auto", {"max_train": 400, "max_eval": 1500, "epochs": 1, "head": "crf"}),
    ("given", "ncbi-disease", "fp32", {"max_train": 300, "max_eval": 500, "epochs": 1, "batch_size": 32}),
    ("256x4", "ddi", "auto", {"max_updates": 150, "dev_sample": 500}),
    ("256x4", "bc2gm", "auto", {"max_train": 1500, "max_eval": 2000, "epochs": 2}),
    ("512x4", "gad", "auto", {"max_train": 600, "epochs": 1, "batch_size": 32}),
    ("768x2", "jnlpba", "auto", {"max_train": 800, "max_eval": 1500, "epochs": 1}),
]
"""Encoder, task, precision and settings over those of `quick`."""


def checkpoint(folder: Path, like: str, hidden: int, layers: int, heads: int) -> Path:
    """An encoder with random weights and the tokenizer of another."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(like)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * hidden,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def run(source: models.Source, task: str, data: Path, store: Path, precision: str, settings: dict[str, Any]) -> float:
    """Runs a trial with the command; returns the most memory that its process had, in bytes."""
    changes = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    command = [
        sys.executable, "-m", "blurb", "run", source.location, "--name", source.name, "--data", str(data),
        "--tasks", task, "--protocol", "quick", "--output", str(store), "--precision", precision, *changes,
        "--leaderboard", str(store / "tables" / "leaderboard.csv"),
    ]  # fmt: skip
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)
    ])  # fmt: skip
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_maxrss * 1024.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--cases", help="numbers, separated by commas  [default: all]")
    options = parser.parse_args()
    numbers = [int(number) for number in options.cases.split(",")] if options.cases else range(1, len(CASES) + 1)
    work = Path(tempfile.mkdtemp())
    os.environ["BLURB_HOME"] = str(work / "home")
    print(
        "| encoder | task | settings | predicted s | measured s | ratio | memory GB | measured | disk KB | measured |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    ratios: list[float] = []
    for number in numbers:
        size, name, wanted, settings = CASES[number - 1]
        folder = work / size
        if size != "given" and not folder.exists():
            checkpoint(folder, options.model, *SIZES[size])
        source = models.resolve(options.model if size == "given" else str(folder), name=size)
        precision = hardware.choose_precision(wanted, hardware.choose_device("auto"))
        store = work / f"runs-{number}"
        request = plan.Request(
            sources=[source], tasks=[tasks.get(name)], protocol=protocol.load("quick"), data=options.data,
            store=store, precision=precision, overrides=settings,
        )  # fmt: skip
        planned = plan.prepare(request)
        found = cost.estimate([planned], 1)
        memory = run(source, name, options.data, store, wanted, settings)
        (path,) = {job.path for job in planned.jobs}
        facts = json.loads((path / "provenance.json").read_text(encoding="utf-8"))["facts"]
        taken = facts["train_seconds"] + facts["predict_seconds"]
        disk = sum(file.stat().st_size for file in path.iterdir())
        ratios.append(taken / found.seconds)
        words = " ".join(f"{key}={value}" for key, value in settings.items())
        words += f" {precision}" * (wanted != "auto")
        print(
            f"| {size} | {name} | {words} | {found.seconds:.0f} | {taken:.0f} | {ratios[-1]:.2f} | "
            f"{found.memory / 1e9:.2f} | {memory / 1e9:.2f} | {found.store / 1e3:.0f} | {disk / 1e3:.0f} |", flush=True,
        )  # fmt: skip
        shutil.rmtree(store)
    shutil.rmtree(work)
    right = sum(1 / 1.3 <= ratio <= 1.3 for ratio in ratios)
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\nWithin 30 %: {right} of {len(ratios)}; measured to predicted in the mean: {middle:.2f}.")


if __name__ == "__main__":
    main()

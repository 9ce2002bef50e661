"""What `blurb run --dry-run` says, beside what then happens: seconds of a trial, and memory of its process.

    OMP_NUM_THREADS=1 python -m benchmarks.estimates --model FOLDER --data DATA [--cases 1,4]

The cases are of several types of task, settings and sizes of encoder (random ones with the tokenizer of --model). Each
is estimated without history, from one timed step, and run in a process of its own. Seconds are
those of the process, of one thread: what else runs on the machine then falsifies neither side.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from blurb import tasks
from blurb.cost import estimator, work
from blurb.execution.worker import execute_job
from blurb.learners import building
from blurb.planning import trials
from blurb.protocols import protocol
from blurb.training import hardware

SIZES = {"256x4": (256, 4, 4), "512x4": (512, 4, 8), "768x2": (768, 2, 12)}
"""Hidden size, layers and heads of the random encoders."""
QUICK = Path(__file__).with_name("quick-1.toml")
Case = tuple[str, str, str, dict[str, Any]]
CASES: list[Case] = [
    ("given", "ncbi-disease", "auto", {"max_train": 500, "epochs": 2}),
    ("given", "gad", "auto", {"max_train": 500, "epochs": 2}),
    ("given", "biosses", "auto", {"epochs": 10}),
    (
        "given",
        "hoc",
        "auto",
        {"max_train": 800, "max_eval": 1200, "epochs": 2, "head_init": "linear"},
    ),
    ("given", "pubmedqa", "auto", {"max_train": 60, "max_eval": 200, "epochs": 1, "batch_size": 8}),
    ("given", "chemprot", "auto", {"max_train": 400, "max_eval": 1500, "epochs": 1}),
    ("given", "bc5-chem", "auto", {"max_train": 400, "max_eval": 1500, "epochs": 1, "head": "crf"}),
    (
        "given",
        "ncbi-disease",
        "fp32",
        {"max_train": 300, "max_eval": 500, "epochs": 1, "batch_size": 32},
    ),
    ("256x4", "ddi", "auto", {"max_updates": 150, "dev_sample": 500}),
    ("256x4", "bc2gm", "auto", {"max_train": 1500, "max_eval": 2000, "epochs": 2}),
    ("512x4", "gad", "auto", {"max_train": 600, "epochs": 1, "batch_size": 32}),
    ("768x2", "jnlpba", "auto", {"max_train": 800, "max_eval": 1500, "epochs": 1}),
]
"""Encoder, task, precision and settings over those of quick-1.toml."""


def checkpoint(folder: Path, like: str, hidden: int, layers: int, heads: int) -> Path:
    """An encoder with random weights and the tokenizer of another."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(like)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def planned(case: Case, folder: str, data: Path, store: Path) -> trials.Planned:
    """The one trial of a case."""
    size, name, wanted, settings = case
    precision = hardware.choose_precision(wanted, hardware.choose_device("auto"))
    request = trials.Request(
        sources=[building.resolve_model(folder, name=size)],
        tasks=[tasks.get(name)],
        protocol=protocol.load_protocol_file(str(QUICK)),
        data=data,
        store=store,
        precision=precision,
        overrides=settings,
    )
    return trials.prepare(request)


def run(case: Case, folder: str, data: Path, store: Path) -> None:
    """In a process of its own: runs a case and prints what it took."""
    import torch

    (job,) = planned(case, folder, data, store).jobs
    busy, start = time.process_time(), time.perf_counter()
    outcome = execute_job(job)
    taken = {
        "wall": time.perf_counter() - start,
        "process": time.process_time() - busy,
        "status": outcome.status,
    }
    # Not `ru_maxrss`, which begins with that of the process that started this one.
    status = dict(
        line.split(":", 1)
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    )
    memory = int(status["VmHWM"].split()[0]) * 1024
    card = torch.cuda.max_memory_reserved() if torch.cuda.is_available() else 0
    print(json.dumps({**taken, "memory": memory, "card": card}))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--cases", help="numbers, separated by commas  [default: all]")
    parser.add_argument("--run", nargs=2, metavar=("CASE", "STORE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(json.loads(options.run[0]), options.model, options.data, Path(options.run[1]))
        return
    numbers = (
        [int(number) for number in options.cases.split(",")]
        if options.cases
        else range(1, len(CASES) + 1)
    )
    work.clock = time.process_time
    ratios: list[float] = []
    columns = (
        "encoder",
        "task",
        "settings",
        "predicted s",
        "process s",
        "ratio",
        "wall s",
        "memory GB",
        "measured",
    )
    print(f"| {' | '.join(columns)} |\n|---|---|---|{'---:|' * 6}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.environ["BLURB_HOME"] = str(place / "home")
        for number in numbers:
            size, task, wanted, settings = CASES[number - 1]
            folder = options.model if size == "given" else str(place / size)
            if not Path(folder).exists():
                checkpoint(Path(folder), options.model, *SIZES[size])
            store = place / f"runs-{number}"
            found = estimator.Estimator(timed=True).estimate(
                [planned(CASES[number - 1], folder, options.data, store)], 1
            )
            command = [
                sys.executable,
                __file__,
                "--model",
                folder,
                "--data",
                str(options.data),
                "--run",
                json.dumps(CASES[number - 1]),
                str(store),
            ]
            taken = json.loads(
                subprocess.run(command, capture_output=True, text=True, check=True).stdout
            )
            if taken["status"] != "done":
                raise SystemExit(f"case {number}: {taken['status']}")
            ratios.append(taken["process"] / found.seconds)
            words = " ".join(f"{key}={value}" for key, value in settings.items()) + f" {wanted}" * (
                wanted != "auto"
            )
            print(
                f"| {size} | {task} | {words} | {found.seconds:.0f} | {taken['process']:.0f} | {ratios[-1]:.2f} | "
                f"{taken['wall']:.0f} | {found.memory / 1e9:.2f} | {taken['memory'] / 1e9:.2f} |",
                flush=True,
            )
    right = sum(0.5 <= ratio <= 2 for ratio in ratios)
    middle = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"\nWithin 0.5 to 2: {right} of {len(ratios)}; measured to predicted in the mean: {middle:.2f}."
    )


if __name__ == "__main__":
    main()

"""The settings of `quick` and `sketch`, compared on dev: which start of the head, which rates, how many updates.

    python -m benchmarks.study.settings --model MINILM --data DATA --work FOLDER

Every variant is `quick` with other settings, on at most 1,000 units of dev; test is never read here.
What is done stands in `settings.csv` of the study's results and is not run again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.study import RESULTS, records
from benchmarks.study.derive import make
from blurb.learners import building
from blurb.protocols.protocol import load_protocol_file

COLUMNS = ("task", "settings", "encoder", "seed", "protocol_hash", "dev", "seconds")
FOUR = ("whole", "noise40", "low4", "low2")
STARTS = ("head_init=linear", "head_init=random")
DROPOUT = "encoder_dropout=-1 head_dropout=0.1"
LARGE = {
    "hoc": "max_train=4000",
    "gad": "",
    "chemprot": "max_train=4000",
    "ncbi-disease": "max_train=4000",
}
PLAN: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("hoc", f"max_updates=150 {LARGE['hoc']} head_init=linear", FOUR, 1),
    ("hoc", f"max_updates=150 {LARGE['hoc']} head_init=random", ("whole", "noise40"), 1),
    *(
        (task, f"max_updates=150 {LARGE[task]} {start}", encoders, 1)
        for encoders in (("whole", "low2"), ("low4", "noise40"))
        for task in ("gad", "chemprot", "ncbi-disease")
        for start in STARTS
    ),
    *((task, start, ("whole",), 1) for task in ("pubmedqa", "biosses") for start in STARTS),
    *(
        (task, f"max_updates=150 {most} {other}", ("whole", "low2"), 1)
        for task, most in LARGE.items()
        for other in (f"{DROPOUT} head_init=linear", "lr=3e-4")
    ),
    *((task, "max_updates=600", ("whole",), 1) for task in ("hoc", "ncbi-disease", "chemprot")),
)
"""(dataset, settings over those of `quick`, encoders, seeds)"""
MOST = 1000


def measure(
    checkpoint: Path, task_name: str, text: str, seed: int, folder: Path
) -> tuple[float, float]:
    """The dev score of one fine-tuning, and its seconds."""
    import torch

    from blurb import data, formulations, tasks
    from blurb.learners.base import Subset
    from blurb.learners.finetuning.network import EncoderLearner
    from blurb.protocols import protocol
    from blurb.protocols.settings import parse_overrides
    from blurb.training.hardware import choose_precision

    task, source = tasks.get(task_name), building.resolve_model(str(checkpoint))
    overrides = parse_overrides(dict(pair.split("=") for pair in text.split()))
    settings = protocol.load_protocol_file("quick").settings(task, overrides, source.parameters)
    formulation = formulations.bind(task, settings)
    splits = data.load_task(task, folder, ["train", "dev"])
    train, dev = (list(splits.splits[name]) for name in ("train", "dev"))
    part = Subset(dev, f"{splits.hash} dev").sample(MOST, 0, whole=formulation.by_document)
    learner = EncoderLearner(
        source, formulation, "cpu", choose_precision("auto", torch.device("cpu"))
    )
    begun = time.perf_counter()
    learner.fit(Subset(train, f"{splits.hash} train"), part, seed, lambda done, total: None)
    seconds = time.perf_counter() - begun
    gold = [formulation.gold(unit) for unit in part.used]
    scores = formulation.score(
        gold, learner.predict(part)[0], [unit.get("doc_id") for unit in part.used]
    )
    return formulation.main_metric(scores), seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    table, now = options.results / "settings.csv", load_protocol_file("quick").hash[:12]
    for task, text, encoders, seeds in PLAN:
        for encoder in encoders:
            for seed in range(1, seeds + 1):
                text = " ".join(text.split())
                cell = {
                    "task": task,
                    "settings": text,
                    "encoder": encoder,
                    "seed": str(seed),
                    "protocol_hash": now,
                }
                if any(cell.items() <= line.items() for line in records.read(table)):
                    continue
                checkpoint = make(options.model, options.work / "encoders", encoder)
                dev, seconds = measure(checkpoint, task, text, seed, options.data)
                line = {**cell, "dev": f"{100 * dev:.2f}", "seconds": f"{seconds:.0f}"}
                print(*line.values(), flush=True)
                records.add(table, COLUMNS, [line], COLUMNS[:5])


if __name__ == "__main__":
    main()

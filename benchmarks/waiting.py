"""How often threads should spin before they sleep as they wait for each other: milliseconds of a step.

    python -m benchmarks.waiting --model FOLDER [--others 0,2] [--rounds 3] [--steps 10]

300000 is what GNU's OpenMP does by itself, 10000 what `blurb` sets. Steps of a model, and of a tiny BERT, in bf16 and
float32, on as many threads as there are cores and beside so many other programs that compute; the counts in turns.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

COUNTS = ("300000", "30000", "10000", "0")
STEPS = """
import statistics, sys, time, torch
from transformers import AutoModel, BertConfig, BertModel
tiny = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=1000)
model = AutoModel.from_pretrained(sys.argv[1]) if sys.argv[1] else BertModel(tiny)
optimizer, taken = torch.optim.AdamW(model.parameters(), lr=1e-5), []
for _ in range(int(sys.argv[2]) + 3):
    start = time.perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=bool(sys.argv[1])):
        loss = model(torch.randint(5, 900, (16, 40))).last_hidden_state.float().pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    taken.append(1000 * (time.perf_counter() - start))
print(statistics.median(taken[3:]))
"""


@contextlib.contextmanager
def busy(others: int) -> Iterator[None]:
    """So many other programs, which compute."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def step(model: str, steps: int, count: str) -> float:
    command = [sys.executable, "-c", STEPS, model, str(steps)]
    given = {**os.environ, "GOMP_SPINCOUNT": count}
    return float(subprocess.run(command, env=given, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--others", default="0,2")
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--steps", default=10, type=int)
    options = parser.parse_args()
    print(f"| other programs | network | {' | '.join(COUNTS)} |\n|---:|---|{'---:|' * len(COUNTS)}")
    for others in map(int, options.others.split(",")):
        for model in (options.model, ""):
            with busy(others):
                rounds = [
                    [step(model, options.steps, count) for count in COUNTS]
                    for _ in range(options.rounds)
                ]
            medians = [f"{statistics.median(taken):.0f}" for taken in zip(*rounds, strict=True)]
            print(
                f"| {others} | {Path(model).name or 'tiny'} | {' | '.join(medians)} |", flush=True
            )


if __name__ == "__main__":
    main()

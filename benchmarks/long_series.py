"""Minutes of `blurb series` for many checkpoints of a model's size, on the sets of the issue that asked for it.

    python -m benchmarks.long_series --model FOLDER --data DATA [--checkpoints 20] [--jobs 2] [--folder FOLDER]

The checkpoints are the model with a little noise in its weights, which costs what those of a training cost. With
`--folder` a second call goes on where the first ended; its figures are of the checkpoints that it scored itself.
The machine must have nothing else to do.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench import machine

TASKS = "ncbi-disease,gad,hoc,biosses"
EVERY = 1_000
"""Updates between two checkpoints."""
NOISE = 1e-3
"""Of a weight's own size."""


def make(model: Path, run: Path, count: int) -> None:
    """Writes the checkpoints that are not there, each with the step in a `trainer_state.json`."""
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    for number in range(1, count + 1):
        folder = run / f"checkpoint-{number * EVERY}"
        if (folder / "trainer_state.json").is_file():
            continue
        draw = torch.Generator().manual_seed(number)
        shutil.copytree(model, folder, dirs_exist_ok=True)
        noised = {
            name: weight * (1 + NOISE * torch.randn(weight.shape, generator=draw))
            if weight.is_floating_point()
            else weight
            for name, weight in weights.items()
        }
        save_file(noised, folder / "model.safetensors", metadata={"format": "pt"})
        state = {"global_step": number * EVERY, "max_steps": count * EVERY}
        (folder / "trainer_state.json").write_text(json.dumps(state), encoding="utf-8")


def scored(table: Path) -> int:
    """The checkpoints with a mean in the table of a series."""
    if not table.is_file():
        return 0
    with table.open(encoding="utf-8", newline="") as file:
        return sum(
            (line["dataset"], line["measure"]) == ("mean", "score") for line in csv.DictReader(file)
        )


def main() -> None:
    """Prints the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkpoints", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="of checkpoints and store; else a temporary one"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="blurb-series-") as temporary:
        folder = options.folder or Path(temporary)
        make(options.model, folder / "run", options.checkpoints)
        before, used = scored(folder / "series" / "series.csv"), processor_seconds()
        begun = time.perf_counter()
        arguments = [
            "--tasks",
            TASKS,
            "--data",
            str(options.data),
            "--jobs",
            str(options.jobs),
            "--device",
            "cpu",
        ]
        places = ["--output", str(folder / "store"), "--out", str(folder / "series")]
        subprocess.run(
            [sys.executable, "-m", "blurb", "series", str(folder / "run"), *arguments, *places],
            check=True,
        )
        minutes = (time.perf_counter() - begun) / 60
        count = scored(folder / "series" / "series.csv") - before
    figures = {
        "checkpoints": count,
        "minutes": round(minutes, 1),
        "minutes of 20": round(minutes / count * 20, 1) if count else None,
        "core-seconds a checkpoint": round((processor_seconds() - used) / count) if count else None,
        "jobs": options.jobs,
        "machine": machine.describe(),
    }
    print(json.dumps(figures, indent=1))


def processor_seconds() -> float:
    """Of all processes that this one started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()

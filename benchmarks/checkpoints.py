"""What `--resume-trials` costs: bytes of a checkpoint, and seconds to write and to read one beside those of an epoch.

    OMP_NUM_THREADS=1 python -m benchmarks.checkpoints --model FOLDER [--examples 512] [--folder DISK]

It trains on the synthetic ChemProt, two epochs of some examples, once with the rows of the embedding table that occur
(as all protocols without weight decay do) and once with all of them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor

from blurb import data, formulations, tasks
from blurb.checkpoints import ModelSource
from blurb.corpora import demo
from blurb.learners import building
from blurb.learners.base import Subset
from blurb.learners.finetuning.network import EncoderLearner
from blurb.protocols import protocol
from blurb.store import row_contents, trial_checkpoints as checkpoints
from blurb.store.trial_checkpoints import TrialCheckpoints


class Timed(TrialCheckpoints):
    """Checkpoints that note the seconds and the largest size of what they write."""

    seconds: ClassVar[list[float]] = []
    size: ClassVar[int] = 0

    def write(self, tensors: Mapping[str, Mapping[str, Tensor]], values: Mapping[str, Any]) -> None:
        begun = time.perf_counter()
        super().write(tensors, values)
        self.seconds.append(time.perf_counter() - begun)
        Timed.size = max(Timed.size, row_contents.size_of(checkpoints.folder_of(self.path)))


def measure(source: ModelSource, rows: list[Any], weight_decay: float, folder: Path) -> str:
    Timed.seconds, Timed.size = [], 0
    task = tasks.get("chemprot")
    changed = {"epochs": 2, "batch_size": 16, "select": "best", "weight_decay": weight_decay}
    formulation = formulations.bind(
        task, protocol.load_protocol_file("standard").settings(task, changed, source.parameters)
    )
    learner = EncoderLearner(source, formulation, "auto", "fp32")
    (folder / ".trial.1").mkdir(parents=True)
    place = Timed(folder / "trial", folder / ".trial.1", checkpoints.about("trial", {}))
    learner.checkpoints = place
    steps: list[float] = []
    units = Subset(rows, "")
    learner.fit(
        units, Subset(rows[:16], ""), 1, lambda done, total: steps.append(time.perf_counter())
    )
    epoch = (steps[len(steps) // 2 - 1] - steps[0]) * (len(steps) // 2) / (len(steps) // 2 - 1)
    begun = time.perf_counter()
    assert place.read() is not None
    read = time.perf_counter() - begun
    written = ", ".join(f"{each:.2f}" for each in Timed.seconds)
    return f"{Timed.size / 1e6:.0f} MB, written in {written} s, read in {read:.2f} s; an epoch takes {epoch:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--examples", type=int, default=512)
    parser.add_argument("--folder", help="on the disk to measure; else that of temporary files")
    options = parser.parse_args()
    source = building.resolve_model(options.model)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        demo.write(Path(folder) / "data")
        rows = (
            data.load_task(tasks.get("chemprot"), Path(folder) / "data").splits["train"].to_list()
        )
        rows = (rows * (options.examples // len(rows) + 1))[: options.examples]
        print(
            f"{source.name}, {source.parameters / 1e6:.1f} million parameters, {len(rows)} examples"
        )
        for name, decay in (("rows that occur", 0.0), ("the whole table", 0.01)):
            print(
                f"{name}: {measure(source, rows, decay, Path(folder) / name.replace(' ', '-'))}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""One table of an encoder and of what to compare it with: all baselines, its probe and its row under `quick`.

    python -m benchmarks.rows --model MODEL --data DATA --work FOLDER [--name NAME] [--tasks TASKS] [--jobs 2]

Fills `FOLDER/leaderboard.csv`, cheapest rows first; finished trials are not repeated, so the same command goes on
after a stop. docs/results/baselines holds what it wrote.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from blurb.learners import PREFIX, named_kinds
from blurb.tasks import TWELVE

OF_MENTIONS = "dictionary"
"""The baseline of NER and PICO alone, which no other dataset can have in its table."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--name")
    parser.add_argument("--tasks", default=TWELVE)
    parser.add_argument(
        "--seeds", default="3", help="of `quick`; the baselines from nothing have one"
    )
    parser.add_argument("--jobs", default="1")
    options = parser.parse_args()
    own = [options.model, *(["--name", options.name] if options.name else [])]
    constant, trained = (
        [
            f"{PREFIX}{name}"
            for name, kind in named_kinds().items()
            if kind.deterministic is fixed and name != OF_MENTIONS
        ]
        for fixed in (True, False)
    )
    for models, settings in (
        (constant, ["--protocol", "standard"]),
        (own, ["--protocol", "probe"]),
        (trained, ["--protocol", "standard", "--seeds", "1"]),
        (own, ["--protocol", "quick", "--seeds", options.seeds]),
    ):
        command = [
            sys.executable,
            "-m",
            "blurb",
            "run",
            *models,
            *settings,
            "--data",
            options.data,
            "--tasks",
            options.tasks,
            "--jobs",
            options.jobs,
            "--output",
            options.work / "runs",
            "--leaderboard",
            options.work / "leaderboard.csv",
        ]
        code = subprocess.run(command, check=False).returncode
        if code not in (0, 1):  # 1: a dataset failed, which its row says
            sys.exit(code)


if __name__ == "__main__":
    main()

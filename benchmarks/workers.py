"""Two local workers of one thread each against one worker of two threads; and Ray against local where it is installed.

    python -m benchmarks.workers --model FOLDER --data DATA [--tasks gad,biosses] [--seeds 4] [--rounds 3]
        [--ray ADDRESS --precision bf16]

On a machine with nothing else to do, without OMP_NUM_THREADS, pinned to two cores if it has more (`taskset -c 0,1`).
The trials are the same; what is compared is the time that passes per command, start-up included, and the median of the
rounds, which take turns. The numbers of threads decide the last bits of sums, so scores of the two may differ by these.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench import machine

WAYS = {"one worker, all threads": ["--jobs", "1"], "two workers": ["--jobs", "2"]}


def passed(arguments: list[str]) -> float:
    """Seconds of a command that trains all trials into a new store."""
    with tempfile.TemporaryDirectory(prefix="blurb-workers-") as folder:
        start = time.perf_counter()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "blurb",
                "run",
                *arguments,
                "--device",
                "cpu",
                "--output",
                f"{folder}/runs",
                "--leaderboard",
                f"{folder}/leaderboard.csv",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start


def main() -> None:
    """Prints the seconds of every round, and the ratios of the medians, as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, help="without it, the demo suite")
    parser.add_argument("--tasks", default="gad,biosses")
    parser.add_argument("--protocol", default="quick")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", default="auto", help="must be said with --ray")
    parser.add_argument(
        "--ray", help="address of a cluster; without it, each command starts one of its own"
    )
    options = parser.parse_args()
    if "OMP_NUM_THREADS" in os.environ:
        sys.exit("Unset OMP_NUM_THREADS: one worker would have one thread, too.")
    data = ["--data", str(options.data)] if options.data else ["--suite", "demo"]
    asked = [
        options.model,
        *data,
        "--tasks",
        options.tasks,
        "--protocol",
        options.protocol,
        "--seeds",
        str(options.seeds),
        "--precision",
        options.precision,
    ]
    address = f",address={options.ray}" if options.ray else ""
    ray = (
        {"ray, two tasks": ["--engine", f"ray,cpus=1{address}"]}
        if importlib.util.find_spec("ray")
        else {}
    )
    ways = WAYS | ray
    passed([*asked, *ways["two workers"]])  # fills the caches of features and calibration
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, more in ways.items():
            found[way].append(passed([*asked, *more]))
    first, *others = (statistics.median(seconds) for seconds in found.values())
    ratios = dict(zip(list(ways)[1:], (other / first for other in others), strict=True))
    cores = len(os.sched_getaffinity(0))
    print(
        json.dumps(
            {"seconds": found, "against one worker": ratios, "cores": cores, **machine.describe()},
            indent=1,
        )
    )


if __name__ == "__main__":
    main()

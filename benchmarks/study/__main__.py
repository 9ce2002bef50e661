"""Runs the protocol study, as far as it is not in its folder of results yet.

    python -m benchmarks.study --model MINILM --data DATA --work FOLDER [--only standard-short:gad,biosses] [--jobs 2]

Every (protocol, dataset) is one `blurb run` over all encoders; what is done is written to the folder of results after
each, as lines of `results.csv` with the hashes of the trials. What stands there is not run again, wherever it was made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.study import RESULTS, records
from benchmarks.study.derive import ENCODERS, make

SETS = ("biosses", "gad", "hoc", "ncbi-disease")
PLAN = tuple(
    (protocol, task)
    for protocols, tasks in (
        (("standard-short", "quick", "sketch", "probe"), SETS[:2]),
        (("standard-short", "quick", "sketch", "probe"), SETS[2:]),
    )
    for task in tasks
    for protocol in protocols
)
SEEDS = {"standard-short": 3, "quick": 3, "sketch": 1, "probe": 1}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path, help="for the encoders and the store")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--encoders", default=",".join(ENCODERS))
    parser.add_argument(
        "--only", action="append", help="PROTOCOL:TASK,TASK; may be repeated", default=[]
    )
    parser.add_argument("--jobs", default="1")
    options = parser.parse_args()
    asked = [one.split(":") for one in options.only]
    wanted = [(protocol, task) for protocol, names in asked for task in names.split(",")]
    store = options.work / "runs"
    for protocol, task in wanted or PLAN:
        done = records.done(options.results, protocol, task, SEEDS[protocol])
        left = [name for name in options.encoders.split(",") if name not in done]
        for name in left:
            checkpoint = make(options.model, options.work / "encoders", name)
            print(f"== {protocol} {task} {name}", flush=True)
            code = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "blurb",
                    "run",
                    checkpoint,
                    "--name",
                    name,
                    "--data",
                    options.data,
                    "--protocol",
                    protocol,
                    "--tasks",
                    task,
                    "--output",
                    store,
                    "--jobs",
                    options.jobs,
                    "--leaderboard",
                    options.work / "leaderboard.csv",
                    *(["--seeds", str(SEEDS[protocol])] if SEEDS[protocol] > 1 else []),
                ],
                check=False,
            ).returncode
            if code not in (0, 1):
                sys.exit(code)
            records.collect(store, options.results)


if __name__ == "__main__":
    main()

"""What stores and commands cost with a thousand, twenty thousand and a hundred thousand trials of no length.

    OMP_NUM_THREADS=1 python -m benchmarks.scale [TRIALS ...] [--folder FOLDER] [--out FILE.json]

Every command is a process of its own. Seconds are those of the processor, start-up included, as the disk is in memory
by then. With `--out` the figures and their picture are written; without, the figures are printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench import machine
from benchmarks.scale.driver import PHASES, Figures
from blurb.system.files import write_whole

ROWS = 300
"""Rows up to which views are measured that read all predictions."""
SIZES = [1_000, ROWS * 65, 100_000]
COMMAND = "from blurb.cli import cli; cli({!r}.split(), standalone_mode=False)"
TABLES = (
    "from pathlib import Path; from blurb.results import tables; from blurb.store.store import Store; "
    "tables.rebuild(Store(Path('runs')), Path('leaderboard.csv'))"
)
PEAK = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
"""Not `ru_maxrss`, which is at least that of the process that began it."""
VIEWS = {
    "first tables": TABLES,
    "tables": TABLES,
    "show": COMMAND.format("leaderboard show --no-intervals"),
    "compare": COMMAND.format("compare org/encoder-00000 org/encoder-00001"),
    "status": COMMAND.format("status"),
    "gc": COMMAND.format("gc --dry-run"),
    "verify": COMMAND.format("runs verify"),
}
"""The first of them begins the index."""
OF_PREDICTIONS = {
    "show, intervals": COMMAND.format("leaderboard show"),
    "show, kept intervals": COMMAND.format("leaderboard show"),
    "page": COMMAND.format("leaderboard html"),
}
"""The first of them computes the intervals."""


def measured(code: str, folder: Path) -> Figures:
    """Seconds of the processor, seconds that passed, and peak memory in MB of a process."""
    start = time.perf_counter()
    environment = os.environ | {"BLURB_HOME": str(folder / "home")}
    command = [sys.executable, "-c", f"{code}; {PEAK}"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{code} failed")
    passed = time.perf_counter() - start
    return {
        "seconds": used.ru_utime + used.ru_stime,
        "passed": passed,
        "mb": int(said.split()[-2]) / 1024,
    }


def phase(name: str, folder: Path, trials: int) -> Figures:
    """The figures of a part of the driver, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.scale",
        str(trials),
        "--phase",
        name,
        "--folder",
        str(folder),
    ]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: Figures = json.loads(made.stdout.splitlines()[-1])
    return found


def of_size(trials: int, folder: Path) -> dict[str, Figures]:
    """All figures of a size."""
    found = {"driver": phase("driver", folder, trials), "slurm": phase("slurm", folder, trials)}
    shutil.rmtree(folder / "slurm")
    if importlib.util.find_spec("ray"):
        found["ray"] = phase("ray", folder, trials)
        shutil.rmtree(folder / "ray")
    phase("fill", folder, trials)
    views = VIEWS | (OF_PREDICTIONS if len(list((folder / "runs").glob("*/rows"))) <= ROWS else {})
    for view, code in views.items():
        found[view] = measured(code, folder)
        print(
            f"{trials:,} {view}: {found[view]['seconds']:.2f} s, {found[view]['mb']:.0f} MB",
            file=sys.stderr,
        )
    if "page" in found:
        found["page"]["size_mb"] = (folder / "leaderboard.html").stat().st_size / 1e6
    for name in ("passing over", "worker"):
        found[name] = phase(name, folder, trials)
    index = sum(path.stat().st_size for path in (folder / "home" / "trials").iterdir())
    found["store"] = {
        "index_mb": index / 1e6,
        "results_mb": (folder / "results.csv").stat().st_size / 1e6,
    }
    return found


def main() -> None:
    """Measures all sizes, or one phase of one size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trials", type=int, nargs="*", default=SIZES)
    parser.add_argument(
        "--folder", type=Path, help="where the stores are made; they are deleted at the end"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="file for the figures, beside which is their picture; other sizes stay",
    )
    # Of a process for one phase
    parser.add_argument("--phase", choices=PHASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        print(json.dumps(PHASES[options.phase](options.folder, options.trials[0])))
        return
    known = (
        json.loads(options.out.read_text(encoding="utf-8"))
        if options.out and options.out.exists()
        else {}
    )
    found: dict[str, dict[str, Figures]] = known.get("sizes", {})
    for trials in options.trials:
        with tempfile.TemporaryDirectory(prefix="blurb-scale-", dir=options.folder) as name:
            found[str(trials)] = of_size(trials, Path(name))
            found = dict(sorted(found.items(), key=lambda item: int(item[0])))
            keep(found, options.out)
    if options.out:
        from benchmarks.scale.picture import draw

        draw(found, options.out.with_suffix(".png"))


def keep(found: dict[str, dict[str, Figures]], out: Path | None) -> None:
    """Writes the figures so far, or prints them."""
    text = json.dumps({"machine": machine.describe(), "sizes": found}, indent=1) + "\n"
    if out is None:
        print(text, end="")
    else:
        write_whole(out, text.encode())


if __name__ == "__main__":
    main()

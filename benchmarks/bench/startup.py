"""Seconds until a command answers, each in a process of its own; the fastest of five."""

from __future__ import annotations

import subprocess
import sys
import time

COMMANDS = {
    "import blurb": ("-c", "import blurb"),
    "blurb --help": ("-m", "blurb", "--help"),
    "blurb tasks": ("-m", "blurb", "tasks"),
    "blurb heads": ("-m", "blurb", "heads"),
    "blurb run --help": ("-m", "blurb", "run", "--help"),
    "python -c pass": ("-c", "pass"),
}


def measure() -> dict[str, float]:
    found = {}
    for name, arguments in COMMANDS.items():
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - begun)
        found[name] = min(times)
    return found

"""Measures everything that docs/performance.md says, and writes it.

    make bench MODEL=FOLDER DATA=FOLDER          # all of it, about twenty minutes on an idle machine
    python -m benchmarks.bench --model FOLDER --data FOLDER [--only crf,metrics] [--report]

Every section runs in a process of its own, so that none disturbs another; what it found is in docs/results/bench.json,
with the machine that it was found on. `--report` writes the page from that file and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bench import machine, report, sections

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "docs" / "results" / "bench" / "bench.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--only", default=",".join(sections.SECTIONS), help="sections, separated by commas"
    )
    parser.add_argument("--report", action="store_true", help="only write the page")
    parser.add_argument("--json", type=Path, help=argparse.SUPPRESS)  # of a process for one section
    options = parser.parse_args()
    if options.json:
        found = sections.SECTIONS[options.only](options.model, options.data)
        facts = {**machine.describe(), "peak MiB": round(machine.peak_memory())}
        options.json.write_text(json.dumps({"figures": found, "machine": facts}), encoding="utf-8")
        return
    if not options.report:
        if not options.model or not options.data:
            parser.error("--model and --data are needed to measure")
        for name in options.only.split(","):
            print(f"{name} ...", flush=True)
            keep(name, measured(name, options.model, options.data))
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    if missing := [name for name in sections.SECTIONS if name not in (*found, *sections.LATER)]:
        print(f"docs/performance.md waits for {', '.join(missing)}")
    else:
        report.write(found, ROOT / "docs")


def measured(name: str, model: str, data: Path) -> dict[str, Any]:
    """What a section finds, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        arguments = ["--only", name, "--model", model, "--data", data, "--json", path]
        subprocess.run([sys.executable, "-m", "benchmarks.bench", *arguments], check=True, cwd=ROOT)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def keep(name: str, found: dict[str, Any]) -> None:
    """Adds a section to the file."""
    there = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.is_file() else {}
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_text(json.dumps({**there, name: found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""How long `blurb data prepare` and `blurb data verify` take, and how much memory.

    python -m benchmarks.prepare --raw ORIGINALS

Where EBM PICO's original is not below --raw, one of its size is invented (4,993 documents of 275 words), so that twelve
datasets are prepared. Commands are run as a user runs them, in a process of their own.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blurb.corpora.build.words import ELEMENTS, pico_names
from blurb.corpora.releases import load_split_lists
from blurb.tasks import SPLITS


def invent_pico(folder: Path) -> None:
    """EBM PICO in its original layout, with BLURB's ids and made-up words."""
    dice = random.Random(0)
    for split in SPLITS:
        for pmid in load_split_lists("ebm_pico")[split]:
            words = [*(f"w{dice.randrange(20_000)}" for _ in range(24)), "."] * 11
            marks = (["1" if dice.random() < 0.1 else "0" for _ in words] for _ in ELEMENTS)
            for name, content in zip(pico_names(pmid, split), (words, *marks), strict=True):
                path = folder / "ebm_nlp_2_00" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(content))


def timed(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "blurb", "data", *arguments], check=False)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raw", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        raw, out = Path(name, "raw"), Path(name, "out")
        raw.mkdir()
        for place in options.raw.iterdir():
            whole = len(list(place.rglob("*.tokens"))) == sum(
                map(len, load_split_lists("ebm_pico").values())
            )
            if place.name != "EBM-NLP" or whole:
                os.symlink(place.resolve(), raw / place.name)
        if not (raw / "EBM-NLP").exists():
            invent_pico(raw / "invented")
        prepared = timed("prepare", "--raw", str(raw), "--out", str(out))
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        with_manifest, full = (
            timed("verify", "--data", str(out), *more) for more in ((), ("--full",))
        )
    print(
        f"prepare {prepared:.1f} s, {memory:.0f} MiB at most; verify {with_manifest:.2f} s, verify --full {full:.1f} s"
    )


if __name__ == "__main__":
    main()

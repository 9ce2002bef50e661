"""How large the page of `blurb leaderboard html` is, and how long it takes to make and a browser to draw.

Run from the root of the repository: `OMP_NUM_THREADS=1 python -m benchmarks.page [MODELS]`. The rows are invented: all
datasets, five seeds, twenty epochs. The browser's part needs playwright and a Chromium, and is left out without them.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from blurb import tasks
from blurb.extensions.reports.html.collect import TITLE, board
from blurb.extensions.reports.html.model import (
    DatasetProvenance,
    Page,
    PageDataset,
    PageRow,
    RowProvenance,
)
from blurb.extensions.reports.html.render import render
from blurb.leaderboard.intervals import averages, run_numbers
from blurb.protocols import protocol
from blurb.results import groups
from blurb.results.row import Origin, Row
from blurb.results.score import DatasetScores, Figure, Run
from blurb.store.trial import Configuration

SEEDS = (1, 2, 3, 4, 5)
EPOCHS = 20
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


KNOWN = {"max_train": "", "max_eval": "", "plugins": ""}


def entry(name: str, seeds: tuple[int, ...] = SEEDS, level: float | None = None) -> PageRow:
    """An invented row.

    :param level: around which its scores are; drawn from the name if it is not given
    """
    rng = random.Random(name)
    level = rng.uniform(70, 85) if level is None else level
    names = [task.name for task in tasks.all() if task.paper_order]
    scores = {task: {seed: rng.gauss(level, 0.6) for seed in seeds} for task in names}
    known = {task: run_numbers(task, list(values.values())) for task, values in scores.items()}
    datasets = {
        task: PageDataset(
            known[task].value,
            DatasetScores(
                task,
                metric="f1",
                runs={
                    seed: Run(
                        {"dev": {"f1": Figure(level)}, "test": {"f1": Figure(score, 20.0)}},
                        "identical",
                        "0" * 12,
                        "1",
                        KNOWN,
                    )
                    for seed, score in scores[task].items()
                },
            ),
            "identical",
            {seed: curve(rng, level) for seed in seeds},
        )
        for task in names
    }
    parts = [
        DatasetProvenance(
            task,
            {seed: f"{rng.getrandbits(64):016x}" for seed in seeds},
            "0" * 12,
            "identical",
            1234.5,
            15000,
            12,
        )
        for task in names
    ]
    facts = [
        ("Weights and configuration", f"{rng.getrandbits(256):064x}"),
        ("torch", "2.13.0"),
        ("device", "cpu"),
    ]
    provenance = RowProvenance(
        f"blurb run MODEL --name {name} --data DATA --protocol standard --seeds 5", facts, parts
    )
    row = Row(
        name,
        Configuration(
            "standard", protocol.load_protocol_file("standard").hash, {}, "bf16", "blurb"
        ),
        {task: one.scores for task, one in datasets.items()},
        Origin.RESULTS,
        "w" * 12,
        "t" * 12,
        "baseline" if name.startswith("baseline:") else "encoder",
        "1",
    )
    return PageRow(
        row, averages(known), groups.standing(row), "standard bf16", datasets, provenance
    )


def curve(rng: random.Random, level: float) -> tuple[float, ...]:
    """Scores on dev that rise to a level."""
    return tuple(level * (1 - 0.5 ** (epoch + 1)) + rng.gauss(0, 0.5) for epoch in range(EPOCHS))


def synthetic(models: int) -> Page:
    """A page of that many invented rows."""
    return Page(
        TITLE, [board("blurb", [entry(f"org/encoder-{number:02d}") for number in range(models)])]
    )


def browser() -> str | None:
    """A Chromium of this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def drawn(path: Path, repeats: int = 5) -> float | None:
    """Seconds from the start of loading to the end of the first frame, median; None without a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if (executable := browser()) is None:
        return None
    times = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for _ in range(repeats):
            tab = chromium.new_page()
            tab.goto(path.as_uri())
            times.append(
                tab.evaluate(
                    "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
                )
                / 1000
            )
            tab.close()
        chromium.close()
    return statistics.median(times)


def main() -> None:
    """Prints one line."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    start = time.perf_counter()
    page = synthetic(models)
    collected = time.perf_counter()
    text = render(page)
    rendered = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, encoding="utf-8")
        seconds = drawn(path)
    pairs = sum(len(one.comparisons.pairs) for one in page.boards)
    print(
        f"{models} models: {len(text.encode()) / 1e6:.2f} MB; {pairs} pairs compared in {collected - start:.1f} s, "
        f"written in {rendered - collected:.2f} s, drawn in "
        + ("(no browser)" if seconds is None else f"{seconds:.2f} s")
    )


if __name__ == "__main__":
    main()

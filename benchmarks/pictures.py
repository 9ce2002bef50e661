"""The pictures of docs/results name what they show: each has the hash of its figures in it, and a test compares.

    python -m benchmarks.pictures     # the page of docs/results and the picture of it that the README shows

The picture of the page needs playwright and a Chromium. The ablations of DDI are drawn again from their tables, too.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render
from blurb.extensions.reports.plots import ablation
from blurb.extensions.reports.plots._style import FIGURES, digest
from blurb.planning import ablations
from blurb.planning.ablations import Grid
from blurb.system.files import write_whole

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PAGE, PICTURE = RESULTS / "leaderboard.html", RESULTS / "leaderboard.png"
TWO_SEEDS = sorted((RESULTS / "ablations" / "ddi").glob("*.csv"))
SIZE = {"width": 1280, "height": 1180}


def stamp(figures: Any) -> dict[str, str | None]:
    """The metadata of a PNG that shows these figures."""
    return {"Software": None, FIGURES[".png"]: digest(figures)}


def stamped(path: Path) -> str | None:
    """The hash in a PNG; None without one."""
    from PIL import Image

    with Image.open(path) as picture:
        found: str | None = picture.info.get(FIGURES[".png"])
        return found


def page() -> str:
    """The page of the tables in docs/results."""
    # The table of the baselines has the rows of `quick` and `probe`, too.
    tables = [
        RESULTS / name / "results.csv"
        for name in ("mpnet", "baselines", "minilm/sketch", "minilm/standard")
    ]
    return render(collect(RESULTS / "no-store", tables, RESULTS / "ablations"))


def photograph(path: Path, out: Path, size: Mapping[str, int] = SIZE) -> None:
    """The top of a page as a PNG of 256 colours, stamped with the hash of the page."""
    from PIL import Image, PngImagePlugin
    from playwright.sync_api import sync_playwright

    from benchmarks.page import browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        tab = chromium.new_page(viewport=dict(size), color_scheme="light")
        tab.goto(path.as_uri())
        shot = tab.screenshot()
        chromium.close()
    info = PngImagePlugin.PngInfo()
    info.add_text(FIGURES[".png"], digest(path.read_text(encoding="utf-8")))
    content = io.BytesIO()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256).save(
        content, "png", optimize=True, pnginfo=info
    )
    write_whole(out, content.getvalue())


def of_two_seeds(table: Path) -> tuple[Grid, list[dict[str, list[float]]], list[str], str]:
    """What `blurb ablate` drew of a table with two seeds a cell: their mean and deviation say what both were."""
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    grid, names = (
        ablations.grid(lines[0]["axis"]),
        list(dict.fromkeys(line["task"] for line in lines)),
    )
    scores: list[dict[str, list[float]]] = [{} for _ in grid.cells]
    for line in lines:
        if line["seeds"] != "2":
            raise ValueError(f"{table}: {line['cell']} has {line['seeds']} seeds")
        mean, off = float(line["mean"]), float(line["sd"]) / math.sqrt(2)
        scores[[cell.text for cell in grid.cells].index(line["cell"])][line["task"]] = [
            mean - off,
            mean + off,
        ]
    shared = set.intersection(
        *({*line["overrides"].split()} - {*line["cell"].split()} for line in lines)
    )
    return (
        grid,
        scores,
        names,
        ", ".join((lines[0]["model"], f"protocol {lines[0]['protocol']}", *sorted(shared))),
    )


def main() -> None:
    for table in TWO_SEEDS:
        grid, scores, names, title = of_two_seeds(table)
        ablation.write(grid, scores, names, title, table.with_suffix(".png"))
    write_whole(PAGE, page().encode())
    photograph(PAGE, PICTURE)


if __name__ == "__main__":
    main()

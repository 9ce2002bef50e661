"""The picture of a board in docs/extensions/board.md: three synthetic rows, one with figures that nobody can recompute.

python -m benchmarks.board_picture     # needs playwright and a Chromium
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import blurb
from benchmarks.pictures import photograph
from blurb import formulations, tasks
from blurb.corpora import demo
from blurb.data.loading import read_split
from blurb.extensions.board import boards
from blurb.extensions.board.listing import BoardFolder
from blurb.extensions.reports.html.collect import collect
from blurb.extensions.reports.html.render import render
from blurb.results import from_store
from blurb.row_files import writing as row_files
from blurb.store.store import Store

PICTURE = Path(__file__).parents[1] / "docs" / "_static" / "board.png"
DATE, SUITE = "2026-11-24", "demo"
ROWS = {"tagger-large": 0.1, "tagger-small": 0.3, "tagger-claimed": 0.5}
"""Name of a row -> the part of its answers that another example gets."""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        boards.found_board(folder / "board", "A board", SUITE)
        for row, share in ROWS.items():
            for task in tasks.all():
                units = read_split(task, demo.prepare(), "test")
                for seed in (1, 2, 3):
                    answers = _answers(task, units, share, seed)
                    blurb.score(
                        task.name, answers, suite=SUITE, add=row, seed=seed, output=folder / "runs"
                    )
        for stored in from_store.read(Store(folder / "runs")):
            _submit(
                folder, row_files.files(stored, f"Group of {stored.model}", "first"), stored.model
            )
        checked = boards.verify_board(folder / "board", demo.prepare())
        boards.record(folder / "board", checked, "The board", DATE)
        page = folder / "page.html"
        page.write_text(
            render(collect(folder / "none", title="A board", listed=BoardFolder(folder / "board"))),
            "utf-8",
        )
        photograph(page, PICTURE, {"width": 1280, "height": 575})


def _answers(task: tasks.Task, units: list[Any], share: float, seed: int) -> list[Any]:
    chance = random.Random(f"{share} {seed} {task.name}")
    words = task.type in ("ner", "pico")
    formulation = formulations.bind(task)
    gold = [formulation.gold(unit) for unit in units]
    wrong = [["O"] * len(each) for each in gold] if words else chance.sample(gold, len(gold))
    return [
        other if chance.random() < share else right
        for right, other in zip(gold, wrong, strict=True)
    ]


def _submit(folder: Path, files: Mapping[str, bytes], model: str) -> None:
    contents = dict(files)
    if model.endswith("claimed"):
        about = json.loads(contents[row_files.ABOUT])
        for run in about["runs"]:
            run["test"][run["metric"]] = 0.9 + run["seed"] / 100
        contents[row_files.ABOUT] = row_files.row_json_bytes(about)
        hashes = {
            name: hashlib.sha256(each).hexdigest()
            for name, each in contents.items()
            if name != row_files.MANIFEST
        }
        contents[row_files.MANIFEST] = row_files.manifest_bytes(hashes)
    row = folder / model
    row.mkdir()
    for name, content in contents.items():
        (row / name).write_bytes(content)
    boards.submit(folder / "board", row, model, f"Group of {model}", DATE)


if __name__ == "__main__":
    main()

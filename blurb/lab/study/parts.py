"""The parts of a study on disk: for each pretraining its rows as files, by protocol, and how far it came; no weights.

    parts/<variant>-<seed>/pretraining.json
    parts/<variant>-<seed>/<protocol>/row.json, MANIFEST.json, <dataset>.parquet

They are small and have no text, so they can be committed; a study goes on from them alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blurb.board.listing import scores
from blurb.board.reading import read
from blurb.export.row_files import ABOUT
from blurb.lab.pretraining.pretrain import ABOUT as PRETRAINING
from blurb.lab.study.spec import Study, Variant
from blurb.lab.study.units import variant_row
from blurb.messages.errors import DataError
from blurb.results.row_scores import RowScores
from blurb.system.files import read_json

PARTS = "parts"


def place(out: Path, variant: Variant, seed: int) -> Path:
    """The folder of a pretraining."""
    return out / PARTS / f"{variant.name}-{seed}"


def floor_place(out: Path, study: Study, floor: str) -> Path:
    """The folder of the row of a baseline."""
    return out / PARTS / floor.replace(":", "-") / study.protocols[0]


def floors(out: Path, study: Study) -> dict[str, RowScores]:
    """Baseline -> its row, of those that are there."""
    places = {floor: floor_place(out, study, floor) for floor in study.floors}
    return {floor: scores(read(place)) for floor, place in places.items() if (place / ABOUT).is_file()}


def is_done(out: Path, study: Study, variant: Variant, seed: int) -> bool:
    """Whether a pretraining has been scored by every protocol.

    :raises DataError: if the part is of another recipe or text than the study has now
    """
    folder = place(out, variant, seed)
    if not (folder / PRETRAINING).is_file():
        return False
    recipe = read_json(folder / PRETRAINING).get("recipe", {})
    wanted = variant.run(seed)
    differs = [name for name, value in recipe.items() if getattr(wanted, name, value) != value]
    if differs:
        raise DataError(f"was made with another {differs[0]}.", folder, fix="move it away, or mend the study.")
    return all((folder / protocol / ABOUT).is_file() for protocol in study.protocols)


def rows(out: Path, study: Study, protocol: str) -> dict[str, RowScores]:
    """Variant -> its row, whose runs are the pretrainings that are there."""
    there: dict[str, RowScores] = {}
    for variant in study.variants:
        own = {
            seed: scores(read(place(out, variant, seed) / protocol))
            for seed in range(1, study.runs + 1)
            if (place(out, variant, seed) / protocol / ABOUT).is_file()
        }
        if own:
            there[variant.name] = variant_row(variant.name, own)
    return there


def facts(out: Path, study: Study) -> Mapping[str, list[Mapping[str, Any]]]:
    """Variant -> what is known of each of its pretrainings (`pretraining.json`)."""
    return {
        variant.name: [
            read_json(file)
            for seed in range(1, study.runs + 1)
            if (file := place(out, variant, seed) / PRETRAINING).is_file()
        ]
        for variant in study.variants
    }
